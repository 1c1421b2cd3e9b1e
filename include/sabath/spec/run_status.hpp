#pragma once

#include <sabath/spec/job.hpp>
#include <sabath/spec/run_state.hpp>

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sabath::spec {

/// status.json: the current state of a run. Replaced atomically while the run is under way.
struct RunStatus {
  RunState state = RunState::planned;
  int attempt = 0;
  std::string node{};
  int pid = 0;            ///< of `exec`
  std::string process{};  ///< the same as base::ProcessIdentity::text
  std::string stage{};    ///< that runs now, or ran last
  std::string updated{};
  std::string message{};          ///< why it failed, in one line
  std::optional<JobStart> job{};  ///< of a scheduler, that executes it or did last

  bool operator==(const RunStatus&) const = default;
};

nlohmann::ordered_json to_json(const RunStatus& status);
RunStatus parse_run_status(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
