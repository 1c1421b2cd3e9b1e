#include "run_executors.hpp"

#include <sabath/app/run_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process_identity.hpp>
#include <sabath/base/process_table.hpp>

#include <fstream>
#include <iterator>
#include <optional>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

std::vector<std::string> arguments_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> arguments;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\0', from), text.size());
    arguments.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return arguments;
}

/// By run id: what a process "sabath exec DIRECTORY" of this machine has.
std::map<std::string, launch::JobId> executed_here() {
  std::map<std::string, launch::JobId> executed;
  for (const int pid : base::numbered_entries("/proc")) {
    const std::vector<std::string> arguments = arguments_of(pid);
    if (arguments.size() == 3 && arguments[1] == "exec") {
      // Ids are unique, but a folder has many names.
      executed[fs::path(arguments[2]).filename()] = base::ProcessIdentity::of(pid).text();
    }
  }
  return executed;
}

/// Who executes an open run by what its status says; nothing: nobody does, or not yet.
std::optional<launch::JobId> executor_by_status(const RunFiles& files,
                                                const spec::RunStatus& status) {
  const auto process = base::ProcessIdentity::parse(status.process);
  if (!process || spec::is_final(status.state)) return std::nullopt;
  const auto liveness = base::liveness_of(*process);
  if (liveness == base::Liveness::unknown) {
    throw Error(ErrorKind::launch,
                "run " + files.directory().filename().string() + " may still be executed on " +
                    status.node + ", as process " + std::to_string(status.pid),
                "go on there, or once 'sabath list' on that machine says how it ended");
  }
  const bool runs = status.state == spec::RunState::running && liveness == base::Liveness::running;
  return runs ? std::optional(process->text()) : std::nullopt;
}

/// Nothing for one that a power cut took.
std::optional<spec::RunStatus> status_of(const RunFiles& files) {
  try {
    return files.read_status();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::map<std::string, launch::JobId> executors_of(const std::vector<fs::path>& runs) {
  std::map<std::string, launch::JobId> executors;
  std::optional<std::map<std::string, launch::JobId>> here;
  for (const fs::path& directory : runs) {
    const RunFiles files(directory);
    std::error_code code;
    if (fs::exists(files.record(), code)) continue;
    const auto status = status_of(files);
    auto executor = status ? executor_by_status(files, *status) : std::nullopt;
    if (executor) {
      executors.emplace(directory.filename(), *std::move(executor));
      continue;
    }
    if (!here) here = executed_here();
    const auto found = here->find(directory.filename());
    if (found != here->end()) executors.emplace(directory.filename(), found->second);
  }
  return executors;
}

}  // namespace sabath::app
