#pragma once

#include <sabath/base/digest.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// One run of a study, as it was asked for.
struct StudyPoint {
  std::map<std::string, std::string> set{};  ///< parameters that differ from the recipe, as text
  std::optional<std::uint64_t> seed{};       ///< absent: the run draws its own
  int repetition = 1;                        ///< from 1, among points that are else the same

  bool operator==(const StudyPoint&) const = default;
};

/// study.json: written once, before the first run; a resumed study reads it.
struct StudyPlan {
  std::string study_id{};
  std::string created{};  ///< RFC 3339
  std::string sabath_version{};
  std::string recipe{};  ///< what finds it again: its name or its path
  std::string recipe_name{};
  base::Digest recipe_digest{};
  std::string variant{};
  std::vector<std::string> tags{};
  bool fresh = false;
  bool offline = false;
  int jobs = 1;           ///< runs at a time; 0: as many as fit
  std::string command{};  ///< that makes such a study again
  std::vector<StudyPoint> points{};
  std::optional<std::string> task{};  ///< of the recipe's tasks; nothing: stages without one
  std::optional<std::string> site{};  ///< whose scheduler executes the runs; nothing: this machine
  std::optional<int> pack{};          ///< runs in one job of it; nothing: 1
  std::optional<std::string> stop_when_diverged{};  ///< as in RunPlan

  bool operator==(const StudyPlan&) const = default;
};

nlohmann::ordered_json to_json(const StudyPlan& plan);
StudyPlan parse_study_plan(std::string_view text, const std::string& origin);

/// More runs than this are a mistake rather than a study.
inline constexpr std::uint64_t most_study_runs = 100'000;

/// "7", "1..3" or "1,5,10..12", in that order. Throws Error{usage} for anything else, for a seed
/// that stands twice, and for more than most_study_runs.
std::vector<std::uint64_t> parse_seeds(std::string_view text);

}  // namespace sabath::spec
