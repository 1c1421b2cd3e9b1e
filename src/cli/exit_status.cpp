#include "exit_status.hpp"

#include <algorithm>
#include <array>
#include <utility>

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

constexpr std::array<std::pair<spec::Verdict, ExitStatus>, 4> verdicts{
    {{spec::Verdict::pass, exit_done},
     {spec::Verdict::fail, exit_no},
     {spec::Verdict::inconclusive, exit_inconclusive},
     {spec::Verdict::not_comparable, exit_not_comparable}}};

/// Of all other states nobody knows the end.
constexpr std::array<std::pair<spec::RunState, ExitStatus>, 5> states{
    {{spec::RunState::ok, exit_done},
     {spec::RunState::imported, exit_done},
     {spec::RunState::failed, exit_no},
     {spec::RunState::stopped, exit_no},
     {spec::RunState::interrupted, exit_interrupted}}};

const Kind& row_of(ErrorKind kind) {
  const auto found = std::ranges::find(kinds, kind, &Kind::kind);
  return found == kinds.end() ? kinds.back() : *found;
}

template <class Table, class Key>
ExitStatus status_in(const Table& table, Key key, ExitStatus otherwise) {
  const auto found = std::ranges::find(table, key, &Table::value_type::first);
  return found == table.end() ? otherwise : found->second;
}

}  // namespace

ExitStatus exit_status(ErrorKind kind) {
  return row_of(kind).status;
}

std::string_view name_of(ErrorKind kind) {
  return row_of(kind).name;
}

ExitStatus exit_status(spec::Verdict verdict) {
  return status_in(verdicts, verdict, exit_bug);
}

ExitStatus exit_status(spec::RunState state) {
  return status_in(states, state, exit_launch);
}

}  // namespace sabath::cli
