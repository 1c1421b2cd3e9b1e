#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace sabath::spec {

/// `unknown`: the scheduler that should execute it does not know it, and its files say nothing of
/// an end. Only ever in the catalog, never in a run's own files. `imported`: brought in from a
/// table; sabath executed nothing.
enum class RunState { planned, running, ok, failed, interrupted, lost, unknown, imported };
std::string_view to_string(RunState state);
constexpr auto all_values(RunState) {
  return std::array{RunState::planned,
                    RunState::running,
                    RunState::ok,
                    RunState::failed,
                    RunState::interrupted,
                    RunState::lost,
                    RunState::unknown,
                    RunState::imported};
}
std::optional<RunState> parse_run_state(std::string_view text);
inline bool is_final(RunState state) {
  return state != RunState::planned && state != RunState::running && state != RunState::unknown;
}

/// "<recipe>-<YYYYMMDD>-<hhmmss>-<8 letters>"
bool is_run_id(std::string_view text);

}  // namespace sabath::spec
