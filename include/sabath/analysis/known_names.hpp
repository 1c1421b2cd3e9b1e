#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/catalog/run_names.hpp>
#include <sabath/home/documents.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::analysis {

/// The names that exist: of the runs in the catalog, and of the shipped and the user's own recipes.
/// Every name that a user types for runs is checked here. An unknown one is an Error with the
/// nearest name as hint; while the catalog has no run it is a warning, since nobody knows then
/// which names runs will have.
class KnownNames {
 public:
  /// `runs`: the file of the catalog. `studies`: the folder of studies.
  KnownNames(const std::filesystem::path& runs,
             std::filesystem::path studies,
             const home::Documents& documents,
             base::Observer& observer)
      : runs_(runs), studies_(std::move(studies)), documents_(documents), observer_(observer) {}

  /// The keys of a selection's terms, and the recipe and the study that it names. Throws
  /// Error{usage}, and as Catalog::select for what cannot be read.
  void check_selection(std::string_view selection, base::WallTime now) const;

  /// A metric, as NAME or as STAGE/NAME, that `option` names. Throws Error{usage}.
  void check_metric(const std::string& option, const std::string& name) const;

  /// What `option` names must be a word of `compare --across` or a key of one of the runs, which a
  /// run can be grouped by. Throws Error{usage}.
  void check_across(const std::string& option,
                    const std::vector<std::string>& names,
                    const std::vector<catalog::RunRow>& runs,
                    const catalog::Catalog& catalog) const;

 private:
  std::vector<spec::Recipe> recipes() const;
  void check_key(const std::string& place, const std::string& key) const;
  void check_recipe(const std::string& place, const std::string& name) const;
  void check_study(const std::string& place, const std::string& id) const;
  /// Throws the error, or warns of it where the catalog has no run.
  void refuse(const base::Error& error) const;

  catalog::RunNames runs_;
  std::filesystem::path studies_;
  const home::Documents& documents_;
  base::Observer& observer_;
};

}  // namespace sabath::analysis
