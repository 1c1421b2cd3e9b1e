#include "group_values.hpp"

#include <sabath/analysis/compare_pair.hpp>
#include <sabath/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using catalog::RunRow;
using spec::Verdict;

/// A pair may differ in the keys of groups; "param.rate" is called "rate" there.
compare::Options options_of(const GroupsRequest& request,
                            spec::Rung rung,
                            const std::string& required) {
  compare::Options options;
  options.require = rung;
  if (!request.require)
    options.require_from = required.ends_with("by the recipe") ? "the recipe" : "default";
  options.tolerance = request.tolerance;
  options.across = request.across;
  options.across.insert(request.by.begin(), request.by.end());
  constexpr std::string_view prefix = "param.";
  const std::set<std::string> keys = options.across;
  for (const std::string& key : keys) {
    if (key.starts_with(prefix)) options.across.insert(key.substr(prefix.size()));
  }
  return options;
}

/// INCONCLUSIVE for a run whose files are gone. Throws where files were changed.
spec::Comparison compared(const RunRow& a, const RunRow& b, const compare::Options& options) {
  try {
    return compare_pair(a.directory, b.directory, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found) throw;
    spec::Comparison gone;
    gone.result = Verdict::inconclusive;
    gone.reason = error.what();
    return gone;
  }
}

}  // namespace

void compare_in_full(const std::vector<RunRow>& runs,
                     const GroupsRequest& request,
                     spec::Rung rung,
                     spec::GroupComparison& comparison) {
  const bool is_open =
      comparison.result == Verdict::pass || comparison.result == Verdict::inconclusive;
  if (!is_open || comparison.groups.size() < 2) return;
  std::vector<const RunRow*> whole;
  for (const RunRow& run : runs) {
    if (run.state == spec::RunState::ok) whole.push_back(&run);
  }
  if (whole.size() < 2) return;
  const std::size_t count = std::min(whole.size(), most_full_pairs + 1);
  const compare::Options options = options_of(request, rung, comparison.required);
  std::string undecided;
  for (std::size_t i = 1; i < count; ++i) {
    const spec::Comparison pair = compared(*whole.front(), *whole[i], options);
    const std::string text =
        fmt::format("{} and {}, compared whole: {}", whole.front()->id, whole[i]->id, pair.reason);
    if (pair.result == Verdict::fail) {
      comparison.result = Verdict::fail;
      comparison.reason = text;
      return;
    }
    if (pair.result != Verdict::pass && undecided.empty()) undecided = text;
  }
  if (comparison.result == Verdict::inconclusive) return;
  if (!undecided.empty()) {
    comparison.result = Verdict::inconclusive;
    comparison.reason = undecided;
  } else if (count < whole.size()) {
    comparison.result = Verdict::inconclusive;
    comparison.reason = fmt::format(
        "{} of {} runs were compared whole with {} and hold {}; the others agree in their "
        "judged values",
        count - 1,
        whole.size() - 1,
        whole.front()->id,
        spec::to_string(rung));
  } else {
    comparison.reason =
        fmt::format("{} in all steps and outputs of {} with {}; {}",
                    spec::to_string(rung),
                    whole.front()->id,
                    count == 2 ? "the other" : fmt::format("each of {} others", count - 1),
                    comparison.reason);
  }
}

}  // namespace sabath::analysis
