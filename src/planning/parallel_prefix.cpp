#include <sabath/base/error.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/planning/parallel_prefix.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

namespace sabath::planning {
namespace {

using base::Environment;
using base::Error;
using base::ErrorKind;
using Words = std::vector<std::string>;

/// Splits at blanks, without a shell.
Words words_of(const std::string& text) {
  Words words;
  for (std::size_t from = text.find_first_not_of(' '); from != std::string::npos;) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    words.push_back(text.substr(from, to - from));
    from = text.find_first_not_of(' ', to);
  }
  return words;
}

int nodes_of(const spec::Resources& resources) {
  return std::max(resources.nodes.value_or(1), 1);
}

int tasks_of(const spec::Resources& resources) {
  return resources.tasks.value_or(1);
}

int per_node(const spec::Resources& resources) {
  return (tasks_of(resources) + nodes_of(resources) - 1) / nodes_of(resources);
}

/// Values of placeholders; nothing: not available.
std::map<std::string, std::optional<std::string>> placeholders_of(
    const spec::Resources& resources) {
  std::map<std::string, std::optional<std::string>> values{
      {"{nodes}", std::to_string(nodes_of(resources))},
      {"{tasks}", std::to_string(tasks_of(resources))},
      {"{tasks_per_node}", std::to_string(per_node(resources))},
      {"{cpus}", std::to_string(std::max(resources.cpus, 1))},
      {"{gpus_per_task}", std::nullopt},
      {"{gpu_affinity}", std::nullopt}};
  const int gpus = resources.gpus.value_or(0);
  if (gpus <= 0) return values;
  if (gpus % per_node(resources) == 0)
    values["{gpus_per_task}"] = std::to_string(gpus / per_node(resources));
  else
    values["{gpu_affinity}"] = "off";
  return values;
}

/// Leaves out a word whose placeholder has no value, but not the program. Returns true where
/// something was replaced.
bool replace_words(Words& words, const spec::Resources& resources) {
  const auto values = placeholders_of(resources);
  bool replaced = false;
  Words kept;
  for (std::string& word : words) {
    bool has_all = true;
    for (const auto& [name, value] : values) {
      const std::size_t at = word.find(name);
      if (at == std::string::npos) continue;
      replaced = true;
      has_all = has_all && value.has_value();
      if (value) word.replace(at, name.size(), *value);
    }
    if (has_all || kept.empty()) kept.push_back(std::move(word));
  }
  words = std::move(kept);
  return replaced;
}

/// Environment of a program that starts its own ranks on several nodes, one process each.
Words options_of(const std::string& program, const spec::Resources& resources, bool is_packed) {
  const std::string tasks = std::to_string(tasks_of(resources));
  const std::string cpus = std::to_string(resources.cpus);
  if (program == "srun") {
    Words words{"--nodes=" + std::to_string(nodes_of(resources)),
                "--ntasks=" + tasks,
                "--kill-on-bad-exit=1"};
    // Since Slurm 22.05 srun does not inherit this from its job.
    if (resources.cpus > 0) words.push_back("--cpus-per-task=" + cpus);
    // A step takes all memory of its job by default: the others would wait for it.
    if (is_packed) words.insert(words.end(), {"--exact", "--mem=0"});
    return words;
  }
  Words words{"-n", tasks};
  // One mpirun is common to all; mpiexec shares these options.
  if (program == "mpirun" && nodes_of(resources) > 1)
    words.insert(words.end(), {"-N", std::to_string(per_node(resources))});
  return words;
}

bool is_there(const std::string& program, const Environment& environment) {
  return base::find_program(program, base::variable_of(environment, "PATH")).has_value();
}

std::string found_here(const Environment& environment) {
  if (!base::variable_of(environment, "SLURM_JOB_ID").empty() && is_there("srun", environment))
    return "srun";
  for (const char* program : {"mpirun", "mpiexec"}) {
    if (is_there(program, environment)) return program;
  }
  throw Error(ErrorKind::launch,
              "no program that starts ranks was found: srun (in a Slurm job), mpirun or mpiexec",
              "load a module that has one, or name the program in the site's \"prefix\"");
}

}  // namespace

ParallelPrefix prefix_for(const std::string& wanted,
                          const std::string& site,
                          const spec::Resources& resources,
                          bool is_packed,
                          const Environment& environment) {
  Words words = words_of(site);
  const std::string of_site =
      words.empty() ? "" : std::filesystem::path(words.front()).filename().string();
  if (wanted == "torchrun" || (wanted == "auto" && of_site == "torchrun")) {
    if (nodes_of(resources) == 1) return {{}, tasks_of(resources), false};
    spec::Resources one_a_node = resources;
    one_a_node.tasks = nodes_of(resources);
    one_a_node.cpus = resources.cpus * per_node(resources);
    const std::string others = of_site == "torchrun" ? "" : site;
    ParallelPrefix prefix = prefix_for("auto", others, one_a_node, is_packed, environment);
    prefix.ranks_a_node = per_node(resources);
    return prefix;
  }
  // A recipe's program wins over the site's preference, but gets the site's options for it.
  if (wanted != "auto" && of_site != wanted) words = {wanted};
  if (words.empty()) words = {found_here(environment)};
  ParallelPrefix prefix;
  const std::string program = std::filesystem::path(words.front()).filename().string();
  prefix.loses_variables = program != "srun" && nodes_of(resources) > 1;
  // Open MPI binds ranks on its own, to the same cores for each run of a node, whatever cores its
  // caller is bound to. Unbound ranks stay within those. The names are of versions 4 and 5.
  if (program == "mpirun" || program == "mpiexec") {
    for (const char* name :
         {"OMPI_MCA_hwloc_base_binding_policy", "PRTE_MCA_hwloc_default_binding_policy"}) {
      if (!environment.contains(name)) prefix.defaults.emplace(name, "none");
    }
  }
  const bool is_known = program == "srun" || program == "mpirun" || program == "mpiexec";
  if (!replace_words(words, resources) && is_known) {
    const Words options = options_of(program, resources, is_packed);
    words.insert(words.begin() + 1, options.begin(), options.end());
  }
  if (!is_there(words.front(), environment)) {
    throw Error(ErrorKind::launch,
                "'" + words.front() + "' starts the ranks, and was not found on PATH",
                "a layer 'modules' or 'host' of the environment brings it");
  }
  prefix.argv = std::move(words);
  return prefix;
}

bool is_spread(const spec::PlannedStage& stage, int job_nodes) {
  return stage.parallel && std::max(job_nodes, nodes_of(stage.resources)) > 1;
}

}  // namespace sabath::planning
