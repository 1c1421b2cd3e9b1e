#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::home {

/// Where everything lies; read once from the environment by `cli`.
struct Folders {
  std::filesystem::path home{};                 ///< runs/, studies/, archive/, trash/ ...
  std::filesystem::path cache{};                ///< the content-addressed store
  std::filesystem::path configuration{};        ///< sites/; may be empty
  std::vector<std::filesystem::path> assets{};  ///< folders with asset documents; earlier ones win
  std::vector<std::filesystem::path>
      recipes{};  ///< folders with <name>/recipe.json; earlier ones win
  std::vector<std::filesystem::path> catalogs{};  ///< those of them that this command alone names

  std::filesystem::path runs() const { return home / "runs"; }
  std::filesystem::path studies() const { return home / "studies"; }
  std::filesystem::path archive() const { return home / "archive"; }
  std::filesystem::path trash() const { return home / "trash"; }
  /// The folder of a run: in runs/, or in archive/ where it was archived.
  std::filesystem::path run(const std::string& id) const {
    std::error_code code;
    std::filesystem::path archived = archive() / id;
    const bool is_archived =
        !std::filesystem::exists(runs() / id, code) && std::filesystem::exists(archived, code);
    return is_archived ? archived : runs() / id;
  }
  std::filesystem::path state() const { return home / "state"; }
  std::filesystem::path catalog() const { return home / "catalog.db"; }
  std::filesystem::path environments() const { return cache / "envs"; }
};

}  // namespace sabath::home
