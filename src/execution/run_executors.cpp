#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/process/process_table.hpp>
#include <sabath/execution/lost_record.hpp>
#include <sabath/execution/run_executors.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/signs_of_life.hpp>

#include <exception>
#include <fstream>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

std::vector<std::string> arguments_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  // The process may end meanwhile, which ends the line, too.
  for (std::string argument; std::getline(file, argument, '\0');)
    arguments.push_back(argument);
  return arguments;
}

struct Executor {
  int pid = 0;
  fs::path run{};
};

/// A stranger could call a process so, with a plan of his own.
bool is_own_process(int pid) {
  struct stat status {};
  return ::stat(("/proc/" + std::to_string(pid)).c_str(), &status) == 0 &&
         status.st_uid == ::geteuid();
}

/// This user's processes "sabath exec DIRECTORY ..." of this machine.
std::vector<Executor> executors_here() {
  std::vector<Executor> executors;
  for (const int pid : base::numbered_entries("/proc")) {
    if (!is_own_process(pid)) continue;
    const std::vector<std::string> arguments = arguments_of(pid);
    if (arguments.size() >= 3 && arguments[1] == "exec") executors.push_back({pid, arguments[2]});
  }
  return executors;
}

/// By run id: ids are unique, but a folder has many names.
std::map<std::string, launch::JobId> executed_here() {
  std::map<std::string, launch::JobId> executed;
  for (const Executor& executor : executors_here())
    executed[executor.run.filename()] = base::ProcessIdentity::of(executor.pid).text();
  return executed;
}

/// Of a run whose machine is said to be gone.
void close_as_lost(const home::RunFiles& files,
                   spec::RunStatus status,
                   std::chrono::nanoseconds silence) {
  status.state = spec::RunState::lost;
  status.message = "it was given up: on " + status.node + " nobody had written to it for " +
                   base::format_duration(silence);
  try {
    write_lost_record(files, status);
  } catch (const std::exception&) {
    // What it left cannot be read: it is lost all the same.
  }
  files.write_status(status);
}

/// Who executes an open run by what its status says; nothing: nobody does, or not yet.
std::optional<launch::JobId> executor_by_status(const home::RunFiles& files,
                                                const spec::RunStatus& status,
                                                bool take_over) {
  const auto process = base::ProcessIdentity::parse(status.process);
  if (!process || spec::is_final(status.state)) return std::nullopt;
  const auto liveness = base::liveness_of(*process);
  if (liveness == base::Liveness::unknown) {
    std::string sign;
    if (take_over) {
      const auto silence = home::silence_of(files.directory());
      if (silence >= home::longest_silence) {
        close_as_lost(files, status, silence);
        return std::nullopt;
      }
      sign = ": its last sign of life was " + base::format_duration(silence) + " ago";
    }
    throw Error(ErrorKind::launch,
                "run " + files.directory().filename().string() + " may still be executed on " +
                    status.node + ", as process " + std::to_string(status.pid) + sign,
                "go on there, or once 'sabath list' on that machine says how it ended; where that "
                "machine is gone, with --take-over");
  }
  const bool runs = status.state == spec::RunState::running && liveness == base::Liveness::running;
  return runs ? std::optional(process->text()) : std::nullopt;
}

/// Nothing for one that a power cut took.
std::optional<spec::RunStatus> status_of(const home::RunFiles& files) {
  try {
    return files.read_status();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::map<std::string, launch::JobId> executors_of(const std::vector<fs::path>& runs,
                                                  bool take_over) {
  std::map<std::string, launch::JobId> executors;
  std::optional<std::map<std::string, launch::JobId>> here;
  for (const fs::path& directory : runs) {
    const home::RunFiles files(directory);
    std::error_code code;
    if (fs::exists(files.record(), code)) continue;
    const auto status = status_of(files);
    auto executor = status ? executor_by_status(files, *status, take_over) : std::nullopt;
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

std::map<std::string, spec::Place> places_taken_here() {
  std::map<std::string, spec::Place> places;
  for (const Executor& executor : executors_here()) {
    try {
      const spec::RunPlan plan = home::RunFiles(executor.run).read_plan();
      if (plan.place) places.emplace(plan.run_id, *plan.place);
    } catch (const Error&) {
      continue;  // removed meanwhile, or of another version
    }
  }
  return places;
}

}  // namespace sabath::execution
