#pragma once

#include <sabath/spec/enum_words.hpp>
#include <sabath/spec/run_state.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// Event of a run. The end of a run is one of `failed`, `lost` and `finished` (all other ends).
enum class HookEvent { started, failed, finished, lost, diverged };
constexpr auto words_of(HookEvent) {
  return std::to_array<std::string_view>({"started", "failed", "finished", "lost", "diverged"});
}

/// Who fires a hook: `exec` on the node, or the process that indexes the run.
enum class HookPlace { exec, submit };
constexpr auto words_of(HookPlace) {
  return std::to_array<std::string_view>({"exec", "submit"});
}

/// What to do on events of runs. Exactly one of `command`, `post` and `mail` is set.
struct Hook {
  std::vector<std::string> on{};       ///< words of HookEvent
  std::vector<std::string> command{};  ///< an argument vector, with the report on stdin
  std::string post{};                  ///< URL to which the report is posted
  std::string mail{};                  ///< address
  std::string where = "exec";          ///< a word of HookPlace
  std::chrono::seconds timeout{30};

  bool operator==(const Hook&) const = default;
  bool is_on(HookEvent event) const;
  bool is_at(HookPlace place) const { return where == to_string(place); }
  /// For messages: "command notify", "POST to HOST", "mail to ADDRESS". Shows no path of a URL,
  /// which may be a secret.
  std::string label() const;
};

/// What a hook gets about a run.
struct HookReport {
  HookEvent event = HookEvent::started;
  std::string run{};
  std::string recipe{};
  RunState state = RunState::running;
  std::string reason{};  ///< why it did not end well; may be empty
  std::string directory{};
  std::string host{};                      ///< that executes it; empty: not known
  std::optional<std::string> study{};      ///< nothing: it belongs to none
  std::string created{};                   ///< RFC 3339, as the next two
  std::optional<std::string> started{};    ///< nothing: not known
  std::optional<std::string> ended{};      ///< nothing: it has not ended, or when is not known
  std::optional<double> wall_s{};          ///< of an ended run
  std::optional<std::string> reproduce{};  ///< the command that repeats it
  std::string sabath_version{};

  bool operator==(const HookReport&) const = default;
};

/// The event of a run's state; nothing for a state that is none.
std::optional<HookEvent> event_of(RunState state);

nlohmann::ordered_json to_json(const HookReport& report);
HookReport parse_hook_report(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
