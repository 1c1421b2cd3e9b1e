#include "local_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/croissant.hpp>
#include <sabath/exchange/jsonld.hpp>
#include <sabath/exchange/upstream.hpp>
#include <sabath/home/dated_folder.hpp>
#include <sabath/sharing/import_documents.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;
using exchange::DocumentKind;
using exchange::ImportedAsset;

/// Assets and recipes that are to be written.
struct Import {
  std::vector<ImportedAsset> assets{};
  std::vector<exchange::UpstreamImport::Recipe> recipes{};
};

/// The folder of an address: without its query, and with the path "/" where it has none.
std::string base_url(const std::string& url) {
  const std::string place = url.substr(0, url.find_first_of("?#"));
  const auto scheme = place.find("://");
  const auto slash = place.rfind('/');
  const bool has_path =
      slash != std::string::npos && scheme != std::string::npos && slash > scheme + 2;
  return has_path ? place.substr(0, slash + 1) : place + "/";
}

std::string folder_url(const DocumentRequest& request) {
  if (!request.url.empty()) return base_url(request.url);
  const fs::path folder = fs::absolute(request.place).parent_path();
  return "file://" + base::percent_encoded(folder.string(), "-._~/") + "/";
}

Import read_croissant(const DocumentRequest& request) {
  exchange::CroissantOrigin origin;
  origin.folder_url = folder_url(request);
  origin.is_local = request.url.empty();
  origin.trusts_form = request.trusts_form;
  if (origin.is_local) {
    const fs::path folder = fs::absolute(request.place).parent_path();
    origin.local_files = [folder](const std::string& pattern) {
      return files_matching(folder, pattern);
    };
    origin.local_packing = [folder](const std::string& path) {
      return packing_of_file(folder / path);
    };
  }
  const std::string name = request.url.empty() ? request.place.string() : request.url;
  ImportedAsset imported = exchange::read_croissant(base::read_file(request.place), name, origin);
  if (!request.name.empty()) imported.asset.name = request.name;
  Import import{{imported}, {}};
  if (!imported.repository) return import;
  if (!request.name.empty()) imported.repository->name = request.name + "-repository";
  import.assets.push_back({*std::move(imported.repository), {}, {}});
  return import;
}

/// Throws where a document from an address leads to this machine or a private network.
void refuse_private(const DocumentRequest& request, const spec::Asset& asset) {
  const std::string address = request.url.empty() ? "" : exchange::private_address_in(asset);
  if (!address.empty())
    throw Error(ErrorKind::usage,
                printable(request.url) + ": names '" + printable(address) +
                    "', an address of this machine or a private network",
                "save the document here if you trust it, and import the file");
}

using Known = std::vector<home::AssetDocument>;

/// The commit that a model of this repository was pinned to before; empty for none.
std::string pinned_before(const std::string& url, const Known& known) {
  for (const home::AssetDocument& one : known)
    if (one.asset.code && one.asset.code->git == url && one.asset.code->open.empty())
      return one.asset.code->commit;
  return {};
}

Import read_upstream(const DocumentRequest& request, const Known& known) {
  std::vector<exchange::UpstreamDocument> documents;
  std::error_code code;
  if (fs::is_directory(request.place, code)) {
    for (const fs::path& file : json_files(request.place))
      documents.push_back({file.stem(), base::read_file(file)});
  } else {
    documents.push_back({request.place.stem(), base::read_file(request.place)});
  }
  exchange::UpstreamImport read = exchange::read_upstream(
      documents, request.commit, [&](const std::string& url, const std::string& reference) {
        spec::Asset asked;
        asked.code.emplace().git = url;
        refuse_private(request, asked);
        std::string before = pinned_before(url, known);
        if (!before.empty() || !request.commit_of) return before;
        return request.commit_of(url, reference);
      });
  return {std::move(read.assets), std::move(read.recipes)};
}

Import read_asset(const DocumentRequest& request) {
  ImportedAsset imported;
  imported.asset = spec::parse_asset(base::read_file(request.place), request.place.string());
  return {{std::move(imported)}, {}};
}

Import read(const DocumentRequest& request, const Known& known) {
  switch (request.kind) {
    case DocumentKind::croissant:
    case DocumentKind::jsonld:  // a Dataset of schema.org has the same terms
      return read_croissant(request);
    case DocumentKind::upstream:
      return read_upstream(request, known);
    case DocumentKind::hpcfair:
      return {{exchange::read_hpcfair(base::read_file(request.place), request.place.string())}, {}};
    case DocumentKind::asset:
      return read_asset(request);
    default:
      throw Error(ErrorKind::usage,
                  printable(request.place.string()) + ": documents of the kind '" +
                      std::string(spec::to_string(request.kind)) + "' cannot be imported",
                  "sabath help import lists the kinds");
  }
}

/// The digests of all files; nothing where a file has none: then the bytes are unknown.
std::vector<std::string> bytes_of(const spec::Asset& asset) {
  std::vector<std::string> digests;
  for (const auto* files : {&asset.files, &asset.manifest}) {
    for (const spec::AssetFile& file : *files) {
      if (file.digests.empty()) return {};
      digests.push_back(file.digests.front().text());
    }
  }
  std::ranges::sort(digests);
  return digests;
}

std::vector<std::string> assets_with_bytes_of(const spec::Asset& asset,
                                              const std::vector<home::AssetDocument>& known) {
  std::vector<std::string> names;
  const auto bytes = bytes_of(asset);
  for (const home::AssetDocument& one : known)
    if (!bytes.empty() && one.asset.name != asset.name && bytes_of(one.asset) == bytes)
      names.push_back(one.asset.name);
  return names;
}

std::string version_text(const spec::Asset& asset) {
  return asset.version.empty() ? "" : "@" + asset.version;
}

/// Names of the members that two documents of an asset have otherwise.
std::string differing_members(const spec::Asset& one, const spec::Asset& other) {
  const nlohmann::ordered_json a = spec::to_json(one);
  const nlohmann::ordered_json b = spec::to_json(other);
  std::vector<std::string> names;
  for (const auto& [name, value] : a.items())
    if (!b.contains(name) || b[name] != value) names.push_back(name);
  for (const auto& [name, value] : b.items())
    if (!a.contains(name)) names.push_back(name);
  return base::joined(names, ", ");
}

/// Throws where another document of the home, or one of the same version, has the name. Notes one
/// that is hidden from now on.
void refuse_other(const spec::Asset& asset,
                  MadeDocument& made,
                  const std::vector<home::AssetDocument>& known) {
  const auto same = std::ranges::find_if(
      known, [&](const home::AssetDocument& one) { return one.asset.name == asset.name; });
  if (same == known.end()) return;
  if (same->path != made.path && same->asset.version != asset.version) {
    made.notes.push_back("it hides '" + asset.name + version_text(same->asset) + "' of " +
                         printable(same->path.string()) + "; --name gives it another name");
    return;
  }
  const bool has_other_bytes = bytes_of(same->asset) != bytes_of(asset);
  throw Error(ErrorKind::usage,
              "asset '" + made.name + version_text(same->asset) + "' is there with other " +
                  (has_other_bytes ? "files" : "words") + ": " + printable(same->path.string()) +
                  ": they differ in " + printable(differing_members(same->asset, asset)),
              "--name gives it another name, --replace replaces what is in your home");
}

/// Whether `asset` is the known one, whose code was open, with a commit.
bool pins_code(const spec::Asset& asset, const spec::Asset& known) {
  if (!asset.code || !known.code || asset.code->git != known.code->git) return false;
  if (known.code->open.empty() || !asset.code->open.empty()) return false;
  spec::Asset pinned = known;
  pinned.code = asset.code;
  return pinned == asset;
}

MadeDocument prepared(ImportedAsset& imported,
                      const DocumentRequest& request,
                      const home::Folders& folders,
                      const std::vector<home::AssetDocument>& known) {
  refuse_private(request, imported.asset);
  MadeDocument made;
  made.kind = to_string(imported.asset.kind);
  made.name = imported.asset.name;
  made.version = imported.asset.version;
  made.path = folders.home / "assets" / (made.name + ".json");
  made.text = base::pretty_json(spec::to_json(imported.asset));
  made.notes = imported.notes;
  const bool is_known = std::ranges::any_of(
      known, [&](const home::AssetDocument& one) { return one.asset.name == imported.asset.name; });
  bool replaces = request.replaces;
  if (is_known) {
    const spec::Asset as_written = spec::parse_asset(made.text, made.path.string());
    for (const home::AssetDocument& one : known) {
      if (one.asset == as_written) made.was_there = true;
      if (one.path == made.path && pins_code(as_written, one.asset)) replaces = true;
    }
  }
  if (!made.was_there && !replaces) refuse_other(imported.asset, made, known);
  std::error_code code;
  if (!made.was_there && !replaces && fs::exists(made.path, code))
    throw Error(ErrorKind::usage,
                printable(made.path.string()) + ": is there, and is another document",
                "--name gives the asset another name, --replace replaces the file");
  made.same_as = assets_with_bytes_of(imported.asset, known);
  return made;
}

MadeDocument prepared_recipe(const exchange::UpstreamImport::Recipe& recipe,
                             const DocumentRequest& request,
                             const home::Folders& folders) {
  MadeDocument made;
  made.kind = "recipe";
  made.name = recipe.name;
  made.path = folders.home / "recipes" / recipe.name / "recipe.json";
  made.text = recipe.document;
  std::error_code code;
  if (!fs::exists(made.path, code)) return made;
  made.was_there = base::read_file(made.path) == made.text;
  if (!made.was_there && !request.replaces)
    throw Error(
        ErrorKind::usage,
        "recipe '" + made.name + "' is there with other content: " + printable(made.path.string()),
        "--replace replaces it");
  return made;
}

/// A data set that is called like a model of the home gets another name.
void keep_name_apart(ImportedAsset& imported, const std::vector<home::AssetDocument>& known) {
  spec::Asset& asset = imported.asset;
  for (const home::AssetDocument& one : known) {
    if (one.asset.name != asset.name || one.asset.kind == asset.kind) continue;
    asset.name += asset.kind == spec::AssetKind::dataset ? "-data" : "-model";
    imported.notes.push_back("the name is taken by a " + std::string(to_string(one.asset.kind)) +
                             ": it is called '" + asset.name + "'");
    return;
  }
}

/// Two documents of one import must not make one name: the second would replace the first.
void refuse_twice(const std::vector<MadeDocument>& made) {
  std::map<fs::path, const MadeDocument*> seen;
  for (const MadeDocument& one : made) {
    if (seen.emplace(one.path, &one).second) continue;
    throw Error(ErrorKind::usage,
                "two documents of this import are called '" + printable(one.name) + "'",
                "import them one by one, one of them with --name");
  }
}

void write(const MadeDocument& made) {
  if (made.was_there) return;
  const fs::path folder = made.path.parent_path();
  base::make_directories(folder);
  home::require_fixed(folder.parent_path());
  home::require_fixed(folder);
  base::write_file_atomically(made.path, made.text);
}

}  // namespace

MadeDocument keep_asset(ImportedAsset imported,
                        const DocumentRequest& request,
                        const home::Folders& folders,
                        const home::Documents& documents) {
  std::vector<home::BadDocument> bad;
  MadeDocument made = prepared(imported, request, folders, documents.assets(bad));
  if (!request.is_dry) write(made);
  return made;
}

std::vector<MadeDocument> import_documents(const DocumentRequest& request,
                                           const home::Folders& folders,
                                           const home::Documents& documents) {
  std::vector<home::BadDocument> bad;
  const Known known = documents.assets(bad);
  Import import = read(request, known);
  const bool is_croissant =
      request.kind == DocumentKind::croissant || request.kind == DocumentKind::jsonld;
  if (!request.name.empty() && !is_croissant && import.assets.size() + import.recipes.size() != 1)
    throw Error(
        ErrorKind::usage, "--name: the import makes several documents", "import them one by one");
  std::vector<MadeDocument> made;
  for (ImportedAsset& one : import.assets) {
    if (!request.name.empty() && !is_croissant) one.asset.name = request.name;
    if (request.kind == DocumentKind::upstream) keep_name_apart(one, known);
    made.push_back(prepared(one, request, folders, known));
  }
  for (const auto& one : import.recipes)
    made.push_back(prepared_recipe(one, request, folders));
  refuse_twice(made);
  if (!request.is_dry) std::ranges::for_each(made, write);
  return made;
}

}  // namespace sabath::sharing
