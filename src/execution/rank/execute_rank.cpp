#include "failed_rank.hpp"
#include "host_facts.hpp"
#include "rank_children.hpp"
#include "rank_files.hpp"
#include "stage_in/node_copies.hpp"
#include "stage_in/node_staging.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/process/process_table.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/execution/execute_copies.hpp>
#include <sabath/execution/execute_rank.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/probe/sampler.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Environment;

/// Variables by which starters of ranks identify them. The nearest starter comes first: a job of
/// Slurm has variables of its own around an mpirun.
struct Starter {
  const char* rank;
  const char* local;
};
constexpr std::array starters{Starter{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"},
                              Starter{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK"},
                              Starter{"PMI_RANK", "MPI_LOCALRANKID"},
                              Starter{"PMIX_RANK", "PMIX_LOCAL_RANK"},
                              Starter{"PALS_RANKID", "PALS_LOCAL_RANKID"},
                              Starter{"SLURM_PROCID", "SLURM_LOCALID"}};

std::optional<int> number_of(const Environment& environment, const std::string& name) {
  return base::number_in<int>(base::variable_of(environment, name));
}

/// Returns true where the `exec` that had this rank started is among its ancestors: then it sees
/// the rank's usage.
bool descends_from(const std::string& identity) {
  const auto executor = base::ProcessIdentity::parse(identity);
  constexpr int most_levels = 100;
  int pid = ::getpid();
  for (int level = 0; executor && level < most_levels && pid > 1; ++level) {
    const auto stat = base::process_stat(pid);
    if (!stat) return false;
    pid = stat->parent;
    if (pid == executor->pid) return base::ProcessIdentity::of(pid) == *executor;
  }
  return false;
}

/// To the stage's log.
void log_line(std::string_view line) {
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

class Rank {
 public:
  Rank(const fs::path& run_directory,
       const std::string& stage,
       const std::vector<std::string>& argv)
      : files_(run_directory), argv_(argv), variables_(base::current_environment()) {
    folder_ = base::variable_of(variables_, stage_folder_variable);
    if (folder_.empty()) folder_ = files_.attempt(files_.read_status().attempt) / stage;
    for (const auto& [name, value] : kept_variables(folder_))
      variables_[name] = value;
    forget_others_name();
    node_ = probe::node_name();
    use_copies();
  }

  int execute() {
    const auto ranks = number_of(variables_, ranks_variable);
    if (!ranks) find_self();
    const bool is_seen = descends_from(base::variable_of(variables_, executor_variable));
    if (!ranks && (is_seen || !is_first())) become(argv_, variables_);
    if (!is_seen) write_facts();
    RankChildren children;
    if (ranks) {
      start_all(*ranks, children);
    } else {
      children.start(argv_, variables_);
    }
    const int status = is_seen ? children.wait() : watch(children);
    if (!children.failed().empty()) log_line(failed_rank_line(children.failed(), node_, status));
    return end_like(status);
  }

 private:
  /// Each node knows which copies it has.
  void use_copies() {
    wanted_ = read_wanted_copies(copies_file(folder_.parent_path()));
    if (!wanted_) return;
    copies_ = find_copies(*wanted_, base::current_environment(), clock_);
    for (const HeldCopy& held : copies_) {
      if (held.item.image) continue;
      for (std::string& argument : argv_)
        see_instead(held.item.source, held.copy.path(), argument);
      for (auto& [name, value] : variables_)
        see_instead(held.item.source, held.copy.path(), value);
    }
    argv_ = env::see_local_prefixes(
        fs::read_symlink("/proc/self/exe"), prefixes_of(copies_), std::move(argv_));
  }

  void find_self() {
    for (const Starter& starter : starters) {
      const auto rank = number_of(variables_, starter.rank);
      if (!rank) continue;
      local_ = number_of(variables_, starter.local);
      be(*rank, variables_);
      return;
    }
  }

  void be(int rank, Environment& variables) const {
    variables["SABATH_RANK"] = std::to_string(rank);
    variables["SABATH_METRICS"] =
        (folder_ / ("metrics-" + std::to_string(rank) + ".jsonl")).string();
  }

  /// Where nothing names a node's first rank, it is the one that creates a file first.
  bool is_first() const {
    if (local_) return *local_ == 0;
    const fs::path mark = folder_ / (".first-" + node_);
    const base::UniqueFd fd(::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    return static_cast<bool>(fd);
  }

  /// Facts of a node that `exec` has not examined. What cannot be written is missing in the record,
  /// and does not fail the rank.
  void write_facts() {
    const fs::path file = folder_.parent_path() / ("host-" + node_ + ".json");
    std::error_code code;
    if (fs::exists(file, code)) return;
    try {
      spec::RunPlan plan = files_.read_plan();
      spec::HostFacts facts = probe::probe_host(sources_, plan.state_directory, processes_, clock_);
      for (const HeldCopy& held : copies_)
        see_copy(held, 1, plan);
      facts.mounts = mounts_of(plan, files_, sources_.root);
      home::write_host_facts(file, facts);
    } catch (const base::Error&) {
      return;
    }
  }

  /// Variables as torchrun sets them.
  void start_all(int ranks, RankChildren& children) const {
    const int first = node_index() * ranks;
    const int world = number_of(variables_, world_variable).value_or(ranks);
    const std::string master = base::variable_of(variables_, master_variable);
    const std::size_t colon = master.rfind(':');
    for (int local = 0; local < ranks && first + local < world; ++local) {
      Environment variables = variables_;
      be(first + local, variables);
      variables["RANK"] = std::to_string(first + local);
      variables["LOCAL_RANK"] = std::to_string(local);
      variables["GROUP_RANK"] = std::to_string(first / ranks);
      variables["WORLD_SIZE"] = std::to_string(world);
      variables["LOCAL_WORLD_SIZE"] = std::to_string(std::min(ranks, world - first));
      variables["MASTER_ADDR"] = master.substr(0, colon);
      variables["MASTER_PORT"] = colon == std::string::npos ? "" : master.substr(colon + 1);
      children.start(argv_, variables, std::to_string(first + local));
    }
  }

  /// For processes that were started one a node.
  int node_index() const {
    for (const Starter& starter : starters) {
      if (const auto rank = number_of(variables_, starter.rank)) return *rank;
    }
    return 0;
  }

  int watch(RankChildren& children) {
    const auto begun = clock_.steady();
    std::optional<probe::UsageSampler> sampler;
    try {
      probe::SamplerOptions options;
      options.sources = sources_;
      options.root = ::getppid();  // what starts the ranks of this node
      sampler.emplace(folder_ / ("samples-" + node_ + ".jsonl"), options, clock_);
    } catch (const base::Error&) {
      sampler.reset();
    }
    const int status = children.wait();
    if (wanted_ && children.was_stopped()) {
      // The job ends and starts nothing more on this node.
      copies_.clear();
      end_loans(*wanted_, base::current_environment(), clock_);
    }
    if (!sampler) return status;
    spec::RunRecord record;
    record.wall_s = std::chrono::duration<double>(clock_.steady() - begun).count();
    record.usage = sampler->finish();
    // `exec` reads the counters of its own node.
    if (node_ != base::variable_of(variables_, executor_node_variable)) {
      auto readings = sampler->energy().readings;
      if (!readings.empty()) record.energy_readings = std::move(readings);
    }
    try {
      base::write_file_atomically(
          node_file(folder_, node_), home::record_text(record), base::Durability::ordered_only);
    } catch (const base::Error&) {
      return status;
    }
    return status;
  }

  home::RunFiles files_;
  std::vector<std::string> argv_;
  Environment variables_;
  fs::path folder_{};
  std::string node_{};
  std::optional<int> local_{};
  std::optional<WantedCopies> wanted_{};
  std::vector<HeldCopy> copies_{};  ///< also those of what this becomes
  probe::ProbeSources sources_{};
  base::SystemClock clock_{};
  base::SystemProcessRunner processes_{};
};

}  // namespace

int execute_rank(const fs::path& run_directory,
                 const std::string& stage,
                 const std::vector<std::string>& argv) {
  return Rank(run_directory, stage, argv).execute();
}

}  // namespace sabath::execution
