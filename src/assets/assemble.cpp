#include "assemble.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>

#include <algorithm>
#include <map>

namespace sabath::assets {
namespace {

/// How often its own size a file may become where its document does not say how large.
constexpr std::uint64_t usual_growth = 100;

base::ArchiveLimits limits_of(const spec::AssetFile& file) {
  base::ArchiveLimits limits;
  limits.hint =
      "if that is right, set \"unpacked_size\": BYTES for this file in the asset's document";
  limits.ratio = usual_growth;
  if (file.unpacked_bytes) {
    limits.total_bytes = *file.unpacked_bytes;
    limits.ratio_floor_bytes = *file.unpacked_bytes;
  }
  return limits;
}

/// The one file that a compressed one holds, unpacked once.
cache::Object unpacked_object(const cache::Object& packed,
                              const spec::AssetFile& file,
                              const FetchTools& tools) {
  const std::string key = "unpacked:" + file.unpack + ":" + packed.digest.text();
  if (const auto record = tools.cache.source(key)) {
    if (auto object = tools.cache.find(record->digest)) return *std::move(object);
  }
  tools.observer.note("unpacking " + file.path);
  auto staging = tools.cache.stage(key);
  std::uint64_t offset = 0;
  base::decompress_file(
      packed.path,
      file.unpack,
      [&](base::ByteView bytes) {
        staging->write_at(offset, bytes);
        offset += bytes.size();
      },
      limits_of(file),
      tools.observer,
      tools.stop);
  cache::Object object = tools.cache.publish(std::move(staging), {});
  cache::SourceRecord record;
  record.kind = cache::SourceRecord::Kind::unpacked;
  record.url = key;
  record.digest = object.digest;
  record.size_bytes = object.size_bytes;
  record.fetched = base::format_rfc3339(tools.clock.now());
  tools.cache.remember_source(record);
  return object;
}

}  // namespace

void assemble(const std::vector<spec::AssetFile>& files,
              FetchedAsset& fetched,
              const FetchTools& tools) {
  std::map<std::string, cache::Object> plain;
  std::vector<cache::PackedPart> packed;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const cache::Object& object = fetched.files[i].object;
    if (!fetched.files[i].linked) fetched.holdings.push_back(object.digest);
    const std::string path = spec::unpacked_path(files[i]);
    if (spec::is_archive(files[i])) {
      packed.push_back({object, files[i].unpack, path, limits_of(files[i])});
    } else if (!files[i].unpack.empty()) {
      plain.emplace(path, unpacked_object(object, files[i], tools));
      fetched.holdings.push_back(plain.at(path).digest);
    } else {
      plain.emplace(path, object);
    }
  }
  const cache::Tree tree =
      packed.empty() ? tools.cache.publish_tree(plain)
                     : tools.cache.publish_archives(packed, plain, tools.observer, tools.stop);
  fetched.digest = tree.digest;
  fetched.path = tree.path;
  fetched.holdings.push_back(tree.digest);
}

}  // namespace sabath::assets
