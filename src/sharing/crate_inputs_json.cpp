#include "crate_inputs.hpp"
#include "local_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/sharing/import_crate.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;

/// The document that came with the run in a crate, else that of the home.
spec::Asset document_of(const fs::path& run, const std::string& name, const CrateTools& tools) {
  const fs::path beside = crate_folder(run) / "assets" / (name + ".asset.json");
  const auto text = base::is_safe_name(name) ? base::read_file_if_exists(beside) : std::nullopt;
  return text ? spec::parse_asset(*text, beside.string()) : tools.documents.asset(name);
}

/// What the cache writes into a tree: its manifest.
constexpr std::string_view own_files = ".sabath-";

/// Whether the files of an asset are those that its document names: none is unpacked or listed.
bool has_plain_files(const spec::Asset& asset) {
  return !asset.files.empty() && std::ranges::all_of(asset.files, [](const spec::AssetFile& file) {
    return file.unpack.empty();
  });
}

std::string file_url(const fs::path& path) {
  return "file://" + base::percent_encoded(path.string(), "-._~/");
}

/// The document with the files of a folder in place of archives, lists and recipes that make them.
void name_files(const fs::path& folder, const fs::path& final_folder, spec::Asset& asset) {
  asset.files.clear();
  asset.manifest.clear();
  asset.list.clear();
  asset.base.clear();
  asset.limit.reset();
  asset.generate.reset();
  for (const std::string& path : files_matching(folder, "*")) {
    if (path.starts_with(own_files)) continue;
    spec::AssetFile file;
    file.path = path;
    file.digests = {base::digest_file(folder / path)};
    file.sources = {file_url(final_folder / path)};
    asset.files.push_back(std::move(file));
  }
}

}  // namespace

std::vector<spec::Asset> add_inputs(const fs::path& run,
                                    const spec::RunRecord& record,
                                    const CrateTools& tools,
                                    CrateContent& content) {
  std::vector<spec::Asset> assets;
  for (const spec::PlannedInput& input : record.inputs) {
    try {
      assets.push_back(document_of(run, input.asset, tools));
      content.texts["assets/" + input.asset + ".asset.json"] =
          base::pretty_json(spec::to_json(assets.back()));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_found) throw;
      tools.observer.warn("input '" + input.role + "': the document of '" + input.asset +
                              "' is gone: the crate cannot say where its files are",
                          "add it to a catalog before you export");
    }
  }
  return assets;
}

void add_input_files(const spec::RunRecord& record, CrateContent& content) {
  for (const spec::PlannedInput& input : record.inputs) {
    const fs::path folder = input.path;
    std::error_code code;
    if (input.path.empty() || !fs::is_directory(folder, code))
      throw Error(ErrorKind::not_found,
                  printable(input.path) + ": the files of the input '" + input.role +
                      "' are not here any more",
                  "'sabath fetch " + input.asset + "' brings them, or leave out --inputs");
    constexpr auto follow = fs::directory_options::follow_directory_symlink;
    for (const auto& entry : fs::recursive_directory_iterator(folder, follow)) {
      if (!entry.is_regular_file()) continue;
      const std::string path = entry.path().lexically_relative(folder).string();
      if (path.starts_with(own_files)) continue;
      content.files["inputs/" + input.role + "/" + path] = fs::canonical(entry.path());
    }
  }
}

void prefer_inputs(const spec::RunRecord& record,
                   const fs::path& crate,
                   const fs::path& final_crate) {
  for (const spec::PlannedInput& input : record.inputs) {
    const fs::path document = crate / "assets" / (input.asset + ".asset.json");
    const fs::path folder = crate / "inputs" / input.role;
    const fs::path final_folder = final_crate / "inputs" / input.role;
    std::error_code code;
    if (!fs::exists(document, code) || !fs::is_directory(folder, code)) continue;
    spec::Asset asset = spec::parse_asset(base::read_file(document), document.filename().string());
    if (!has_plain_files(asset)) name_files(folder, final_folder, asset);
    for (spec::AssetFile& file : asset.files) {
      const std::string url = file_url(final_folder / file.path);
      const bool is_named = std::ranges::find(file.sources, url) != file.sources.end();
      if (!is_named && fs::exists(folder / file.path, code))
        file.sources.insert(file.sources.begin(), url);
    }
    base::write_file_atomically(document, base::pretty_json(spec::to_json(asset)));
  }
}

}  // namespace sabath::sharing
