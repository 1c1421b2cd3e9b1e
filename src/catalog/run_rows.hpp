#pragma once

#include "selection.hpp"

#include <sabath/catalog/catalog.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::catalog {

/// The one order of runs, which @last, ranges, lists and groups share.
constexpr const char* oldest_first = " order by placed, created, id";
constexpr const char* newest_first = " order by placed desc, created desc, id desc";

constexpr const char* run_columns =
    "select run.id, run.recipe, run.state, run.created, run.wall_s, run.node, run.seed, "
    "run.directory, run.batch, run.study, run.message, run.placed, run.executed_by, "
    "(select group_concat(tag || char(0), '') from run_tag where run_tag.run = run.n) from run ";

/// The row at which a statement of run_columns stands.
RunRow read_run(const Database& database, SQLite::Statement& statement);
/// Its further rows.
std::vector<RunRow> read_runs(const Database& database, SQLite::Statement& statement);

/// Moves `path` along with a home that was moved since a row was written: the run's folder was then
/// `written`, which is HOME/runs/ID or HOME/archive/ID. The catalog lies in the present home.
void follow_home(const Database& database, const std::filesystem::path& written, std::string& path);

/// The runs that fit, in this order.
std::vector<RunRow> fitting(Database& database, const Condition& condition, const Condition& order);

/// At most `limit` runs that fit, or all for 0, as Catalog::runs sorts them.
std::vector<RunRow> sorted_runs(Database& database,
                                const Condition& filter,
                                const std::vector<std::string>& sort,
                                std::size_t limit);

/// As Catalog::count_runs, of a selection of terms.
RunCounts counts_of(const Condition& filter, Database& database, const std::string& perturbation);

/// The runs of a selection, oldest first. Throws as Catalog::select.
std::vector<RunRow> runs_named(const Selection& selection,
                               std::string_view text,
                               Database& database,
                               base::WallTime now);

}  // namespace sabath::catalog
