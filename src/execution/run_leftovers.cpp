#include "rank/rank_files.hpp"

#include <sabath/base/process/process_table.hpp>
#include <sabath/execution/run_leftovers.hpp>

#include <chrono>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

constexpr auto grace = std::chrono::seconds(2);
constexpr auto longest_wait = std::chrono::seconds(5);
constexpr int most_rounds = 3;
constexpr auto look_again = std::chrono::milliseconds(20);

/// The folder of the stage that a process was started for; empty for others and those of others.
std::string stage_folder_of(int pid) {
  const std::string place = "/proc/" + std::to_string(pid);
  struct stat status {};
  if (::stat(place.c_str(), &status) != 0 || status.st_uid != ::geteuid()) return {};
  std::ifstream file(place + "/environ", std::ios::binary);
  const std::string head = std::string(stage_folder_variable) + "=";
  // The process may end meanwhile, which ends the line, too.
  for (std::string variable; std::getline(file, variable, '\0');) {
    if (variable.starts_with(head)) return variable.substr(head.size());
  }
  return {};
}

bool is_of_run(int pid, const std::string& run_id) {
  return stage_folder_of(pid).find("/" + run_id + "/attempts/") != std::string::npos;
}

bool has_ended(int pid) {
  const auto stat = base::process_stat(pid);
  return !stat || stat->has_ended();
}

std::vector<int> processes_of(const std::string& run_id) {
  std::vector<int> processes;
  for (const int pid : base::numbered_entries("/proc")) {
    if (is_of_run(pid, run_id) && !has_ended(pid)) processes.push_back(pid);
  }
  return processes;
}

void send(const std::vector<int>& processes, const std::string& run_id, int signal) {
  for (const int pid : processes) {
    if (is_of_run(pid, run_id)) ::kill(pid, signal);
  }
}

/// What is left when the time is over.
std::vector<int> wait_for_end(const std::string& run_id, std::chrono::nanoseconds patience) {
  const auto begun = std::chrono::steady_clock::now();
  while (true) {
    std::vector<int> left = processes_of(run_id);
    if (left.empty() || std::chrono::steady_clock::now() - begun > patience) return left;
    std::this_thread::sleep_for(look_again);
  }
}

}  // namespace

std::size_t end_leftovers(const std::string& run_id) {
  if (is_of_run(::getpid(), run_id)) return 0;
  const std::vector<int> found = processes_of(run_id);
  if (found.empty()) return 0;
  send(found, run_id, SIGTERM);
  // A process that was started meanwhile is found, too; one that is started again and again is
  // left.
  std::vector<int> left = wait_for_end(run_id, grace);
  for (int round = 0; !left.empty() && round < most_rounds; ++round) {
    send(left, run_id, SIGKILL);
    left = wait_for_end(run_id, longest_wait);
  }
  return found.size();
}

}  // namespace sabath::execution
