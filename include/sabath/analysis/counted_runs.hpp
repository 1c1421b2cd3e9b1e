#pragma once

#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::analysis {

/// Which runs count: in groups and sides of `compare`, in `report`, `check`, `list`, studies, power
/// and baselines. All of them ask this file, so that all have the same number.
///
/// A run counts that ended well or was imported. It does not count where it only made an asset,
/// was made by `explain`, or was perturbed, unless the command names such runs. With `--by
/// session.NAME` it does not count where the value is unknown. A run of a study that did not end
/// well has the reason "retried" where its point was run again.

/// What the words of a command name: these count whatever they were made for.
struct NamedRuns {
  std::set<std::string> ids{};      ///< runs that were named one by one: by an id, or @last
  bool hybrids = false;             ///< a selection names the tags of `explain`
  bool perturbed = false;           ///< a selection, --by or --across names the parameter
  std::set<std::string> session{};  ///< variables that --by names

  /// A selection as it was typed, and what it found; an empty one is all runs and names none.
  void add_selection(std::string_view selection, const std::vector<catalog::RunRow>& found);
  /// Keys of --by.
  void add_groups(const std::vector<std::string>& keys);
  /// Keys of --across.
  void add_keys(const std::vector<std::string>& keys);
};

/// What decides whether a run counts.
struct RunStanding {
  spec::RunState state = spec::RunState::planned;
  std::vector<std::string> tags{};
  std::string perturbation{};  ///< the value of its parameter; empty or "0": none
  bool retried = false;        ///< another run of its study's point is in its place
};

/// Why a run does not count; empty: it counts.
std::string why_not_counted(const RunStanding& run, bool hybrids, bool perturbed);

/// The same for each of these runs, in their order.
std::vector<std::string> why_not_counted(const std::vector<catalog::RunRow>& runs,
                                         const NamedRuns& named,
                                         const catalog::Catalog& catalog);

/// Those that count, in their order.
std::vector<catalog::RunRow> counted_runs(const std::vector<catalog::RunRow>& runs,
                                          const NamedRuns& named,
                                          const catalog::Catalog& catalog);

}  // namespace sabath::analysis
