#include "failed_rank.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/text/regex.hpp>

#include <fmt/format.h>

#include <array>

#include <sys/wait.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

/// Starters report at the end; what all ranks wrote before need not be read.
constexpr std::size_t last_bytes = std::size_t{1} << 20U;

/// Groups `rank`, `node`, and `code` of an exit or else `why`. A line without a node names none.
constexpr std::array forms{
    // sabath
    R"((?m)^sabath: rank (?<rank>\d+) on (?<node>\S+): (?:exited with status (?<code>\d+)|was killed by (?<why>\w+))$)",
    // srun of Slurm
    R"((?m)^srun: error: (?<node>\S+): tasks? (?<rank>[0-9,-]+): (?:Exited with exit code (?<code>\d+)|(?<why>[A-Z][A-Za-z ()]+))$)",
    // mpirun of Open MPI 4, prterun of Open MPI 5
    R"((?m)^ *Process name: \[.*[,\]](?<rank>\d+)\]\n *Exit code: +(?<code>\d+)$)",
    R"((?m)rank (?<rank>\d+) with PID \d+ on node (?<node>\S+)\s+exited on\s+(?<why>signal \d+ \([^)\n]*\)))"};

std::string group_of(const base::Regex& regex, const char* name) {
  for (const int number : regex.groups_named(name)) {
    if (const auto text = regex.group(number)) return std::string(*text);
  }
  return {};
}

}  // namespace

std::string failed_rank_line(std::string_view rank, std::string_view node, int status) {
  const std::string end = WIFEXITED(status)
                              ? fmt::format("exited with status {}", WEXITSTATUS(status))
                              : "was killed by " + base::signal_name(WTERMSIG(status));
  return fmt::format("sabath: rank {} on {}: {}\n", rank, node, end);
}

std::string failed_rank(std::string_view errors) {
  for (const char* form : forms) {
    base::Regex regex(form);
    if (regex.search(errors) != base::Regex::Outcome::found) continue;
    const std::string rank = group_of(regex, "rank");
    const bool is_one = rank.find_first_of(",-") == std::string::npos;
    const std::string node = group_of(regex, "node");
    const std::string code = group_of(regex, "code");
    return (is_one ? "rank " : "ranks ") + rank + (node.empty() ? "" : " on " + node) +
           (code.empty() ? ": " + group_of(regex, "why") : " exited with status " + code);
  }
  return {};
}

std::string how_it_ended(const spec::PlannedStage& stage,
                         const std::optional<planning::ParallelPrefix>& prefix,
                         const base::ProcessResult& process,
                         const fs::path& folder) {
  if (!prefix) return stage.argv.front() + " " + process.describe();
  const std::string starter =
      prefix->argv.empty() ? "" : fs::path(prefix->argv.front()).filename().string();
  const bool by_itself =
      process.end == base::ProcessEnd::exited || process.end == base::ProcessEnd::signaled;
  const std::string rank = by_itself
                               ? failed_rank(base::read_file_end(folder / "stderr.log", last_bytes))
                               : std::string();
  if (starter.empty())
    return rank.empty() ? "the ranks of " + stage.argv.front() + ": " + process.describe() : rank;
  if (rank.empty()) return starter + ", which started the ranks, " + process.describe();
  return rank + " (" + starter + " " + process.describe() + ")";
}

}  // namespace sabath::execution
