#include "exit_status.hpp"

namespace sabath::cli {

ExitStatus exit_status(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::usage:
      return exit_usage;
    case base::ErrorKind::not_found:
      return exit_not_found;
    case base::ErrorKind::integrity:
      return exit_integrity;
    case base::ErrorKind::transfer:
      return exit_transfer;
    case base::ErrorKind::environment:
      return exit_environment;
    case base::ErrorKind::launch:
      return exit_launch;
    case base::ErrorKind::catalog:
      return exit_catalog;
    case base::ErrorKind::storage:
      return exit_storage;
    case base::ErrorKind::access:
      return exit_access;
    case base::ErrorKind::interrupted:
      return exit_interrupted;
    case base::ErrorKind::internal:
      return exit_bug;
  }
  return exit_bug;
}

ExitStatus exit_status(spec::Verdict verdict) {
  switch (verdict) {
    case spec::Verdict::pass:
      return exit_done;
    case spec::Verdict::fail:
      return exit_no;
    case spec::Verdict::inconclusive:
      return exit_inconclusive;
    case spec::Verdict::not_comparable:
      return exit_not_comparable;
  }
  return exit_bug;
}

ExitStatus exit_status(spec::RunState state) {
  switch (state) {
    case spec::RunState::ok:
    case spec::RunState::imported:
      return exit_done;
    case spec::RunState::failed:
      return exit_no;
    case spec::RunState::interrupted:
      return exit_interrupted;
    case spec::RunState::planned:
    case spec::RunState::running:
    case spec::RunState::lost:
    case spec::RunState::unknown:
      return exit_launch;
  }
  return exit_bug;
}

}  // namespace sabath::cli
