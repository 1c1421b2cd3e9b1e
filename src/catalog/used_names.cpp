#include "run_keys.hpp"

#include <sabath/catalog/used_names.hpp>

namespace sabath::catalog {

UsedNames::UsedNames(const std::filesystem::path& database)
    : database_(std::make_unique<Database>(database)) {}

UsedNames::~UsedNames() = default;

bool UsedNames::has_run() const {
  return !texts_of(*database_, "select id from run limit 1").empty();
}

bool UsedNames::has_parameter(std::string_view name) const {
  return catalog::has_parameter(*database_, name);
}

bool UsedNames::has_metric(std::string_view name) const {
  return catalog::has_metric(*database_, name);
}

SelectionParts UsedNames::parts_of(std::string_view selection) const {
  return catalog::parts_of(selection, names_in(*database_));
}

std::vector<std::string> UsedNames::recipes() const {
  return texts_of(*database_, "select distinct recipe from run order by recipe");
}

std::vector<std::string> UsedNames::studies() const {
  return texts_of(*database_,
                  "select distinct study from run where study is not null and study <> ''");
}

std::vector<std::string> UsedNames::parameters() const {
  return texts_of(*database_, "select distinct name from run_parameter order by name");
}

std::vector<std::string> UsedNames::metrics() const {
  return texts_of(*database_,
                  "select name from run_metric union select stream || '/' || name from run_metric");
}

}  // namespace sabath::catalog
