#pragma once

#include <sabath/spec/enum_words.hpp>

#include <string_view>

namespace sabath::spec {

/// `unknown`: the scheduler that should execute it does not know it, and its files say nothing of
/// an end. Only ever in the catalog, never in a run's own files. `imported`: brought in from a
/// table; sabath executed nothing. `stopped`: a stop condition ended it.
enum class RunState { planned, running, ok, failed, interrupted, lost, unknown, imported, stopped };
constexpr auto words_of(RunState) {
  return std::to_array<std::string_view>({"planned",
                                          "running",
                                          "ok",
                                          "failed",
                                          "interrupted",
                                          "lost",
                                          "unknown",
                                          "imported",
                                          "stopped"});
}
inline bool is_final(RunState state) {
  return state != RunState::planned && state != RunState::running && state != RunState::unknown;
}

/// "<recipe>-<YYYYMMDD>-<hhmmss>-<8 letters>"
bool is_run_id(std::string_view text);

}  // namespace sabath::spec
