#pragma once

#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_count.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::analysis {

/// Decides which runs count in groups and sides of `compare`, in `report`, `check`, `list`,
/// studies, power and baselines. All of them use this file, so that all have the same number.
///
/// A run counts if it was completed or imported. It does not count if it only made an asset, was
/// made by `explain`, or was perturbed, unless the command names such runs. Of runs that show one
/// execution of cached stages, one counts. With `--by session.NAME` it does not count where the
/// value is unknown. A failed run of a study is "retried" where its point was run again.

/// Runs that a command names: these count for any purpose.
struct NamedRuns {
  std::set<std::string> ids{};      ///< runs named individually: by id, or @last
  bool hybrids = false;             ///< a selection names the tags of `explain`
  bool perturbed = false;           ///< a selection, --by or --across names the parameter
  std::set<std::string> session{};  ///< variables that --by names

  /// Adds a selection as typed, and the runs that it found; an empty one means all runs and names
  /// none.
  void add_selection(std::string_view selection,
                     const std::vector<catalog::RunRow>& found,
                     const catalog::Catalog& catalog);
  /// Returns these runs and those that the keys of --by and --across name.
  NamedRuns with_keys(const std::vector<std::string>& by,
                      const std::set<std::string>& across) const;
};

/// Why each of these runs does not count, in their order; empty: it counts.
std::vector<std::string> why_not_counted(const std::vector<catalog::RunRow>& runs,
                                         const NamedRuns& named,
                                         const catalog::Catalog& catalog);

/// The same of some runs of a selection, as they count among all of its runs.
std::vector<std::string> why_not_counted_of(const std::vector<catalog::RunRow>& some,
                                            std::string_view selection,
                                            base::WallTime now,
                                            const NamedRuns& named,
                                            const catalog::Catalog& catalog);

/// How many runs of a selection count. Reads only those that may not.
spec::RunCount count_selection(std::string_view selection,
                               base::WallTime now,
                               const NamedRuns& named,
                               const catalog::Catalog& catalog);

std::vector<catalog::RunRow> counted_runs(const std::vector<catalog::RunRow>& runs,
                                          const NamedRuns& named,
                                          const catalog::Catalog& catalog);

}  // namespace sabath::analysis
