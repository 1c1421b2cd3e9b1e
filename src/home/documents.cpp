#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/documents.hpp>

#include <algorithm>
#include <set>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Regular files beneath `folder` (two levels) that end in .json, sorted; none without the folder.
/// The folders of recipes are left alone: what lies there is theirs; so are
/// schedulers and tools, which are not assets.
std::vector<fs::path> asset_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  constexpr auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, code), end; !code && it != end;
       it.increment(code)) {
    std::error_code unreadable;
    if (it.depth() > 1 || it->path().filename() == "schedulers" ||
        it->path().filename() == "tools" || fs::exists(it->path() / "recipe.json", unreadable)) {
      it.disable_recursion_pending();
    }
    if (it->path().filename() == "recipe.json") continue;
    if (it->path().extension() == ".json" && it->is_regular_file(unreadable)) {
      files.push_back(it->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::vector<fs::path> recipe_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const fs::path file = entry.path() / "recipe.json";
    if (fs::is_regular_file(file, code)) files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

bool looks_like_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".json") || text == "." ||
         text == "..";
}

spec::Recipe load_recipe_at(const fs::path& path) {
  std::error_code code;
  const fs::path file = fs::is_directory(path, code) ? path / "recipe.json" : path;
  if (fs::exists(file, code) || code) return load_recipe(file);
  throw Error(ErrorKind::not_found,
              base::printable(file.string()) + ": no such file",
              "name a recipe, its folder or its recipe.json; 'sabath list recipes' shows names");
}

[[noreturn]] void throw_unknown(std::string_view noun,
                                std::string_view name,
                                const std::vector<std::string>& known) {
  std::error_code code;
  const bool is_folder = noun == "recipe" && fs::exists(fs::path(name) / "recipe.json", code);
  const std::string guess = is_folder ? "./" + base::printable(name) : base::nearest(name, known);
  const std::string listing = "'sabath list " + std::string(noun) + "s' shows what there is";
  throw Error(ErrorKind::not_found,
              std::string(noun) + " '" + base::printable(name) + "': not found",
              guess.empty() ? listing : "did you mean '" + guess + "'?");
}

spec::Asset load_asset(const fs::path& file) {
  return spec::parse_asset(base::read_file(file), file.string());
}

bool is_called(const spec::Asset& asset, std::string_view name) {
  if (asset.name == name) return true;
  const auto former = spec::former_names(asset);
  return std::ranges::find(former, name) != former.end();
}
bool is_called(const spec::Recipe& recipe, std::string_view name) {
  return recipe.name == name;
}

/// The document called `name` of the first folder that has one. A file that bears the name is
/// looked at before its neighbours, which need not be read then; only that one must be right.
template <class Document, class List, class Stem, class Load>
Document named(std::string_view noun,
               std::string_view name,
               const std::vector<fs::path>& folders,
               const List& files_in,
               const Stem& stem_of,
               const Load& load) {
  std::vector<std::string> known;
  for (const fs::path& folder : folders) {
    std::vector<fs::path> files = files_in(folder);
    std::stable_partition(
        files.begin(), files.end(), [&](const fs::path& file) { return stem_of(file) == name; });
    for (const fs::path& file : files) {
      try {
        Document document = load(file);
        if (is_called(document, name)) return document;
        known.push_back(document.name);
      } catch (const Error&) {
        if (stem_of(file) == name) throw;
      }
    }
  }
  throw_unknown(noun, name, known);
}

/// All documents, those of earlier folders first; each name once.
template <class Found, class List, class Load>
std::vector<Found> all_of(const std::vector<fs::path>& folders,
                          const List& files_in,
                          const Load& load,
                          std::vector<BadDocument>& bad) {
  std::vector<Found> found;
  std::set<std::string> seen;
  for (const fs::path& folder : folders) {
    for (const fs::path& file : files_in(folder)) {
      try {
        auto document = load(file);
        if (seen.insert(document.name).second) found.push_back({std::move(document), file});
      } catch (const Error& error) {
        bad.push_back({file, error.what()});
      }
    }
  }
  return found;
}

}  // namespace

spec::Recipe load_recipe(const fs::path& file) {
  spec::Recipe recipe = spec::parse_recipe(base::read_file(file), file.string());
  recipe.directory = fs::canonical(file).parent_path();
  return recipe;
}

Documents::Documents(std::vector<fs::path> asset_folders, std::vector<fs::path> recipe_folders)
    : asset_folders_(std::move(asset_folders)), recipe_folders_(std::move(recipe_folders)) {}

spec::Recipe Documents::recipe(std::string_view name_or_path) const {
  if (looks_like_path(name_or_path)) return load_recipe_at(name_or_path);
  const auto stem = [](const fs::path& file) { return file.parent_path().filename(); };
  return named<spec::Recipe>(
      "recipe", name_or_path, recipe_folders_, recipe_files, stem, load_recipe);
}

spec::Asset Documents::asset(std::string_view name) const {
  const auto stem = [](const fs::path& file) { return file.stem(); };
  return named<spec::Asset>("asset", name, asset_folders_, asset_files, stem, load_asset);
}

std::vector<AssetDocument> Documents::assets(std::vector<BadDocument>& bad) const {
  return all_of<AssetDocument>(asset_folders_, asset_files, load_asset, bad);
}

std::vector<RecipeDocument> Documents::recipes(std::vector<BadDocument>& bad) const {
  return all_of<RecipeDocument>(recipe_folders_, recipe_files, load_recipe, bad);
}

}  // namespace sabath::home
