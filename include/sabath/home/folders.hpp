#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::home {

/// Where everything lies; read once from the environment by `cli`.
struct Folders {
  std::filesystem::path home{};                 ///< runs/, studies/, state/, catalog.db
  std::filesystem::path cache{};                ///< the content-addressed store
  std::filesystem::path configuration{};        ///< sites/; may be empty
  std::vector<std::filesystem::path> assets{};  ///< folders with asset documents; earlier ones win
  std::vector<std::filesystem::path>
      recipes{};  ///< folders with <name>/recipe.json; earlier ones win
  std::vector<std::filesystem::path> catalogs{};  ///< those of them that this command alone names

  std::filesystem::path runs() const { return home / "runs"; }
  std::filesystem::path studies() const { return home / "studies"; }
  std::filesystem::path state() const { return home / "state"; }
  std::filesystem::path catalog() const { return home / "catalog.db"; }
  std::filesystem::path environments() const { return cache / "envs"; }
};

}  // namespace sabath::home
