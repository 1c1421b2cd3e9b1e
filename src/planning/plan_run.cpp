#include <sabath/base/archive/archive_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/version.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/home/dated_folder.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/planning/reference_run.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/provenance/code_folder.hpp>
#include <sabath/provenance/command_inputs.hpp>
#include <sabath/provenance/external_code.hpp>
#include <sabath/provenance/git_state.hpp>
#include <sabath/spec/code_state.hpp>
#include <sabath/spec/facet.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <sstream>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr int run_letters = 8;

constexpr std::uint64_t max_code_bytes = 4U << 20U;
constexpr std::size_t max_code_files = 2000;
constexpr const char* archive_name = "code.tar.gz";
/// Up to this size a folder that is not kept is hashed, so that it is recognized later.
constexpr std::uint64_t max_known_bytes = 256U << 20U;
constexpr std::size_t max_known_files = 20'000;
constexpr const char* diff_name = "code.diff";
constexpr const char* untracked_name = "code.untracked.tar.gz";

/// Returns true where the sibling's archive is of this tree, and is now `archive` too.
bool share_archive(const std::optional<OriginalCode>& sibling,
                   const base::Digest& tree,
                   const fs::path& archive) {
  if (!sibling || sibling->state.kept.empty() || sibling->state.tree != tree) return false;
  std::error_code code;
  fs::create_hard_link(sibling->run_directory / archive_name, archive, code);
  return !code;
}

void keep_folder(const RunRequest& request, const fs::path& archive, spec::CodeState& state) {
  const fs::path& place = request.recipe.directory;
  const provenance::CodeFolder folder(place, {max_code_files, max_code_bytes});
  if (folder.is_exceeded()) {
    throw Error(ErrorKind::usage,
                fmt::format("the recipe's folder has more than {} files or {} MiB",
                            max_code_files,
                            max_code_bytes >> 20U));
  }
  if (!folder.uncounted().empty()) {
    throw Error(ErrorKind::usage,
                base::printable(folder.uncounted()) +
                    ": a link to more outside of the recipe's folder than counts by its bytes");
  }
  const base::Digest tree = folder.digest();
  if (!share_archive(request.study.sibling, tree, archive)) {
    base::write_archive(place, folder.files(), archive);
    if (folder.digest() != tree)
      throw Error(ErrorKind::usage, "the recipe's folder was changed at that moment");
  }
  state.tree = tree;
  state.kept = archive_name;
}

/// A repetition compares its code by this.
void note_tree(const fs::path& place, const fs::path& state_directory, spec::CodeState& state) {
  state.tree = {};
  try {
    const provenance::CodeFolder folder(place, {max_known_files, max_known_bytes});
    if (!folder.is_exceeded()) state.tree = folder.digest(state_directory);
  } catch (const Error&) {
    return;  // what cannot be read is said already
  }
}

/// A folder that cannot be kept (an unreadable file, an odd name) can still be run.
void keep_folder_if_possible(const RunRequest& request,
                             const fs::path& run_directory,
                             const fs::path& state_directory,
                             spec::CodeState& state) {
  const fs::path archive = run_directory / archive_name;
  try {
    keep_folder(request, archive, state);
  } catch (const Error& error) {
    state.not_kept = error.what();
    std::error_code ignored;
    fs::remove(archive, ignored);
  }
  if (state.kept.empty()) note_tree(request.recipe.directory, state_directory, state);
}

/// A repetition is of the original's commit, wherever its code was unpacked. Runs that are
/// submitted together are of one commit.
void take_over(const OriginalCode& original,
               const fs::path& run_directory,
               spec::CodeState& state) {
  state.git = original.state.git;
  state.no_git = original.state.no_git;
  state.untracked = original.state.untracked;
  state.no_untracked = original.state.no_untracked;
  if (!state.git) return;
  const auto take = [&](const char* name) {
    std::error_code code;
    fs::copy_file(original.run_directory / name, run_directory / name, code);
    return code ? "that of the original run cannot be read: " + code.message() : std::string();
  };
  if (!state.git->diff.empty()) {
    state.git->no_diff = take(diff_name);
    if (!state.git->no_diff.empty()) state.git->diff.clear();
  }
  if (state.untracked) {
    if (const std::string problem = take(untracked_name); !problem.empty()) {
      state.untracked.reset();
      state.no_untracked = problem;
    }
  }
}

/// Where only the commit stands for the code, files unknown to git are kept beside it.
void keep_rest(const RunRequest& request,
               const fs::path& run_directory,
               base::ProcessRunner& processes,
               const std::stop_token& stop,
               spec::CodeState& state) {
  const fs::path archive = run_directory / untracked_name;
  try {
    if (provenance::keep_untracked(request.recipe.directory, *state.git, archive, processes, stop))
      state.untracked = untracked_name;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    std::error_code ignored;
    fs::remove(archive, ignored);
    state.no_untracked = error.what();
  }
}

/// Keeps the code of the request's run in its directory. Archives the recipe's folder (CodeFolder)
/// where it is small enough. Keeps what git says of it, or said of the `original` or a `sibling`.
/// Starts git only in a repository; git writes nothing there, and starts nothing that
/// the repository's settings name. Throws Error{storage|interrupted}.
spec::CodeState keep_code(const RunRequest& request,
                          const fs::path& run_directory,
                          const fs::path& state_directory,
                          base::ProcessRunner& processes,
                          const std::stop_token& stop) {
  spec::CodeState state;
  keep_folder_if_possible(request, run_directory, state_directory, state);
  if (request.repetition.original) {
    take_over(*request.repetition.original, run_directory, state);
    return state;
  }
  if (request.study.sibling && !state.kept.empty() &&
      state.tree == request.study.sibling->state.tree) {
    take_over(*request.study.sibling, run_directory, state);
    return state;
  }
  const fs::path& folder =
      request.command ? fs::path(request.command->directory) : request.recipe.directory;
  if (!provenance::repository_around(folder)) return state;
  try {
    state.git = provenance::look_at_git(folder, run_directory / diff_name, processes, stop);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::launch) throw;
    state.no_git = error.what();
  }
  const bool stands_on_git =
      !request.command && (state.kept.empty() || provenance::names_surroundings(request.recipe));
  if (state.git && !state.git->commit.empty() && stands_on_git)
    keep_rest(request, run_directory, processes, stop, state);
  return state;
}

void resolve_stages(const RunRequest& request,
                    const fs::path& directory,
                    const std::stop_token& stop,
                    spec::RunPlan& plan) {
  const StageTemplate stage_template(request.recipe, plan, directory, stop);
  plan.code = stage_template.code_items();
  for (const spec::Stage* stage : stages_of(request)) {
    plan.stages.push_back(stage_template.resolve(*stage));
    home::refuse_secrets(plan.stages.back());
    if (!request.command) continue;
    const std::vector<std::string> place{"env", "-C", request.command->directory};
    plan.stages.back().argv.insert(plan.stages.back().argv.begin(), place.begin(), place.end());
  }
}

std::vector<std::string> paths_in(const spec::ParameterValues& parameters) {
  std::vector<std::string> paths;
  for (const auto& [name, value] : parameters) {
    const std::string text = spec::to_string(value);
    if (text.starts_with('/')) paths.push_back(text);
  }
  return paths;
}

/// Runs that are planned together examine code elsewhere once.
std::map<std::string, std::string> found_elsewhere(const RunRequest& request,
                                                   const spec::RunPlan& plan,
                                                   base::ProcessRunner& processes,
                                                   const std::stop_token& stop) {
  // Jobs get no variables of the shell.
  const base::Environment session = request.placement.variables.value_or(
      request.placement.site.empty() ? base::current_environment() : base::Environment{});
  if (!provenance::has_external_code(request.recipe, plan, session)) return {};
  if (request.study.sibling) {
    spec::RunPlan sibling = home::RunFiles(request.study.sibling->run_directory).read_plan();
    if (paths_in(sibling.parameters) == paths_in(plan.parameters) &&
        sibling.environments() == plan.environments()) {
      std::erase_if(sibling.code,
                    [](const auto& item) { return !spec::is_external_code(item.first); });
      return std::move(sibling.code);
    }
  }
  return provenance::external_code(request.recipe, plan, session, processes, stop);
}

/// Takes the variants of this run's stages; other points of a study have others.
void take_variants(const RunRequest& request,
                   const std::map<std::string, spec::BuiltEnvironment>& built,
                   spec::RunPlan& plan) {
  std::map<std::string, spec::BuiltEnvironment> variants;
  for (const std::string& variant : variants_of(request, plan.parameters))
    variants.emplace(variant, built.at(variant));
  if (!variants.empty()) plan.variants = std::move(variants);
}

/// Identification by a starter does not reach a container: each rank would be alone there.
void refuse_ranks_in_containers(const spec::RunPlan& plan) {
  for (const spec::PlannedStage& stage : plan.stages) {
    if (!stage.parallel || stage.not_due) continue;
    if (env::container_of(plan.environment_of(stage)) == nullptr) continue;
    throw Error(ErrorKind::usage,
                "stage " + stage.name + ": 'parallel' cannot start ranks in a container",
                "an environment without a layer 'container', or a run that starts them itself");
  }
}

/// "1,2" for a number: the values of a sweep.
bool is_list_of_values(const spec::Parameter& parameter, const std::string& text) {
  if (text.find(',') == std::string::npos) return false;
  try {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');)
      spec::parse_parameter(parameter, part);
  } catch (const Error&) {
    return false;
  }
  return true;
}

spec::ParameterValue value_of(const spec::Parameter& parameter, const std::string& text) {
  try {
    return spec::parse_parameter(parameter, text);
  } catch (const Error& error) {
    if (!is_list_of_values(parameter, text)) throw;
    throw Error(error.kind(),
                error.what(),
                "'--sweep " + parameter.name + "=" + text + "' makes a run of each value");
  }
}

}  // namespace

void assign_slots(const spec::ResourceSlots& slots, spec::RunPlan& plan) {
  plan.slots = slots;
  // Only the counts are items: runs that are otherwise the same have different cores.
  if (!slots.cpus.empty()) plan.launch["cpus"] = std::to_string(slots.cpus.size());
  if (slots.gpus.empty()) return;
  plan.launch["gpus"] = std::to_string(slots.gpus.size());
  for (spec::PlannedStage& stage : plan.stages)
    stage.environment["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(slots.gpus, ","));
}

std::vector<const spec::Stage*> stages_of(const RunRequest& request) {
  return request.only_stage.empty() ? spec::stages_of_task(request.recipe, request.task)
                                    : spec::ordered_stages(request.recipe, request.only_stage);
}

spec::ParameterValues resolve_parameters(const spec::Recipe& recipe,
                                         const std::map<std::string, std::string>& set,
                                         const std::string& named) {
  spec::ParameterValues values;
  std::vector<std::string> names;
  for (const spec::Parameter& parameter : recipe.parameters) {
    values[parameter.name] = parameter.default_value;
    names.push_back(parameter.name);
  }
  std::string problems;
  std::string hint;
  for (const auto& [name, text] : set) {
    try {
      const spec::Parameter* parameter = recipe.parameter(name);
      if (parameter == nullptr) {
        throw Error(
            ErrorKind::usage,
            "recipe '" + recipe.name + "': no parameter '" + name + "'",
            base::did_you_mean(
                name,
                names,
                "'" + base::shown_command({"sabath", "show", named.empty() ? recipe.name : named}) +
                    "' lists them"));
      }
      if (std::ranges::find(recipe.fixed, name) != recipe.fixed.end()) {
        throw Error(ErrorKind::usage,
                    "parameter '" + name + "': is fixed by the recipe: it defines the benchmark",
                    "leave it out, or copy the recipe under another name");
      }
      values[name] = value_of(*parameter, text);
    } catch (const Error& error) {
      problems += (problems.empty() ? "" : "\n") + std::string(error.what());
      if (hint.empty()) hint = error.hint();
    }
  }
  if (!problems.empty()) throw Error(ErrorKind::usage, problems, hint);
  home::refuse_secrets(recipe, values);
  return values;
}

void check_due(const RunRequest& request, const spec::ParameterValues& parameters) {
  home::refuse_secrets(request.tags);
  spec::check_due(request.recipe, stages_of(request), parameters, request.only_stage);
}

std::set<std::string> variants_of(const RunRequest& request,
                                  const spec::ParameterValues& parameters) {
  std::set<std::string> variants;
  for (const spec::Stage* stage : stages_of(request)) {
    if (stage->variant.empty() || stage->variant == request.variant) continue;
    if (!spec::why_not_due(*stage, parameters)) variants.insert(stage->variant);
  }
  return variants;
}

spec::RunPlan plan_run(const RunRequest& request,
                       const spec::ParameterValues& parameters,
                       const RunEnvironments& environments,
                       const std::vector<spec::PlannedInput>& inputs,
                       const PlanTools& tools,
                       const std::stop_token& stop) {
  const auto& [folders, processes, clock] = tools;
  spec::RunPlan plan;
  const Placement& placement = request.placement;
  plan.parameters = parameters;
  // Small enough for the seeding function of every library (31 bits), never 0.
  plan.seed.value = request.seed.value_or(home::random_bits() % 2'147'483'646 + 1);
  plan.seed.origin = request.seed ? "option" : "drawn";
  plan.created = base::format_rfc3339(clock.now());
  plan.sabath_version = base::version();
  plan.recipe_text = request.recipe.text;
  plan.recipe_directory = request.recipe.directory.string();
  plan.tags = request.tags;
  plan.inputs = inputs;
  plan.environment = environments.own;
  plan.launch = {{"launcher", placement.site.empty() ? "local" : placement.scheduler},
                 {"user", base::user_name()}};
  if (request.command) plan.launch["isolated"] = "no";
  if (!placement.site.empty()) plan.launch["site"] = placement.site;
  if (!placement.batch.empty()) plan.batch = placement.batch;
  plan.cache_directory = folders.cache.string();
  plan.state_directory = folders.state().string();
  plan.fresh = request.fresh;
  plan.only_stage = request.only_stage;
  plan.trusted = environments.trusted;
  if (!request.task.empty()) {
    plan.task = request.task;
    plan.tags.push_back("task:" + request.task);  // not a user's tag: selections use it
  }
  if (!request.variant.empty()) plan.variant = request.variant;
  take_variants(request, environments.variants, plan);
  if (!request.repetition.run_id.empty()) plan.repeats = request.repetition.run_id;
  if (!request.repetition.environment_of.empty())
    plan.environment_from = request.repetition.environment_of;
  if (!request.reference.empty()) plan.stop_when_diverged = request.reference.filename().string();
  plan.reproduce = again_command(request, plan, folders);

  plan.study_id = request.study.id;
  plan.study_point = request.study.point;

  const fs::path directory =
      home::make_dated_folder(folders.runs(), request.recipe.name, run_letters, clock);
  plan.run_id = directory.filename().string();
  // The recipe's folder of a repetition is gone when the run ends.
  if (plan.repeats) {
    std::vector<std::string> argv = program_words(folders);
    argv.insert(argv.end(), {"repro", plan.run_id});
    plan.reproduce = base::shown_command(argv);
  }
  try {
    if (request.study.announce_id) request.study.announce_id(plan.run_id);
    resolve_stages(request, directory, stop, plan);
    refuse_ranks_in_containers(plan);
    plan.code.merge(found_elsewhere(request, plan, processes, stop));
    plan.code_state = keep_code(request, directory, folders.state(), processes, stop);
    if (placement.slots) assign_slots(*placement.slots, plan);
    const home::RunFiles files(directory);
    if (plan.stop_when_diverged) copy_reference(request.reference, files.reference());
    write_plan(files.plan(), plan, request.study.durability);
    spec::RunStatus status;
    home::stamp_process(status);
    status.updated = plan.created;
    // With the status it is a run. A kill right after that leaves the first note; a reader right
    // before took it.
    home::announce(directory, home::RunEvent::planned);
    files.write_status(status);
    home::announce(directory, home::RunEvent::planned);
  } catch (...) {
    base::remove_tree(directory);  // nothing was planned: not even an empty folder remains
    throw;
  }
  return plan;
}

spec::TrustSeen trust_seen_now() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return {probe::boot_id(),
          static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

bool is_recent(const std::optional<spec::TrustSeen>& seen, const spec::TrustSeen& now) {
  // Longer than the start of `exec`; shorter than a check of a large environment is worth.
  constexpr double moment_s = 10;
  if (!seen || seen->boot.empty() || seen->boot != now.boot) return false;
  const double age_s = now.uptime_s - seen->uptime_s;
  return age_s >= 0 && age_s < moment_s;
}

}  // namespace sabath::planning
