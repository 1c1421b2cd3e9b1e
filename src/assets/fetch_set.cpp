#include "fetch_set.hpp"

#include "fetch_one.hpp"
#include "fetch_tools.hpp"
#include "origins.hpp"

#include <sabath/assets/fetch_results.hpp>
#include <sabath/base/process/process.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <utility>

namespace sabath::assets {
namespace {

using base::Digest;
using base::Error;
using base::ErrorKind;
using Files = std::vector<spec::AssetFile>;

/// Up to this number, files of a document are fetched one by one, each with its own progress.
constexpr std::size_t few_files = 32;

/// Returns the key of exactly these files with their bytes, as far as these are known.
std::string set_key(const Files& files) {
  base::Hasher hasher(base::DigestAlgorithm::sha256);
  for (const spec::AssetFile& file : files) {
    std::string line = base::quote_command({file.path});
    if (const auto digest = sha256_among(file.digests)) {
      line += " " + digest->hex;
    } else {
      for (const Digest& other : file.digests)
        line += " " + other.text();
      line += " " + (file.sources.empty() ? std::string() : file.sources.front());
    }
    hasher.update(line + "\n");
  }
  return "files:" + hasher.finish().hex;
}

/// Larger files of a set are objects, which can be resumed.
constexpr std::uint64_t large_bytes = 8U << 20U;

/// A file of a set without a declared size. It is written into its tree, and becomes an object when
/// its source announces a large size. Without an announcement it stays in its tree.
class UnsizedFile final : public base::PartialFile {
 public:
  using OpenObject = std::function<std::unique_ptr<cache::PartialObject>()>;

  /// `small` outlives it; `open` is called once at most.
  UnsizedFile(base::PartialFile& small, OpenObject open) : small_(small), open_(std::move(open)) {}

  /// Returns the object that it has become; null where it is small.
  std::unique_ptr<cache::PartialObject> take_object() { return std::move(object_); }

  void reserve(std::uint64_t size_bytes) override {
    if (!object_ && size_bytes > large_bytes && small_.present_bytes() == 0) {
      auto object = open_();
      // Another process may have left a part of it meanwhile, but the writer asked for the whole.
      if (object->present_bytes() > 0) object->restart();
      for (const base::ByteSource& source : small_.sources())
        object->number_of(source);
      object_ = std::move(object);
    }
    file().reserve(size_bytes);
  }
  std::uint64_t piece_bytes() const override { return file().piece_bytes(); }
  unsigned number_of(const base::ByteSource& source) override { return file().number_of(source); }
  const std::vector<base::ByteSource>& sources() const override { return file().sources(); }
  void write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source) override {
    file().write_at(offset_bytes, bytes, source);
  }
  std::uint64_t contiguous_bytes() const override { return file().contiguous_bytes(); }
  std::uint64_t present_bytes() const override { return file().present_bytes(); }
  std::vector<base::SourcedRange> present() const override { return file().present(); }
  void drop(base::ByteRange range) override { file().drop(range); }
  void restart() override { file().restart(); }
  base::DigestMatch matches() override { return file().matches(); }
  std::vector<base::Digest> digests() override { return file().digests(); }
  std::filesystem::path lend(std::string_view borrower) override { return file().lend(borrower); }

 private:
  base::PartialFile& file() const { return object_ ? *object_ : small_; }

  base::PartialFile& small_;
  OpenObject open_;
  std::unique_ptr<cache::PartialObject> object_{};
};

bool is_large(const spec::AssetFile& file) {
  return file.size_bytes.value_or(0) > large_bytes;
}

/// Returns the version that an HTTP source announced; empty for other sources.
fetch::KnownVersion version_of(const spec::AssetFile& file, const fetch::Outcome& outcome) {
  if (!outcome.url.starts_with("http")) return {};
  const auto asked = std::ranges::find(file.sources, outcome.url);
  if (asked != file.sources.end()) return {*asked, outcome.etag, outcome.last_modified};
  // A URL comes back without its user and password.
  if (file.sources.size() != 1) return {};
  return {file.sources.front(), outcome.etag, outcome.last_modified};
}

/// Says whether the size agrees with the document.
bool may_be(const spec::AssetFile& file, const std::filesystem::path& path) {
  std::error_code code;
  return !file.size_bytes || std::filesystem::file_size(path, code) == *file.size_bytes;
}

/// Copies `from`. Returns false where it is unreadable.
bool copy_into(base::PartialFile& to, const std::filesystem::path& from) {
  std::error_code code;
  const auto size = std::filesystem::file_size(from, code);
  if (code || size > large_bytes) {
    return !code && std::filesystem::copy_file(from, to.lend("copy"), code);
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::ifstream stream(from, std::ios::binary);
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(size))) return false;
  to.write_at(0, base::as_bytes(bytes));
  return true;
}

/// The files of a set that are fetched into its tree.
class SetFiles final : public fetch::FileList {
 public:
  SetFiles(const Files& files,
           const Origins& before,
           cache::PartialTree& tree,
           FetchResults& results,
           const FetchTools& tools)
      : files_(files), before_(before), tree_(tree), results_(results), tools_(tools) {}

  /// Adds present files; the others will be fetched.
  void take_what_is_here() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      try {
        if (!take(i)) missing_.push_back({i, expected(files_[i])});
      } catch (const Error& error) {
        results_.fail(error);
      }
    }
    if (tools_.options.refresh) {
      look_for_versions();
    } else {
      take_from_trees();
    }
    std::erase_if(missing_, [&](const Missing& missing) {
      try {
        check_may_fetch(files_[missing.file], tools_);
        return false;
      } catch (const Error& error) {
        results_.fail(error);
        return true;
      }
    });
  }

  /// Continues with files that are unchanged at the source but damaged here. Returns false where
  /// there are none.
  bool continue_with_damaged() {
    missing_ = std::exchange(damaged_, {});
    return !missing_.empty();
  }

  /// Throws Error{storage} where the missing files need more room.
  void check_space() const {
    std::uint64_t bytes = 0;
    for (const Missing& missing : missing_) {
      const spec::AssetFile& file = files_[missing.file];
      const std::uint64_t size = file.size_bytes.value_or(0);
      const std::uint64_t there =
          is_large(file) ? tools_.cache.partial_bytes(partial_key(file)) : 0;
      bytes += size - std::min(size, there);
    }
    tools_.cache.check_space(bytes, missing_.size());
  }

  std::size_t size() const override { return missing_.size(); }

  fetch::Request request(std::size_t index) override {
    const spec::AssetFile& file = file_of(index);
    fetch::Request request;
    request.urls = file.sources;
    request.size_bytes = file.size_bytes;
    request.digests = missing_[index].expected;
    request.label = file.path;
    request.here = missing_[index].here.versions;
    return request;
  }

  base::PartialFile& open(std::size_t index) override {
    const spec::AssetFile& file = file_of(index);
    const bool was_begun = !file.size_bytes && tools_.cache.partial_bytes(partial_key(file)) > 0;
    if (is_large(file) || was_begun) return *(objects_[index] = open_object(index));
    base::PartialFile& small = tree_.open(file.path, missing_[index].expected);
    if (file.size_bytes) return small;
    auto& unsized = unsized_[index];
    unsized = std::make_unique<UnsizedFile>(small, [this, index] { return open_object(index); });
    return *unsized;
  }

  void done(std::size_t index, const fetch::Outcome& outcome) override {
    const spec::AssetFile& file = file_of(index);
    auto object = take_object(index);
    try {
      if (outcome.unchanged) {
        take_unchanged(index, outcome);
        return;
      }
      if (!outcome.ok) {
        if (!object) tree_.abandon(file.path);
        throw_outcome(outcome, file.path);
      }
      if (!object) {
        put(missing_[index].file, tree_.finish_soon(file.path, outcome.url), &outcome);
        return;
      }
      FetchedFile& result = results_.files[missing_[index].file];
      result = publish_fetched(file, std::move(object), outcome, tools_);
      tree_.add(file.path, result.object);
    } catch (const Error& error) {
      results_.fail(error);
    }
  }

 private:
  struct Missing {
    std::size_t file = 0;
    std::vector<Digest> expected{};
    KnownFile here{};  ///< for a refresh: versions to ask the sources for
    std::filesystem::path at{};
  };

  std::vector<Digest> expected(const spec::AssetFile& file) const {
    const auto known = tools_.options.refresh || sha256_among(file.digests)
                           ? std::nullopt
                           : before_.digest_of(file);
    if (!known) return expected_digests(file, tools_);
    std::vector<Digest> digests = file.digests;
    digests.push_back(*known);
    return digests;
  }

  /// Takes a file of an earlier attempt, or an object. A refresh takes no file of an earlier
  /// attempt, because its age is unknown.
  bool take(std::size_t i) {
    const spec::AssetFile& file = files_[i];
    if (tools_.options.refresh) tree_.abandon(file.path);
    if (const auto finished = tree_.finished(file.path)) {
      put(i, *finished, nullptr);
      return true;
    }
    auto object = find_unchanged(file, tools_);
    if (!object) return false;
    tree_.add(file.path, object->object);
    results_.files[i] = *std::move(object);
    return true;
  }

  void take_from_trees() {
    std::set<Digest> wanted;
    for (const Missing& missing : missing_) {
      if (const auto digest = sha256_among(missing.expected)) wanted.insert(*digest);
    }
    const auto found = tools_.cache.files_in_trees(wanted);
    if (found.empty()) return;
    std::erase_if(missing_, [&](const Missing& missing) {
      const auto digest = sha256_among(missing.expected);
      const auto path = digest ? found.find(*digest) : found.end();
      return path != found.end() && copy(missing, path->second);
    });
  }

  void look_for_versions() {
    std::set<Digest> wanted;
    for (Missing& missing : missing_) {
      if (auto known = before_.known(files_[missing.file])) missing.here = *std::move(known);
      if (!missing.here.versions.empty()) wanted.insert(missing.here.digest);
    }
    const auto found = tools_.cache.files_in_trees(wanted);
    for (Missing& missing : missing_) {
      const auto path = found.find(missing.here.digest);
      if (path != found.end() && may_be(files_[missing.file], path->second)) {
        missing.at = path->second;
      } else {
        missing.here = {};
      }
    }
  }

  void take_unchanged(std::size_t index, const fetch::Outcome& outcome) {
    Missing same = missing_[index];
    tree_.abandon(files_[same.file].path);
    same.expected.push_back(same.here.digest);
    if (copy(same, same.at)) {
      results_.files[same.file].transferred = outcome.transferred;
    } else {
      damaged_.push_back({same.file, missing_[index].expected});
    }
  }

  /// Returns false where the file has changed; then it is fetched.
  bool copy(const Missing& missing, const std::filesystem::path& from) {
    const std::string& path = files_[missing.file].path;
    if (!copy_into(tree_.open(path, missing.expected), from)) {
      tree_.abandon(path);
      return false;
    }
    try {
      put(missing.file, tree_.finish(path), nullptr);
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::integrity) throw;
      return false;
    }
  }

  void put(std::size_t i, const cache::FinishedFile& file, const fetch::Outcome* outcome) {
    FetchedFile& result = results_.files[i];
    result.path = files_[i].path;
    result.object.digest = file.digest;
    result.object.size_bytes = file.size_bytes;
    result.verified = files_[i].digests;
    result.was_there = outcome == nullptr;
    if (outcome == nullptr) return;
    result.source = outcome->url.substr(0, outcome->url.find_first_of("?#"));
    result.transferred = outcome->transferred;
    result.version = version_of(files_[i], *outcome);
  }

  std::unique_ptr<cache::PartialObject> open_object(std::size_t index) const {
    return tools_.cache.open_partial(partial_key(file_of(index)), missing_[index].expected);
  }

  /// Returns the file's object, where it is one, and closes it here.
  std::unique_ptr<cache::PartialObject> take_object(std::size_t index) {
    if (auto known = objects_.extract(index)) return std::move(known.mapped());
    const auto unsized = unsized_.extract(index);
    auto object = unsized ? unsized.mapped()->take_object() : nullptr;
    if (object) tree_.abandon(file_of(index).path);
    return object;
  }

  const spec::AssetFile& file_of(std::size_t index) const { return files_[missing_[index].file]; }

  const Files& files_;
  const Origins& before_;
  cache::PartialTree& tree_;
  FetchResults& results_;
  const FetchTools& tools_;
  std::vector<Missing> missing_{};
  std::vector<Missing> damaged_{};
  std::map<std::size_t, std::unique_ptr<cache::PartialObject>> objects_{};
  std::map<std::size_t, std::unique_ptr<UnsizedFile>> unsized_{};
};

/// Fills in the results of a present tree.
void fill_results(const Files& files,
                  const cache::Tree& tree,
                  FetchResults& results,
                  const FetchTools& tools) {
  std::map<std::string, base::ArchiveEntry> entries;
  for (base::ArchiveEntry& entry : tools.cache.entries(tree))
    entries.emplace(entry.path, std::move(entry));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const base::ArchiveEntry& entry = entries.at(files[i].path);
    FetchedFile& result = results.files[i];
    result.path = entry.path;
    result.object.digest = entry.digest;
    result.object.size_bytes = entry.size_bytes;
    result.verified = files[i].digests;
    result.was_there = true;
  }
}

cache::Tree make_set(const std::string& name,
                     const std::string& key,
                     const Files& files,
                     FetchResults& results,
                     const FetchTools& tools) {
  const Origins before = Origins::of(name, tools);
  auto partial = tools.cache.open_partial_tree(tools.options.refresh ? "refresh " + key : key);
  SetFiles list(files, before, *partial, results, tools);
  list.take_what_is_here();
  if (list.size() > 0) list.check_space();
  for (bool is_needed = list.size() > 0; is_needed; is_needed = list.continue_with_damaged()) {
    fetch::fetch_files(
        list, name, tools.fetchers, tools.options.retries, tools.clock, tools.observer, tools.stop);
  }
  results.check(name);
  cache::Tree tree = tools.cache.publish(std::move(partial));
  tools.remember({.kind = cache::SourceRecord::Kind::files,
                  .url = key,
                  .digest = tree.digest,
                  .size_bytes = tree.size_bytes});
  before.report_changes(files, results.files, tools);
  return tree;
}

}  // namespace

bool is_set(const spec::Asset& asset, const FetchOptions& options) {
  if (!options.local.empty()) return false;
  if (asset.files.empty()) return true;
  return asset.files.size() > few_files &&
         std::ranges::all_of(asset.files,
                             [](const spec::AssetFile& file) { return file.unpack.empty(); });
}

std::optional<cache::Tree> known_set(const Files& files, const FetchTools& tools) {
  if (tools.options.refresh) return {};
  const auto record = tools.cache.source(set_key(files));
  return record ? tools.cache.find_tree(record->digest) : std::nullopt;
}

FetchedAsset fetch_set(const std::string& name, const Files& files, const FetchTools& tools) {
  FetchResults results(files.size());
  std::optional<cache::Tree> tree;
  bool was_made = false;
  const std::string key = set_key(files);
  cache::Flight flight;
  flight.task = name;
  flight.is_there = [&] {
    if (!tree) tree = known_set(files, tools);
    return tree.has_value();
  };
  flight.work = [&](base::Observer& observer) {
    tree = make_set(name, key, files, results, tools.with(observer));
    was_made = true;
  };
  if (!flight.is_there()) tools.cache.single_flight(key, flight, tools.observer, tools.stop);
  if (!was_made) fill_results(files, *tree, results, tools);
  const auto noted = origins_object(name, tools);
  if (was_made || !noted || !tools.cache.find(*noted)) {
    remember_origins(name, files, results.files, tools);
  }
  FetchedAsset fetched;
  fetched.name = name;
  fetched.digest = tree->digest;
  fetched.path = tree->path;
  fetched.files = std::move(results.files);
  for (FetchedFile& file : fetched.files)
    if (!file.linked) file.object.path = tree->path / file.path;
  fetched.holdings = {tree->digest};
  if (const auto origins = origins_object(name, tools)) fetched.holdings.push_back(*origins);
  return fetched;
}

}  // namespace sabath::assets
