#include "rank_files.hpp"

#include "host_facts.hpp"
#include "record/usage_sums.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/execution/execute_copies.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/run_record.hpp>

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <sys/socket.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

constexpr const char* variables_name = ".variables";
constexpr std::string_view node_head = "node-";
constexpr std::string_view tail = ".json";

/// Variables of rank starters: who the ranks are, and how they find one another.
constexpr std::array of_starters{
    "OMPI_", "PMI", "PRTE_", "SLURM", "MPI_", "MV2_", "HYDRA_", "I_MPI_"};

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

/// Returns a port that is free at this moment; 0 where none is.
int free_port() {
  const base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (!fd || ::bind(fd.get(), any, length) != 0) return 0;
  if (::getsockname(fd.get(), any, &length) != 0) return 0;
  return ntohs(address.sin_port);
}

}  // namespace

base::Environment rank_variables(const planning::ParallelPrefix& prefix, int tasks) {
  base::Environment variables{{executor_variable, base::ProcessIdentity::current().text()},
                              {executor_node_variable, probe::node_name()},
                              {world_variable, std::to_string(tasks)}};
  if (prefix.ranks_a_node == 0) return variables;
  variables[ranks_variable] = std::to_string(prefix.ranks_a_node);
  const std::string master = prefix.argv.empty() ? "127.0.0.1" : host_name();
  variables[master_variable] = master + ":" + std::to_string(free_port());
  return variables;
}

void forget_others_name() {
  const base::Environment variables = base::current_environment();
  const auto value_of = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  const auto executor = base::ProcessIdentity::parse(value_of(executor_variable));
  const bool is_elsewhere = executor && executor->host != base::ProcessIdentity::current().host;
  if (is_elsewhere && probe::node_name() == value_of(executor_node_variable))
    ::unsetenv("SLURMD_NODENAME");  // NOLINT(concurrency-mt-unsafe): before any thread
}

KeptVariables::KeptVariables(const fs::path& stage_folder, const base::Environment& variables)
    : file_(stage_folder / variables_name) {
  std::string text;
  for (const auto& [name, value] : variables)
    text += name + "=" + value + '\0';
  base::write_file_atomically(file_, text, base::Durability::ordered_only, 0600);
}

KeptVariables::~KeptVariables() {
  std::error_code code;
  fs::remove(file_, code);
}

base::Environment kept_variables(const fs::path& stage_folder) {
  base::Environment variables;
  const std::string text = base::read_file_if_exists(stage_folder / variables_name).value_or("");
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\0', from), text.size());
    const std::string item = text.substr(from, to - from);
    const std::size_t equals = item.find('=');
    from = to + 1;
    if (equals == std::string::npos) continue;
    const bool is_starters =
        std::ranges::any_of(of_starters, [&](const char* head) { return item.starts_with(head); });
    if (!is_starters) variables[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return variables;
}

fs::path node_file(const fs::path& stage_folder, const std::string& node) {
  return stage_folder / (std::string(node_head) + node + std::string(tail));
}

void take_nodes(const fs::path& attempt,
                const std::vector<std::string>& stages,
                double seconds,
                spec::RunRecord& record) {
  for (const std::string& stage : stages) {
    for (const fs::path& file : json_files_in(attempt / stage, node_head)) {
      try {
        const spec::RunRecord node = spec::parse_run_record(base::read_file(file), file.string());
        record.usage = side_by_side({record.usage, seconds}, {node.usage, node.wall_s});
        if (!node.energy_readings) continue;
        if (!record.energy_readings) record.energy_readings.emplace();
        record.energy_readings->insert(record.energy_readings->end(),
                                       node.energy_readings->begin(),
                                       node.energy_readings->end());
      } catch (const base::Error&) {
        continue;  // its disk was full, or its node died: the stage's end tells
      }
    }
  }
  for (spec::HostFacts& facts : hosts_in(attempt)) {
    if (std::ranges::find(record.hosts, facts.node, &spec::HostFacts::node) == record.hosts.end())
      record.hosts.push_back(std::move(facts));
  }
}

}  // namespace sabath::execution
