#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

struct RunRecord;

/// Runs that do not count, for one reason.
struct LeftOut {
  std::string reason{};
  std::uint64_t runs = 0;

  bool operator==(const LeftOut&) const = default;
};

/// How many runs count, and why the others do not.
struct RunCount {
  std::uint64_t all = 0;
  std::uint64_t counted = 0;
  std::vector<LeftOut> left_out{};  ///< by reason

  bool operator==(const RunCount&) const = default;
};

/// Of the reason of each run, empty where it counts.
RunCount count_runs(const std::vector<std::string>& reasons);

/// "12 of 20 runs count; left out: 6 made by explain, 2 failed".
std::string count_text(const RunCount& count);

nlohmann::ordered_json to_json(const RunCount& count);

/// Ids of the runs that executed the stages of the declared metrics; without such metrics, those of
/// all metrics, or all stages. Two runs with equal ids show one execution.
std::set<std::string> executed_by(const RunRecord& record);

/// The run that executed a stage of this one: another where the stage was reused.
const std::string& executor_of(const RunRecord& record, std::string_view stage);

/// Why a run was made: somebody requested it, or another command needed it.
enum class RunPurpose { requested, asset, explanation };

/// Whether a tag decides what a run is: "asset:NAME", "task:NAME", "explain", and the tag of a
/// The tag of a run that came in a crate: it was executed elsewhere.
inline constexpr std::string_view imported_crate_tag = "imported-crate";

/// hybrid of `explain`. Nobody may give or take it later.
bool is_reserved_tag(std::string_view tag);

/// What the tags of a run say. "asset:NAME" marks a run that only made an asset; no user can give
/// such a tag. A hybrid of `explain` has the tags "explain" and "hybrid-" with 16 hexadecimal
/// digits: a user's own tag "hybrid-model" is none.
RunPurpose purpose_of(const std::vector<std::string>& tags);

}  // namespace sabath::spec
