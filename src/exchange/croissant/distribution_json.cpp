#include "distribution_json.hpp"

#include "file_facts.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/asset_names.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sabath::exchange {
namespace {

using base::printable;
using nlohmann::json;

/// Reads the nodes one after the other into an asset.
class Distribution {
 public:
  Distribution(const Terms& terms,
               const std::string& name,
               const CroissantOrigin& origin,
               ImportedAsset& imported)
      : terms_(terms), name_(name), origin_(origin), imported_(imported) {}

  void read(const json& root) {
    const auto nodes = items_of(terms_.member(root, "distribution"));
    for (const json* node : nodes)
      for (const std::string& container : containers_of(*node))
        contained_in_.insert(container);
    for (const json* node : nodes) {
      if (!node->is_object()) continue;
      const bool is_set = terms_.is_a(*node, "FileSet");
      if (!is_set && containers_of(*node).empty()) read_file(*node);
      if (is_set) read_set(*node);
    }
    keep_one_origin();
  }

 private:
  std::string id_of(const json& node) const {
    std::string id = text_in(terms_.member(node, "@id"));
    return id.empty() ? text_in(terms_.member(node, "name")) : id;
  }

  std::vector<std::string> containers_of(const json& node) const {
    return texts_in(terms_.member(node, "containedIn"));
  }

  void note(const std::string& text) { imported_.notes.push_back(text); }

  void read_file(const json& node) {
    const std::string id = id_of(node);
    const std::string type = text_in(terms_.member(node, "encodingFormat"));
    const auto addresses = texts_in(terms_.member(node, "contentUrl"));
    if (addresses.empty()) return note("'" + printable(id) + "' has no contentUrl: left out");
    if (type.starts_with("git+")) return read_repository(addresses.front());
    spec::AssetFile file;
    for (const std::string& address : addresses) {
      std::string url = resolved(address);
      if (!url.empty() && std::ranges::find(file.sources, url) == file.sources.end())
        file.sources.push_back(std::move(url));
    }
    for (std::string& url : texts_in(terms_.member(node, "sabath:source")))
      file.sources.push_back(std::move(url));
    if (file.sources.empty()) return note("'" + printable(id) + "' has no address: left out");
    file.path = path_of(node, addresses.front(), id);
    file.digests = digests_of(node, id);
    if (file.digests.empty())
      file.size_bytes = size_in(text_in(terms_.member(node, "contentSize")));
    if (contained_in_.contains(id)) file.unpack = packing(type, file, id);
    imported_.asset.files.push_back(std::move(file));
  }

  /// An archive that others lie in must be unpacked: by its media type, its name, or its bytes.
  std::string packing(const std::string& type, const spec::AssetFile& file, const std::string& id) {
    std::string kind = packing_of(type, file.path);
    const bool may_be_tar = kind == "gz" && !file.path.ends_with(".gz");
    if (kind.empty() || may_be_tar) {
      const std::string seen = packing_by_bytes(file);
      if (!seen.empty()) kind = seen;
    }
    if (kind.empty())
      note("'" + printable(id) +
           "' has parts, but its kind of archive is unknown: it stays packed");
    return kind;
  }

  /// Of a file beside a local document.
  std::string packing_by_bytes(const spec::AssetFile& file) const {
    if (!origin_.local_packing || file.sources.empty()) return {};
    const std::string& source = file.sources.front();
    if (origin_.folder_url.empty() || !source.starts_with(origin_.folder_url)) return {};
    return origin_.local_packing(base::percent_decoded(source.substr(origin_.folder_url.size())));
  }

  /// The address as a URL; "" with a note where it cannot be one.
  std::string resolved(const std::string& address) {
    static const base::Form absolute("[A-Za-z][A-Za-z0-9+.-]*:.*");
    std::string url = address;
    if (!absolute.matches(address)) {
      const std::string path = decoded_path(address);
      if (path.empty() || origin_.folder_url.empty()) {
        note("'" + printable(address) + "' leads out of the document's folder: left out");
        return {};
      }
      url = origin_.folder_url + base::percent_encoded(path, "-._~/");
    } else if (!origin_.is_local && is_private(url)) {
      refused_.insert(url);
      throw base::Error(base::ErrorKind::usage,
                        name_ + ": names '" + printable(url) +
                            "', a file or an address of this machine or a private network",
                        "save the document here if you trust it, and import the file");
    }
    if (url.find_first_of(" \t\r\n") != std::string::npos)
      url = base::percent_encoded(url, "-._~/:?#[]@!$&'()*+,;=%");
    return url;
  }

  std::string path_of(const json& node, const std::string& address, const std::string& id) {
    std::string path = decoded_path(text_in(terms_.member(node, "sabath:path")));
    const bool is_relative = address.find("://") == std::string::npos;
    if (path.empty()) path = is_relative ? decoded_path(address) : last_segment(address);
    if (path.empty()) path = asset_name_of(id);
    if (!paths_.insert(path).second) {
      path = asset_name_of(id) + "/" + path;
      for (int number = 2; !paths_.insert(path).second; ++number)
        path = std::to_string(number) + "-" + path;
    }
    return path;
  }

  std::vector<base::Digest> digests_of(const json& node, const std::string& id) {
    std::vector<base::Digest> digests;
    for (const char* term : {"sha256", "md5", "sabath:sha512", "sabath:sha1"}) {
      const std::string text = text_in(terms_.member(node, term));
      if (text.empty()) continue;
      const auto digest = digest_by_form(text);
      std::string named(term);
      if (named.starts_with("sabath:")) named.erase(0, 7);
      const bool is_named = digest && to_string(digest->algorithm) == named;
      if (digest && (is_named || origin_.trusts_form)) {
        digests.push_back(*digest);
      } else {
        note("'" + printable(id) + "': " + named + " '" + printable(text).substr(0, 80) +
             "' is not one: left out");
      }
    }
    return digests;
  }

  void read_repository(const std::string& address) {
    static const base::Form hub(
        "https?://(?:www\\.)?huggingface\\.co/datasets/([^/]+(?:/[^/]+)?)(?:/tree/([^/?#]+))?/?");
    static const base::Form github(
        "https?://github\\.com/([^/]+/[^/]+?)(?:\\.git)?/(?:tree|commit)/([0-9a-f]{40})/?");
    std::string url;
    if (const auto parts = hub.parts(address)) {
      url = "hf://datasets/" + parts->at(1) + (parts->at(2).empty() ? "" : "@" + parts->at(2));
    } else if (const auto found = github.parts(address)) {
      url = "git+https://github.com/" + found->at(1) + ".git@" + found->at(2);
    }
    if (url.empty()) {
      return note("'" + printable(address) +
                  "' is a repository without a commit: its files are left out");
    }
    if (!imported_.asset.list.empty())
      return note("'" + printable(address) + "' is a second repository: left out");
    if (parts_of_commit(url).empty())
      note("'" + printable(url) + "' moves: it is pinned to its commit when it is fetched");
    imported_.asset.list = url;
  }

  static std::string parts_of_commit(const std::string& url) {
    const auto at = url.rfind('@');
    const std::string revision = at == std::string::npos ? "" : url.substr(at + 1);
    return revision.size() == 40 ? revision : std::string{};
  }

  void read_set(const json& node) {
    const auto patterns = texts_in(terms_.member(node, "includes"));
    if (!containers_of(node).empty()) {
      if (!terms_.member(node, "transform").is_null())
        note("file set '" + printable(id_of(node)) + "' has a transform: kept, not applied");
      if (!takes_all(patterns))
        note("file set '" + printable(id_of(node)) +
             "' includes a part of an archive or repository: all of it is fetched");
      return;
    }
    std::set<std::string> excluded;
    for (const std::string& pattern : texts_in(terms_.member(node, "excludes")))
      for (std::string& path : local_files(pattern))
        excluded.insert(std::move(path));
    for (const std::string& pattern : patterns) {
      auto found = local_files(pattern);
      std::erase_if(found, [&](const std::string& path) { return excluded.contains(path); });
      if (found.empty())
        note("file set '" + printable(pattern) + "': no file of the document's folder matches");
      for (const std::string& path : found)
        if (paths_.insert(path).second) add_local(path);
    }
  }

  std::vector<std::string> local_files(const std::string& pattern) const {
    return origin_.local_files ? origin_.local_files(pattern) : std::vector<std::string>{};
  }

  static bool takes_all(const std::vector<std::string>& patterns) {
    return std::ranges::all_of(patterns, [](const std::string& pattern) {
      return pattern == "*" || pattern == "**" || pattern == "**/*" || pattern == "*/*";
    });
  }

  void add_local(const std::string& path) {
    spec::AssetFile file;
    file.path = path;
    file.sources = {origin_.folder_url + base::percent_encoded(path, "-._~/")};
    imported_.asset.files.push_back(std::move(file));
  }

  /// An asset has files or a list. What stands beside files becomes a second asset.
  void keep_one_origin() {
    spec::Asset& asset = imported_.asset;
    if (asset.files.empty() || asset.list.empty()) return;
    spec::Asset repository = asset;
    repository.files.clear();
    asset.list.clear();
    imported_.repository = std::move(repository);
    note("'" + printable(imported_.repository->list) +
         "' stands beside files: it becomes a second asset");
  }

  const Terms& terms_;
  const std::string& name_;
  const CroissantOrigin& origin_;
  ImportedAsset& imported_;
  std::set<std::string> contained_in_{};
  std::set<std::string> paths_{};
  std::set<std::string> refused_{};
};

}  // namespace

void read_distribution(const json& root,
                       const Terms& terms,
                       const std::string& name,
                       const CroissantOrigin& origin,
                       ImportedAsset& imported) {
  Distribution(terms, name, origin, imported).read(root);
}

}  // namespace sabath::exchange
