#include "support/cluster.hpp"

#include <sabath/base/file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace sabath::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* slurm_script = SABATH_SOURCE_DIR "/tests/support/slurm/cluster.py";
constexpr const char* grid_engine_script = SABATH_SOURCE_DIR "/tests/support/gridengine/cluster.py";

/// The environment of this process without anything that commands of schedulers read, or set for
/// jobs.
base::Environment without_schedulers() {
  constexpr std::array<std::string_view, 9> prefixes{"SLURM",
                                                     "SBATCH_",
                                                     "SRUN_",
                                                     "SALLOC_",
                                                     "SQUEUE_",
                                                     "SACCT_",
                                                     "SCANCEL_",
                                                     "SGE_",
                                                     "CUDA_VISIBLE_DEVICES"};
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
  const base::TempDir name(fs::temp_directory_path(), "cluster-");
  return name.path();
}

std::vector<std::string> with_tree(std::vector<std::string> options) {
  options.insert(options.begin(), {"--from", SABATH_GRID_ENGINE});
  return options;
}

}  // namespace

Cluster::Cluster(fs::path script, const std::vector<std::string>& options)
    : script_(std::move(script)), folder_(new_folder()) {
  base::Command command;
  command.argv = {"python3", script_.string(), "serve"};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.argv.push_back(folder_.string());
  command.environment = without_schedulers();
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
      throw std::runtime_error("no scheduler: " + result_.errors);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  read_variables();
}

Cluster::Cluster(Running, fs::path script, fs::path folder)
    : script_(std::move(script)), folder_(std::move(folder)) {
  read_variables();
}

void Cluster::read_variables() {
  std::ifstream file(folder_ / "cluster.json");
  variables_ = nlohmann::json::parse(file).at("environment").get<base::Environment>();
}

Cluster::~Cluster() {
  if (thread_.joinable()) run({"python3", script_.string(), folder_.string(), "stop"});
}

base::ProcessResult Cluster::run(const std::vector<std::string>& argv,
                                 const base::Environment& more) const {
  base::Command command;
  command.argv = argv;
  command.environment = without_schedulers();
  for (const auto* variables : {&variables_, &more}) {
    for (const auto& [name, value] : *variables)
      (*command.environment)[name] = value;
  }
  command.deadline = std::chrono::seconds(60);
  return base::SystemProcessRunner().run(command);
}

std::string Cluster::answer(const std::vector<std::string>& argv) const {
  base::ProcessResult result = run(argv);
  if (!result.ok()) throw std::runtime_error(argv.front() + ": " + result.output + result.errors);
  if (result.output.ends_with('\n')) result.output.pop_back();
  return result.output;
}

void Cluster::command(const std::vector<std::string>& words) const {
  std::vector<std::string> argv{"python3", script_.string(), folder_.string()};
  argv.insert(argv.end(), words.begin(), words.end());
  answer(argv);
}

SlurmCluster::SlurmCluster(const std::vector<std::string>& options)
    : Cluster(slurm_script, options) {}

SlurmCluster::SlurmCluster(Running, fs::path folder)
    : Cluster(Running{}, slurm_script, std::move(folder)) {}

std::unique_ptr<SlurmCluster> SlurmCluster::shared(bool accounting) {
  const fs::path folder = accounting ? SABATH_SLURM_ACCOUNTING : SABATH_SLURM;
  if (fs::exists(folder / "cluster.json")) {
    auto cluster = std::unique_ptr<SlurmCluster>(new SlurmCluster(Running{}, folder));
    if (cluster->run({"sinfo"}).ok()) return cluster;
  }
  return accounting ? std::make_unique<SlurmCluster>(std::vector<std::string>{"--accounting"})
                    : std::make_unique<SlurmCluster>();
}

GridEngine::GridEngine(const std::vector<std::string>& options)
    : Cluster(grid_engine_script, with_tree(options)) {}

}  // namespace sabath::test
