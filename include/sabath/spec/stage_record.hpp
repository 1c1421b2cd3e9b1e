#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// Begin of OutputRecord::kept where the file changed after it was hashed.
inline constexpr std::string_view outdated_begin = "hashed only: it was changed ";
inline constexpr std::string_view changed_since_hashed =
    "hashed only: it was changed after it was hashed";
inline constexpr std::string_view changed_since_stage =
    "hashed only: it was changed after its stage had ended";
static_assert(changed_since_hashed.starts_with(outdated_begin));
static_assert(changed_since_stage.starts_with(outdated_begin));

struct OutputRecord {
  std::string stage{};
  std::string path{};  ///< in the output folder of the stage
  std::uint64_t size_bytes = 0;
  base::Digest digest{};
  /// "cache": an object of the cache has the same bytes; else why it was only hashed. Nothing: of
  /// an earlier sabath.
  std::optional<std::string> kept{};
  /// Of the file with the digests of its arrays' values, chunk by chunk; nothing: there is none.
  std::optional<base::Digest> trees{};
  /// What it was when its stage had ended, where a later stage of the run changed it: `digest` is
  /// then what it was when the run ended.
  std::optional<base::Digest> as_made{};
  /// The folder ("model/") or pattern that declares it; nothing: it is declared by its path.
  std::optional<std::string> part_of{};

  /// Changed by the run itself, with nothing known of what it became: in records of earlier
  /// versions, and of runs that were interrupted.
  bool is_outdated() const;

  bool operator==(const OutputRecord&) const = default;
};

/// A try of a stage that failed and was followed by another.
struct StageTry {
  std::string started{};
  double wall_s = 0;
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::string message{};  ///< how it ended
  std::string reason{};   ///< what the recipe names for which it was tried again

  bool operator==(const StageTry&) const = default;
};

struct StageRecord {
  std::string name{};
  std::string state{};  ///< "ok", "failed", "stopped" (by a stop condition), "interrupted",
                        ///< "skipped" (one that it needs failed, or the run was interrupted or
                        ///< stopped), "reused" (from the cache), "not_due"
  std::vector<std::string> argv{};
  std::string started{};
  double wall_s = 0;
  double user_s = 0;
  double system_s = 0;
  std::uint64_t max_rss_bytes = 0;
  std::optional<int> exit_code{};
  std::optional<int> signal{};
  std::string message{};   ///< how it ended, where it did not end well; why it did not run
  std::string log_tail{};  ///< last lines of its error output, where it did not end well
  std::string cache_key{};
  std::string made_by_run{};  ///< for "reused": the run and host that made the outputs
  std::string made_on_host{};
  int leftovers = 0;  ///< processes it left behind, that were ended
  std::uint64_t bad_metric_lines = 0;
  /// Hardware threads that it was bound to. Nothing: all of the run's, with no stage beside it.
  std::optional<std::vector<int>> cpus{};
  std::optional<std::vector<std::string>> gpus{};  ///< GPUs that it had to itself.
  std::optional<std::vector<StageTry>> tries{};    ///< Failed tries before the last one.
  std::optional<std::string> variant{};            ///< As in PlannedStage.
  std::optional<std::vector<std::string>>
      prefix{};                               ///< What started its ranks. Nothing: it is one.
  std::optional<std::string> not_reusable{};  ///< Why a cached stage was not kept for reuse.
  /// Attempts that it continued. Their metrics count as its own, but not their time.
  std::optional<int> earlier_attempts{};

  bool operator==(const StageRecord&) const = default;
};

}  // namespace sabath::spec
