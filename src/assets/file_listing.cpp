#include "file_listing.hpp"

#include "fetch_one.hpp"
#include "fetch_tools.hpp"
#include "list_text.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/fetch/displayed_url.hpp>

#include <algorithm>
#include <array>

namespace sabath::assets {
namespace {

using base::Error;
using base::ErrorKind;
using Files = std::vector<spec::AssetFile>;

constexpr std::uint64_t list_limit_bytes = std::uint64_t{1} << 30U;

/// Throws Error{integrity} for a URL that a list from elsewhere must not name: a file of this
/// machine, or a scheme with the user's login or tools. A list may name its own scheme.
void check_may_name(const std::string& list, const std::string& url) {
  constexpr std::array<std::string_view, 4> open_to_all{"https", "http", "ftp", "s3"};
  const std::string from = list.substr(0, list.find(':'));
  const std::string scheme = url.substr(0, url.find(':'));
  if (from == "file" || scheme == from) return;
  if (std::ranges::find(open_to_all, scheme) != open_to_all.end()) return;
  throw Error(ErrorKind::integrity,
              fetch::displayed_url(list) + ": names '" +
                  base::printable(fetch::displayed_url(url)) +
                  "', which a list from elsewhere may not",
              "name the files in a document of your own");
}

std::optional<std::uint64_t> limit_of(const spec::Asset& asset, const FetchTools& tools) {
  if (!asset.limit) return tools.options.limit;
  return std::min(*asset.limit, tools.options.limit.value_or(*asset.limit));
}

std::string listing_key(const std::string& url, std::optional<std::uint64_t> limit) {
  return "listing:" + url + (limit ? " " + std::to_string(*limit) : "");
}

/// Keeps a list as object, so that the fetcher is not asked again.
void remember_listing(const std::string& key, const Files& files, const FetchTools& tools) {
  const std::string text = listing_text(files);
  try {
    parse_listing(text, key);
  } catch (const Error&) {
    return;  // our documents cannot hold these names: asks again next time
  }
  tools.remember_text(cache::SourceRecord::Kind::listing, key, text);
}

std::optional<Files> known_listing(const std::string& key, const FetchTools& tools) {
  const auto record = tools.cache.source(key);
  const auto object = record ? tools.cache.find(record->digest) : std::nullopt;
  if (!object) return std::nullopt;
  return parse_listing(base::read_file(object->path, list_limit_bytes), key);
}

Files listed_by(fetch::Fetcher& fetcher,
                const std::string& url,
                std::optional<std::uint64_t> limit,
                const FetchTools& tools) {
  const std::string key = listing_key(url, limit);
  if (!tools.options.refresh || tools.options.offline) {
    if (auto known = known_listing(key, tools)) return *std::move(known);
  }
  if (tools.options.offline) {
    throw Error(ErrorKind::not_found,
                fetch::displayed_url(url) +
                    ": its list of files is not in the cache, and --offline forbids to ask for it",
                "fetch it without --offline");
  }
  Files files;
  for (const fetch::ListedFile& file : fetcher.list(url, limit, tools.observer, tools.stop)) {
    if (!base::is_safe_relative_path(file.path) || !base::is_utf8_without_controls(file.path)) {
      throw Error(ErrorKind::integrity,
                  fetch::displayed_url(url) + ": lists '" + base::printable(file.path) +
                      "', which is not a relative path");
    }
    check_may_name(url, file.url);
    files.push_back({file.path, file.size_bytes, file.digests, {file.url}, {}});
  }
  if (files.empty()) {
    throw Error(ErrorKind::not_found, fetch::displayed_url(url) + ": has no files beneath it");
  }
  remember_listing(key, files, tools);
  return files;
}

Files listed_in(const std::string& url,
                const std::string& base,
                std::optional<std::uint64_t> limit,
                const FetchTools& tools) {
  const FetchedFile list = fetch_one({name_at_end(url), {}, {}, {url}, {}}, tools);
  Files files = parse_list(base::read_file(list.object.path, list_limit_bytes),
                           fetch::displayed_url(url),
                           base.empty() ? folder_of_url(url) : base,
                           limit);
  // A document with a base says itself where the files are.
  for (const spec::AssetFile& file : files) {
    for (const std::string& source : file.sources) {
      if (base.empty() || !source.starts_with(base)) check_may_name(url, source);
    }
  }
  return files;
}

Files manifest_of(const spec::Asset& asset, std::optional<std::uint64_t> limit) {
  Files files = asset.manifest;
  if (limit && *limit < files.size()) files.resize(static_cast<std::size_t>(*limit));
  for (spec::AssetFile& file : files) {
    if (file.sources.empty() && !asset.base.empty()) {
      file.sources = {url_beneath(asset.base, file.path)};
    }
  }
  return files;
}

}  // namespace

fetch::Fetcher* lister_of(const std::string& url, const FetchTools& tools) {
  const auto able = fetch::fetchers_for(tools.fetchers, url);
  const auto found =
      std::ranges::find_if(able, [&](const auto* one) { return one->names_many(url); });
  return found == able.end() ? nullptr : *found;
}

std::optional<base::Digest> list_object(const spec::Asset& asset, const FetchTools& tools) {
  if (asset.list.empty()) return std::nullopt;
  const bool is_listed = lister_of(asset.list, tools) != nullptr;
  const auto record =
      tools.cache.source(is_listed ? listing_key(asset.list, limit_of(asset, tools)) : asset.list);
  if (!record) return std::nullopt;
  return record->digest;
}

Files files_of(const spec::Asset& asset, const FetchTools& tools) {
  const auto limit = limit_of(asset, tools);
  if (!asset.manifest.empty()) return manifest_of(asset, limit);
  if (!asset.list.empty()) {
    fetch::Fetcher* const lister = lister_of(asset.list, tools);
    if (lister != nullptr) return listed_by(*lister, asset.list, limit, tools);
    return listed_in(asset.list, asset.base, limit, tools);
  }
  if (tools.options.limit) {
    throw Error(ErrorKind::usage,
                "--limit: asset '" + asset.name + "' has its files in the document, not in a list");
  }
  return asset.files;
}

std::optional<Files> files_at(const spec::Asset& asset,
                              const std::map<std::string, base::Digest>& wanted,
                              const FetchTools& tools) {
  fetch::Fetcher* const lister = asset.list.empty() ? nullptr : lister_of(asset.list, tools);
  const bool is_brought_whole =
      lister != nullptr && lister->takes_trees() && asset.manifest.empty() && !asset.limit;
  std::map<std::string, spec::AssetFile> known;
  if (!is_brought_whole) {
    for (spec::AssetFile& file : files_of(asset, tools))
      known.emplace(file.path, std::move(file));
  }
  Files named;
  for (const auto& [path, digest] : wanted) {
    spec::AssetFile& file = named.emplace_back(spec::AssetFile{path, {}, {}, {}, {}});
    if (is_brought_whole) {
      file.sources = {url_beneath(asset.list, path)};
      if (lister->names_many(file.sources.front())) return std::nullopt;
    } else if (const auto found = known.find(path); found != known.end()) {
      file = found->second;
    } else {
      return std::nullopt;
    }
    const auto said = sha256_among(file.digests);
    if (said && *said != digest) return std::nullopt;
    if (!said) file.digests.push_back(digest);
  }
  return named;
}

}  // namespace sabath::assets
