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

/// As Catalog::runs, Catalog::count_runs and Catalog::select.
std::vector<RunRow> listed_runs(Database& database,
                                std::string_view selection,
                                base::WallTime now,
                                const std::vector<std::string>& sort,
                                std::size_t limit);
/// The condition that a run is one of these: as JSON, since there may be very many.
Condition one_of(const std::vector<RunRow>& rows);
RunCounts counts_of(Database& database,
                    std::string_view selection,
                    base::WallTime now,
                    const std::string& perturbation);
std::vector<RunRow> runs_named(Database& database, std::string_view selection, base::WallTime now);

}  // namespace sabath::catalog
