#pragma once

#include <sabath/spec/asset.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::home {

struct AssetDocument {
  spec::Asset asset{};
  std::filesystem::path path{};
};

struct RecipeDocument {
  spec::Recipe recipe{};
  std::filesystem::path path{};
};

/// A document that could not be read: listed, never fatal for the others.
struct BadDocument {
  std::filesystem::path path{};
  std::string problem{};
};

/// Finder of asset and recipe documents. A name in an earlier folder hides the same in a later one.
class Documents {
 public:
  Documents(std::vector<std::filesystem::path> asset_folders,
            std::vector<std::filesystem::path> recipe_folders);

  /// By name, or by the path of a recipe.json or of its folder (a word with '/', or that ends in
  /// .json). Throws Error{not_found} with the nearest name as hint, Error{usage} for a document
  /// that is wrong.
  spec::Recipe recipe(std::string_view name_or_path) const;
  spec::Asset asset(std::string_view name) const;

  std::vector<AssetDocument> assets(std::vector<BadDocument>& bad) const;
  std::vector<RecipeDocument> recipes(std::vector<BadDocument>& bad) const;

 private:
  std::vector<std::filesystem::path> asset_folders_;
  std::vector<std::filesystem::path> recipe_folders_;
};

/// Reads one recipe document; its folder becomes `Recipe::directory`.
spec::Recipe load_recipe(const std::filesystem::path& file);

}  // namespace sabath::home
