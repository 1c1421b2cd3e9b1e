#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/catalog/used_names.hpp>
#include <sabath/home/documents.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::analysis {

/// Names of the runs in the catalog and of recipes, shipped and user's own. Checks every name that
/// a user types for runs. An unknown one is an Error with the nearest name as hint. It is a warning
/// while the catalog has no run, since future names are unknown.
class KnownNames {
 public:
  /// `runs`: the file of the catalog. `studies`: the folder of studies.
  KnownNames(const std::filesystem::path& runs,
             std::filesystem::path studies,
             const home::Documents& documents,
             base::Observer& observer)
      : runs_(runs), studies_(std::move(studies)), documents_(documents), observer_(observer) {}

  bool has_run() const { return runs_.has_run(); }

  /// Checks the keys of a selection's terms, and the recipe and the study that it names. Throws
  /// Error{usage}, and as Catalog::select.
  void check_selection(std::string_view selection) const;

  /// Of a word that names no run: throws Error{usage} where it is a parameter or a metric.
  void refuse_bare_name(const std::string& word) const;

  /// Checks a metric, as NAME or as STAGE/NAME, that `option` names. Throws Error{usage}.
  void check_metric(const std::string& option, const std::string& name) const;

  /// Checks that `option` names a word of `compare --across` or a key that runs can be grouped by.
  /// Throws Error{usage}.
  void check_across(const std::string& option,
                    const std::vector<std::string>& names,
                    const std::vector<catalog::RunRow>& runs,
                    const catalog::Catalog& catalog) const;

 private:
  std::vector<spec::Recipe> recipes() const;
  bool is_metric(const std::string& name) const;
  void check_key(const std::string& place, const std::string& key) const;
  void check_recipe(const std::string& place, const std::string& name) const;
  void check_study(const std::string& place, const std::string& id) const;
  /// Throws the error, or warns of it while the catalog has no run.
  void refuse(const std::string& problem, const std::string& hint) const;

  catalog::UsedNames runs_;
  std::filesystem::path studies_;
  const home::Documents& documents_;
  base::Observer& observer_;
};

}  // namespace sabath::analysis
