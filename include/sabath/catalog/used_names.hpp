#pragma once

#include <sabath/catalog/selection_terms.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::catalog {

class Database;

/// Names that occur in the runs of a catalog. Throws Error{catalog|storage}.
class UsedNames {
 public:
  explicit UsedNames(const std::filesystem::path& database);
  ~UsedNames();
  UsedNames(const UsedNames&) = delete;
  UsedNames& operator=(const UsedNames&) = delete;

  bool has_run() const;
  bool has_parameter(std::string_view name) const;
  /// As NAME or as STAGE/NAME.
  bool has_metric(std::string_view name) const;
  /// As Catalog::parts_of.
  SelectionParts parts_of(std::string_view selection) const;
  std::vector<std::string> recipes() const;
  std::vector<std::string> studies() const;
  /// With the columns of imported tables.
  std::vector<std::string> parameters() const;
  /// Each as NAME and as STAGE/NAME.
  std::vector<std::string> metrics() const;

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace sabath::catalog
