#pragma once

#include <sabath/base/error.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/run_state.hpp>

#include <string_view>

namespace sabath::cli {

/// The exit statuses are the interface: docs/commands/exit-status.md.
enum ExitStatus : int {
  exit_done = 0,
  exit_no = 1,  ///< a negative answer: differs, corrupt, the run's command failed
  exit_usage = 2,
  exit_inconclusive = 3,
  exit_not_comparable = 4,
  exit_not_found = 10,
  exit_integrity = 11,
  exit_transfer = 12,
  exit_environment = 13,
  exit_launch = 14,
  exit_catalog = 15,
  exit_storage = 16,
  exit_access = 17,
  exit_bug = 70,
  exit_interrupted = 130,
};

ExitStatus exit_status(base::ErrorKind kind);
/// The word of a kind of errors in JSON: "not_found".
std::string_view name_of(base::ErrorKind kind);
ExitStatus exit_status(spec::Verdict verdict);
ExitStatus exit_status(spec::RunState state);

}  // namespace sabath::cli
