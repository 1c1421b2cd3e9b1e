#include "run_keys.hpp"
#include "run_rows.hpp"

#include <sabath/catalog/run_facets.hpp>

namespace sabath::catalog {
namespace {

Condition filter_of(Database& database, std::string_view text, base::WallTime now) {
  if (text.empty()) return {"1", {}};
  const Selection selection = parse_selection(text, names_in(database));
  return selection.references.empty() ? condition_of(*selection.filter, text, database, now)
                                      : one_of(runs_named(database, text, now));
}

}  // namespace

RunFacets::RunFacets(const std::filesystem::path& database)
    : database_(std::make_unique<Database>(database)) {}

RunFacets::~RunFacets() = default;

std::vector<std::pair<std::string, std::uint64_t>> RunFacets::counts(std::string_view selection,
                                                                     std::string_view key,
                                                                     std::size_t most,
                                                                     base::WallTime now) const {
  const Column* const column = column_of(key, *database_);
  if (column == nullptr) refuse_selection(key, "is not a key of runs");
  const std::string table(column->table);
  const std::string value = (table.empty() ? "run" : table) + "." + std::string(column->column);
  const std::string from = table.empty() ? "run" : table + " join run on run.n = " + table + ".run";
  Condition query{"select " + value + ", count(*) from " + from + " where " + value + " <> '' and ",
                  {}};
  query.add(filter_of(*database_, selection, now));
  query.sql += " group by 1 order by 2 desc, 1 limit " + std::to_string(most);
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  auto& statement = database_->statement(query.sql);
  for (query.bind(statement); statement.executeStep();) {
    counts.emplace_back(statement.getColumn(0).getString(),
                        static_cast<std::uint64_t>(statement.getColumn(1).getInt64()));
  }
  return counts;
}

std::vector<RunRow> RunFacets::runs_with_input(std::string_view asset, std::size_t most) const {
  const Condition has_it{"run.n in (select run from run_input where asset = ?)",
                         {std::string(asset)}};
  const Condition order{std::string(newest_first) + " limit " + std::to_string(most), {}};
  return fitting(*database_, has_it, order);
}

}  // namespace sabath::catalog
