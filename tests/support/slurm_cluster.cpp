#include "support/slurm_cluster.hpp"

#include "support/temp_home.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string_view>

namespace sabath::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* script = SABATH_SOURCE_DIR "/tests/support/slurm/cluster.py";

/// The environment of this process without anything that Slurm's commands read.
base::Environment without_slurm() {
  constexpr std::array<std::string_view, 7> prefixes{
      "SLURM", "SBATCH_", "SRUN_", "SALLOC_", "SQUEUE_", "SACCT_", "SCANCEL_"};
  base::Environment environment = base::current_environment();
  std::erase_if(environment, [&](const auto& variable) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
      return variable.first.starts_with(prefix);
    });
  });
  return environment;
}

/// Short: sockets are beneath it. The supervisor makes it and takes it away.
fs::path new_folder() {
  const base::TempDir name(fs::temp_directory_path(), "slurm-");
  return name.path();
}

}  // namespace

SlurmCluster::SlurmCluster(const std::vector<std::string>& options) : folder_(new_folder()) {
  base::Command command;
  command.argv = {"python3", script, "serve"};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.argv.push_back(folder_.string());
  command.environment = without_slurm();
  thread_ = std::jthread([this, command](std::stop_token stop) {
    try {
      result_ = processes_.run(command, std::move(stop));
    } catch (const std::exception& error) {
      result_.errors = error.what();
    }
    ended_ = true;
  });
  while (!fs::exists(folder_ / "cluster.json")) {
    if (ended_) {
      thread_.join();
      throw std::runtime_error("no Slurm: " + result_.errors);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  variables_ = {{"SLURM_CONF", (folder_ / "slurm.conf").string()}};
}

SlurmCluster::SlurmCluster(Running, fs::path folder)
    : folder_(std::move(folder)), variables_{{"SLURM_CONF", (folder_ / "slurm.conf").string()}} {}

std::unique_ptr<SlurmCluster> SlurmCluster::shared(bool accounting) {
  const fs::path folder = accounting ? SABATH_SLURM_ACCOUNTING : SABATH_SLURM;
  if (fs::exists(folder / "cluster.json")) {
    auto cluster = std::unique_ptr<SlurmCluster>(new SlurmCluster(Running{}, folder));
    if (cluster->run({"sinfo"}).ok()) return cluster;
  }
  return accounting ? std::make_unique<SlurmCluster>(std::vector<std::string>{"--accounting"})
                    : std::make_unique<SlurmCluster>();
}

SlurmCluster::~SlurmCluster() {
  if (thread_.joinable()) run({"python3", script, folder_.string(), "stop"});
}

base::ProcessResult SlurmCluster::run(const std::vector<std::string>& argv,
                                      const base::Environment& more) const {
  base::Command command;
  command.argv = argv;
  command.environment = without_slurm();
  for (const auto* variables : {&variables_, &more}) {
    for (const auto& [name, value] : *variables)
      (*command.environment)[name] = value;
  }
  command.deadline = std::chrono::seconds(60);
  return base::SystemProcessRunner().run(command);
}

std::string SlurmCluster::answer(const std::vector<std::string>& argv) const {
  base::ProcessResult result = run(argv);
  if (!result.ok()) throw std::runtime_error(argv.front() + ": " + result.errors);
  if (result.output.ends_with('\n')) result.output.pop_back();
  return result.output;
}

void SlurmCluster::command(const std::vector<std::string>& words) const {
  std::vector<std::string> argv{"python3", script, folder_.string()};
  argv.insert(argv.end(), words.begin(), words.end());
  answer(argv);
}

}  // namespace sabath::test
