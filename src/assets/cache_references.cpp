#include "fetch_set.hpp"
#include "known_content.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/assets/linked_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/fetch/displayed_url.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_trash.hpp>

#include <algorithm>
#include <string_view>

namespace sabath::assets {
namespace {

namespace fs = std::filesystem;
using base::Digest;
using base::Error;
using base::ErrorKind;

constexpr std::size_t digest_digits = 64;
constexpr std::size_t fewest_digits = 8;
constexpr std::string_view hex_digits = "0123456789abcdef";

/// Returns every SHA-256 in a text.
std::set<Digest> digests_in(std::string_view text) {
  std::set<Digest> digests;
  while (true) {
    const std::size_t begin = text.find_first_of(hex_digits);
    if (begin == std::string_view::npos) return digests;
    text.remove_prefix(begin);
    const std::size_t length = std::min(text.find_first_not_of(hex_digits), text.size());
    if (length == digest_digits) {
      digests.insert({base::DigestAlgorithm::sha256, std::string(text.substr(0, length))});
    }
    text.remove_prefix(length);
  }
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    paths.push_back(it->path());
  const bool is_absent =
      code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory;
  // A link to a disk that is away is not an empty folder.
  std::error_code none;
  if (code && (!is_absent || fs::is_symlink(folder, none)))
    base::throw_errno(folder.string(), "cannot read", code.value());
  std::ranges::sort(paths);
  return paths;
}

/// Returns all parts of the asset, and the trees that others made of its files.
std::vector<Digest> digests_of(const spec::Asset& asset,
                               const cache::Cache& cache,
                               const cache::Inventory& inventory) {
  std::set<Digest> found;
  std::set<Digest> files;
  bool all_known = true;
  for (const AssetPart& part : parts_of(asset, cache)) {
    if (part.digest) found.insert(*part.digest);
    if (part.digest && !part.path.empty()) files.insert(*part.digest);
    all_known = all_known && part.digest;
  }
  for (const cache::Stored& stored : inventory.stored) {
    if (stored.kind == cache::Stored::Kind::object) continue;
    const std::set<Digest> objects(stored.objects.begin(), stored.objects.end());
    const bool is_of_it = stored.unpacked_from ? files.contains(*stored.unpacked_from)
                                               : all_known && !files.empty() && objects == files;
    if (is_of_it) found.insert(stored.digest);
  }
  return {found.begin(), found.end()};
}

/// Says whether any of it is present, damaged or not.
bool is_any_there(const std::vector<Digest>& digests, const cache::Inventory& inventory) {
  return std::ranges::any_of(digests, [&](const Digest& digest) {
    const auto is_it = [&](const cache::Stored& stored) { return stored.digest == digest; };
    const auto was_it = [&](const cache::Place& place) {
      return place.kind == "damaged" && place.name.starts_with(digest.hex);
    };
    return std::ranges::any_of(inventory.stored, is_it) ||
           std::ranges::any_of(inventory.places, was_it);
  });
}

std::vector<Digest> digests_of_url(const std::string& url, const cache::Cache& cache) {
  std::vector<Digest> found;
  if (const auto record = cache.asset(url)) found = record->digests;
  const auto known = cache.source(url);
  if (known && std::ranges::find(found, known->digest) == found.end())
    found.push_back(known->digest);
  return found;
}

std::vector<Digest> beginning_with(const std::string& digits, const cache::Inventory& inventory) {
  std::set<Digest> found;
  for (const cache::Stored& stored : inventory.stored) {
    if (stored.digest.hex.starts_with(digits)) found.insert(stored.digest);
  }
  if (found.size() > 1) {
    throw Error(
        ErrorKind::usage,
        digits + ": the digest is ambiguous: " + std::to_string(found.size()) + " objects have it",
        "give more of the digest");
  }
  return {found.begin(), found.end()};
}

}  // namespace

bool is_url(const std::string& name) {
  return name.find(':') != std::string::npos && !base::parse_digest(name) &&
         !name.starts_with("sha256:");
}

std::vector<AssetPart> parts_of(const spec::Asset& asset, const cache::Cache& cache) {
  std::vector<AssetPart> parts;
  std::set<Digest> listed;
  if (!is_set(asset, {})) {
    for (const spec::AssetFile& file : asset.files) {
      parts.push_back({file.path, known_digest(file, cache), link_of(file, cache)});
      if (!parts.back().digest && parts.back().link)
        parts.back().digest = parts.back().link->digest;
      if (parts.back().digest) listed.insert(*parts.back().digest);
    }
  }
  const auto record = cache.asset(asset.name);
  if (!record && parts.empty()) return {AssetPart{}};
  if (!record) return parts;
  for (const Digest& digest : record->digests) {
    if (!listed.contains(digest)) parts.push_back({{}, digest, {}});
  }
  return parts;
}

std::map<Digest, std::vector<std::string>> digests_of_runs(const home::Folders& folders) {
  std::map<Digest, std::vector<std::string>> named;
  std::vector<fs::path> directories;
  for (const fs::path& folder : home::folders_of_runs(folders)) {
    const std::vector<fs::path> found = entries_of(folder);
    directories.insert(directories.end(), found.begin(), found.end());
  }
  for (const fs::path& directory : directories) {
    if (!spec::is_run_id(directory.filename().string())) continue;
    const home::RunFiles files(directory);
    std::set<Digest> digests;
    for (const fs::path& path : {files.plan(), files.record_file().value_or(files.record())}) {
      if (const auto text = base::read_file_if_exists(path)) digests.merge(digests_in(*text));
    }
    for (const Digest& digest : digests)
      named[digest].push_back(directory.filename().string());
  }
  return named;
}

std::set<Digest> digests_of_environments(const fs::path& environments) {
  std::set<Digest> digests;
  for (const fs::path& kind : entries_of(environments)) {
    for (const fs::path& key : entries_of(kind)) {
      for (const fs::path& attempt : entries_of(key)) {
        const auto text = base::read_file_if_exists(attempt / "record.json");
        if (text) digests.merge(digests_in(*text));
      }
    }
  }
  return digests;
}

std::map<std::string, std::vector<Digest>> digests_of_assets(const home::Documents& documents,
                                                             const cache::Cache& cache,
                                                             const cache::Inventory& inventory) {
  std::map<std::string, std::vector<Digest>> named;
  std::vector<home::BadDocument> bad;
  for (const home::AssetDocument& document : documents.assets(bad)) {
    auto digests = digests_of(document.asset, cache, inventory);
    if (!digests.empty()) named.emplace(document.asset.name, std::move(digests));
  }
  return named;
}

std::set<Digest> digests_in_use(const home::Folders& folders,
                                const home::Documents& documents,
                                const cache::Cache& cache,
                                const cache::Inventory& inventory) {
  std::set<Digest> used = digests_of_environments(folders.environments());
  for (const auto& [digest, runs] : digests_of_runs(folders))
    used.insert(digest);
  for (const auto& [name, digests] : digests_of_assets(documents, cache, inventory)) {
    if (std::ranges::any_of(digests, [&](const Digest& one) { return used.contains(one); }))
      used.insert(digests.begin(), digests.end());
  }
  return used;
}

std::string displayed_name(const std::string& name) {
  return name.find("://") == std::string::npos ? name : fetch::displayed_url(name);
}

std::vector<Digest> digests_called(const std::string& name,
                                   const home::Documents& documents,
                                   const cache::Cache& cache,
                                   const cache::Inventory& inventory) {
  std::vector<Digest> found;
  if (is_url(name)) {
    found = digests_of_url(name, cache);
  } else {
    std::string digits = name.starts_with("sha256:") ? name.substr(7) : name;
    std::ranges::transform(digits, digits.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    });
    const bool may_be_digest =
        digits.size() >= fewest_digits && digits.find_first_not_of(hex_digits) == std::string::npos;
    if (may_be_digest) found = beginning_with(digits, inventory);
    // A name may look like the first digits of a digest.
    if (found.empty() && (!may_be_digest || digits.size() < digest_digits)) {
      found = digests_of(documents.asset(name), cache, inventory);
    }
  }
  if (is_any_there(found, inventory)) return found;
  throw Error(ErrorKind::not_found,
              base::printable(displayed_name(name)) + ": nothing of it is in the cache",
              "'sabath cache ls' shows what is; 'sabath fetch' brings it");
}

}  // namespace sabath::assets
