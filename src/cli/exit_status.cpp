#include "exit_status.hpp"

#include <algorithm>
#include <array>

namespace sabath::cli {
namespace {

struct Kind {
  base::ErrorKind kind{};
  std::string_view name{};
  ExitStatus status{};
};

using base::ErrorKind;
constexpr std::array<Kind, 11> kinds{{{ErrorKind::usage, "usage", exit_usage},
                                      {ErrorKind::not_found, "not_found", exit_not_found},
                                      {ErrorKind::integrity, "integrity", exit_integrity},
                                      {ErrorKind::transfer, "transfer", exit_transfer},
                                      {ErrorKind::environment, "environment", exit_environment},
                                      {ErrorKind::launch, "launch", exit_launch},
                                      {ErrorKind::catalog, "catalog", exit_catalog},
                                      {ErrorKind::storage, "storage", exit_storage},
                                      {ErrorKind::access, "access", exit_access},
                                      {ErrorKind::interrupted, "interrupted", exit_interrupted},
                                      {ErrorKind::internal, "internal", exit_bug}}};

const Kind& row_of(ErrorKind kind) {
  return *std::find_if(
      kinds.begin(), kinds.end() - 1, [&](const Kind& row) { return row.kind == kind; });
}

}  // namespace

ExitStatus exit_status(ErrorKind kind) {
  return row_of(kind).status;
}

std::string_view name_of(ErrorKind kind) {
  return row_of(kind).name;
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
