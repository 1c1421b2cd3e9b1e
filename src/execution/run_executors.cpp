#include "rank/rank_files.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/process/process_table.hpp>
#include <sabath/execution/lost_record.hpp>
#include <sabath/execution/run_executors.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/heartbeat.hpp>
#include <sabath/home/run_files.hpp>

#include <chrono>
#include <exception>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include <signal.h>
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
  // The process may end meanwhile, which ends the line too.
  for (std::string argument; std::getline(file, argument, '\0');)
    arguments.push_back(argument);
  return arguments;
}

/// A path as the process sees it.
fs::path seen_by(int pid, const fs::path& path) {
  return path.is_absolute() ? path : fs::path("/proc") / std::to_string(pid) / "cwd" / path;
}

struct Executor {
  int pid = 0;
  fs::path run{};
};

/// Another user could give a process this name, with a plan of his own.
bool is_own_process(int pid) {
  struct stat status {};
  return ::stat(("/proc/" + std::to_string(pid)).c_str(), &status) == 0 &&
         status.st_uid == ::geteuid();
}

/// Processes "sabath exec DIRECTORY ..." of this user on this machine.
std::vector<Executor> executors_here() {
  std::vector<Executor> executors;
  for (const int pid : base::numbered_entries("/proc")) {
    if (!is_own_process(pid)) continue;
    const std::vector<std::string> arguments = arguments_of(pid);
    if (arguments.size() >= 3 && arguments[1] == "exec")
      executors.push_back({pid, seen_by(pid, arguments[2])});
  }
  return executors;
}

bool is_same_folder(const fs::path& a, const fs::path& b) {
  std::error_code code;
  return fs::equivalent(a, b, code);
}

/// Says whether the process is a `sabath exec` of this run: of its folder, or of a batch with it.
/// A status that came from elsewhere may name any process.
bool executes(int pid, const fs::path& run) {
  if (!is_own_process(pid)) return false;
  const std::vector<std::string> arguments = arguments_of(pid);
  if (arguments.size() < 3 || arguments[1] != "exec") return false;
  if (arguments[2] != "--batch") return is_same_folder(seen_by(pid, arguments[2]), run);
  try {
    const auto batch = home::BatchFiles(seen_by(pid, arguments.at(3))).read_plan();
    return batch.task_of(run.filename().string()) != 0 &&
           is_same_folder(batch.runs_directory, run.parent_path());
  } catch (const std::exception&) {
    return false;  // its plan cannot be read
  }
}

/// The process that executes the run's folder, by the table of processes.
std::optional<launch::JobId> executor_by_table(const std::vector<Executor>& here,
                                               const fs::path& run) {
  for (const Executor& executor : here) {
    if (executor.run.filename() == run.filename() && is_same_folder(executor.run, run))
      return base::ProcessIdentity::of(executor.pid).text();
  }
  return std::nullopt;
}

/// For a run whose machine is said to be gone.
void close_as_lost(const home::RunFiles& files,
                   spec::RunStatus status,
                   std::chrono::nanoseconds silence) {
  status.state = spec::RunState::lost;
  status.message = "it was given up: on " + status.node + " nobody had written to it for " +
                   base::format_duration(silence);
  try {
    write_lost_record(files, status);
  } catch (const std::exception&) {
    // Its remains cannot be read: the run is lost all the same.
  }
  files.write_status(status);
}

/// Returns the process that executes an open run by its status; nothing where none does, or not
/// yet.
std::optional<launch::JobId> executor_by_status(const home::RunFiles& files,
                                                const spec::RunStatus& status,
                                                bool take_over) {
  const auto process = base::ProcessIdentity::parse(status.process);
  if (!process || spec::is_final(status.state)) return std::nullopt;
  const auto liveness = base::liveness_of(*process);
  if (liveness == base::Liveness::unknown) {
    std::string sign;
    if (take_over) {
      const auto silence = home::heartbeat_age(files.directory());
      if (silence >= home::heartbeat_timeout) {
        close_as_lost(files, status, silence);
        return std::nullopt;
      }
      sign = ": its last heartbeat was " + base::format_duration(silence) + " ago";
    }
    throw Error(ErrorKind::launch,
                "run " + files.directory().filename().string() + " may still be executed on " +
                    status.node + ", as process " + std::to_string(status.pid) + sign,
                "go on there, or once 'sabath list' on that machine says how it ended; where that "
                "machine is gone, with --take-over");
  }
  const bool runs = status.state == spec::RunState::running &&
                    liveness == base::Liveness::running &&
                    executes(process->pid, files.directory());
  return runs ? std::optional(process->text()) : std::nullopt;
}

/// Returns nothing for a status that a power cut took.
std::optional<spec::RunStatus> status_of(const home::RunFiles& files) {
  try {
    return files.read_status();
  } catch (const Error&) {
    return std::nullopt;
  }
}

constexpr auto grace = std::chrono::seconds(2);
constexpr auto longest_wait = std::chrono::seconds(5);
constexpr int most_rounds = 3;
constexpr auto look_again = std::chrono::milliseconds(20);

/// Returns the directory of the stage that a process was started for; empty for other processes and
/// other users.
std::string stage_folder_of(int pid) {
  if (!is_own_process(pid)) return {};
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string head = std::string(stage_folder_variable) + "=";
  // The process may end meanwhile, which ends the line, too.
  for (std::string variable; std::getline(file, variable, '\0');) {
    if (variable.starts_with(head)) return variable.substr(head.size());
  }
  return {};
}

/// A copy of the run's folder elsewhere is another run.
bool is_of_run(int pid, const fs::path& run) {
  const std::string folder = stage_folder_of(pid);
  const std::string below = "/" + run.filename().string() + "/";
  const std::size_t at = folder.find(below + "attempts/");
  std::error_code code;
  return at != std::string::npos &&
         fs::equivalent(folder.substr(0, at + below.size() - 1), run, code);
}

bool has_ended(int pid) {
  const auto stat = base::process_stat(pid);
  return !stat || stat->has_ended();
}

std::vector<int> processes_of(const fs::path& run) {
  std::vector<int> processes;
  for (const int pid : base::numbered_entries("/proc")) {
    if (is_of_run(pid, run) && !has_ended(pid)) processes.push_back(pid);
  }
  return processes;
}

void send(const std::vector<int>& processes, const fs::path& run, int signal) {
  for (const int pid : processes) {
    if (is_of_run(pid, run)) ::kill(pid, signal);
  }
}

/// Processes that are left when the time is over.
std::vector<int> wait_for_end(const fs::path& run, std::chrono::nanoseconds patience) {
  const auto begun = std::chrono::steady_clock::now();
  while (true) {
    std::vector<int> left = processes_of(run);
    if (left.empty() || std::chrono::steady_clock::now() - begun > patience) return left;
    std::this_thread::sleep_for(look_again);
  }
}

}  // namespace

std::map<std::string, launch::JobId> executors_of(const std::vector<fs::path>& runs,
                                                  bool take_over) {
  std::map<std::string, launch::JobId> executors;
  std::optional<std::vector<Executor>> here;
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
    if (!here) here = executors_here();
    if (auto found = executor_by_table(*here, directory))
      executors.emplace(directory.filename(), *std::move(found));
  }
  return executors;
}

std::map<std::string, spec::ResourceSlots> slots_taken_here() {
  std::map<std::string, spec::ResourceSlots> places;
  for (const Executor& executor : executors_here()) {
    try {
      const spec::RunPlan plan = home::RunFiles(executor.run).read_plan();
      if (plan.slots) places.emplace(plan.run_id, *plan.slots);
    } catch (const Error&) {
      continue;  // removed meanwhile, or of another version
    }
  }
  return places;
}

std::size_t end_leftovers(const fs::path& run) {
  if (is_of_run(::getpid(), run)) return 0;
  const std::vector<int> found = processes_of(run);
  if (found.empty()) return 0;
  send(found, run, SIGTERM);
  // Finds processes that were started meanwhile, too. A process that is restarted without end is
  // left.
  std::vector<int> left = wait_for_end(run, grace);
  for (int round = 0; !left.empty() && round < most_rounds; ++round) {
    send(left, run, SIGKILL);
    left = wait_for_end(run, longest_wait);
  }
  return found.size();
}

}  // namespace sabath::execution
