#pragma once

#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_record.hpp>

#include <string>
#include <vector>

namespace sabath::test {

/// A catalog's place in a folder of its own.
class CatalogHome {
 public:
  std::filesystem::path file() const { return home_ / "catalog.db"; }
  const std::filesystem::path& folder() const { return home_.path(); }

 private:
  TempHome home_;
};

/// A record whose id, and time, end in `n`: later for a greater one.
inline spec::RunRecord numbered_record(int n, const std::string& recipe = "tiny") {
  const std::string digits = (n < 10 ? "0" : "") + std::to_string(n);
  spec::RunRecord record = full_record();
  record.run_id = recipe + "-20261120-1032" + digits + "-abcdefgh";
  record.recipe_name = recipe;
  record.created = "2026-11-20T10:32:" + digits + ".000Z";
  return record;
}

inline std::string directory_of(const std::string& id) {
  return "/runs/" + id;
}

inline void put(catalog::Catalog& catalog, const spec::RunRecord& record) {
  catalog.put_record(record, directory_of(record.run_id));
}

inline std::vector<std::string> ids_of(const std::vector<catalog::RunRow>& rows) {
  std::vector<std::string> ids;
  for (const catalog::RunRow& row : rows)
    ids.push_back(row.id);
  return ids;
}

inline std::vector<std::string> names_of(const std::vector<catalog::DocumentRow>& rows) {
  std::vector<std::string> names;
  for (const catalog::DocumentRow& row : rows)
    names.push_back(row.name);
  return names;
}

}  // namespace sabath::test
