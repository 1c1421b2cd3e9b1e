#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/planning/node_slots.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/planning/stage_template.hpp>

#include <sched.h>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;
using base::Error;
using Words = std::vector<std::string>;

std::string allowed_cpus(const char* process) {
  const auto status = base::read_file_if_exists(fs::path("/proc") / process / "status");
  constexpr std::string_view field = "\nCpus_allowed_list:";
  const auto at = status ? status->find(field) : std::string::npos;
  if (at == std::string::npos) return {};
  const auto begin = at + field.size();
  return status->substr(begin, status->find('\n', begin) - begin);
}

/// Returns how many CPUs the caller bound this process to (`taskset`, a job); 0: as many as the
/// first process of this machine or container.
int cpus_of_caller() {
  const std::string own = allowed_cpus("self");
  const std::string first = allowed_cpus("1");
  if (own.empty() || first.empty() || own == first) return 0;
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

void add_slots(const RunRequest& request, Words& argv) {
  const auto& slots = request.placement.slots;
  if (!request.placement.site.empty()) return;  // what its jobs get is the scheduler's to say
  std::size_t cpus = slots ? slots->cpus.size() : 0;
  if (cpus == 0) cpus = static_cast<std::size_t>(cpus_of_caller());
  if (cpus > 0) argv.insert(argv.end(), {"--cpus", std::to_string(cpus)});
  if (slots && !slots->gpus.empty())
    argv.insert(argv.end(), {"--gpus", std::to_string(slots->gpus.size())});
}

/// Variables that the recipe sets for every stage, with the value of the first.
std::map<std::string, std::string> set_for_all(const RunRequest& request) {
  const std::vector<const spec::Stage*> stages = stages_of(request);
  if (stages.empty()) return {};
  auto all = recipe_variables(request.recipe, *stages.front());
  for (const spec::Stage* stage : stages) {
    const auto own = recipe_variables(request.recipe, *stage);
    std::erase_if(all, [&](const auto& one) { return !own.contains(one.first); });
  }
  return all;
}

bool may_be_shown(const std::string& name, const std::string& value) {
  return home::is_tuning_variable(name) && !base::names_a_secret(name) &&
         base::redact(value) == value;
}

}  // namespace

Words session_words(const RunRequest& request) {
  const auto replaced = set_for_all(request);
  Words words;
  for (const auto& [name, value] :
       request.placement.variables.value_or(base::current_environment())) {
    if (may_be_shown(name, value) && !replaced.contains(name)) words.push_back(name + "=" + value);
  }
  if (!words.empty()) words.insert(words.begin(), "env");
  return words;
}

Words replaced_variables(const RunRequest& request) {
  Words sentences;
  const base::Environment session = base::current_environment();
  for (const auto& [name, value] : set_for_all(request)) {
    const auto own = session.find(name);
    if (own == session.end() || own->second == value || !may_be_shown(name, own->second)) continue;
    sentences.push_back("the recipe sets " + name + "=" + base::printable(value) +
                        "; the session's value '" + base::printable(own->second) + "' is not used");
  }
  return sentences;
}

Words program_words(const home::Folders& folders) {
  Words words{"sabath"};
  for (const fs::path& catalog : folders.catalogs)
    words.insert(words.end(), {"--catalog", catalog.string()});
  return words;
}

std::string again_command(const RunRequest& request,
                          const spec::RunPlan& plan,
                          const home::Folders& folders) {
  // The jobs of a site get no variable of the session.
  Words argv = request.placement.site.empty() ? session_words(request) : Words{};
  if (request.command) {
    if (argv.empty()) argv.emplace_back("env");
    argv.insert(argv.begin() + 1, {"-C", request.command->directory});
  }
  const Words program = program_words(folders);
  argv.insert(argv.end(), program.begin(), program.end());
  if (!request.again.empty()) {
    argv.insert(argv.end(), request.again.begin(), request.again.end());
    if (plan.variant) argv.insert(argv.end(), {"--variant", *plan.variant});
    return base::shown_command(argv);
  }
  argv.emplace_back("run");
  if (!request.command) argv.push_back(request.named.empty() ? request.recipe.name : request.named);
  if (!request.task.empty()) argv.insert(argv.end(), {"--task", request.task});
  for (const spec::Parameter& parameter : request.recipe.parameters) {
    const spec::ParameterValue& value = plan.parameters.at(parameter.name);
    if (value == parameter.default_value) continue;
    argv.insert(argv.end(), {"--set", parameter.name + "=" + spec::to_string(value)});
  }
  if (plan.variant) argv.insert(argv.end(), {"--variant", *plan.variant});
  if (!request.placement.site.empty()) argv.insert(argv.end(), {"--on", request.placement.site});
  add_slots(request, argv);
  if (request.fresh) argv.emplace_back("--fresh");
  for (const std::string& tag : request.tags) {
    if (base::is_safe_name(tag)) argv.insert(argv.end(), {"--tag", tag});  // else no user's own
  }
  if (plan.seed.value) argv.insert(argv.end(), {"--seed", std::to_string(*plan.seed.value)});
  if (request.command) {
    argv.emplace_back("--");
    argv.insert(argv.end(), request.command->words.begin(), request.command->words.end());
  }
  return base::shown_command(argv);
}

spec::ResourceSlots slots_of(int cpus, int gpus, base::ProcessRunner& processes) {
  const NodeCapacity capacity = look_at_node(processes);
  if (auto slots = part_of(capacity, cpus, gpus)) return *std::move(slots);
  std::size_t threads = 0;
  for (const auto& core : capacity.cores)
    threads += core.size();
  throw Error(
      base::ErrorKind::usage,
      (cpus > 0 ? "--cpus " + std::to_string(cpus) : "") + (cpus > 0 && gpus > 0 ? ", " : "") +
          (gpus > 0 ? "--gpus " + std::to_string(gpus) : "") + ": " + std::to_string(threads) +
          " CPU(s) and " + std::to_string(capacity.gpus.size()) + " GPU(s) may be used here");
}

}  // namespace sabath::planning
