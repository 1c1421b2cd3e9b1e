#include "env.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <unistd.h>

namespace sabath::cli {
namespace {

std::string built_text(const spec::BuiltEnvironment& environment) {
  base::TextTable table({"layer", "kind", "key", "prefix"});
  for (const spec::BuiltLayer& layer : environment.layers) {
    table.add({layer.lock.name,
               std::string(spec::to_string(layer.lock.kind)),
               layer.lock.key.hex.substr(0, 16),
               layer.prefix});
  }
  return environment.layers.empty() ? "the recipe needs no environment\n" : table.text();
}

int env_build(const EnvOptions& options, Workspace& workspace) {
  if (options.offline) workspace.stay_offline();
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const auto built = workspace.environments().build(
      workspace.runner().preparer().environment_of(recipe, options.variant),
      recipe.directory,
      workspace.observer(),
      workspace.stop(),
      options.retry ? env::AfterFailure::retry : env::AfterFailure::refuse);
  return answer_with(built, built_text(built), workspace);
}

/// What is started for a command in an environment.
struct Started {
  std::vector<std::string> argv{};
  base::Environment variables{};
};

Started in_container(const EnvOptions& options,
                     const spec::Recipe& recipe,
                     const spec::BuiltEnvironment& built,
                     Workspace& workspace) {
  env::ContainerUse use;
  use.argv = unshielded(options.command);
  use.working_directory = std::filesystem::current_path();
  use.home = "/tmp";
  use.readable = {recipe.directory};
  use.is_interactive = true;
  use.has_terminal = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  auto command = env::container_command(
      built, use, base::current_environment(), workspace.processes(), workspace.stop());
  return {std::move(command.argv), std::move(command.environment)};
}

Started on_host(const EnvOptions& options, const spec::BuiltEnvironment& built) {
  return {unshielded(options.command), env::run_variables(built, base::current_environment())};
}

/// Of the schedulers that are known, a variable that each sets in its jobs.
constexpr std::array job_variables{"SABATH_JOB_ID",
                                   "SLURM_JOB_ID",
                                   "PBS_JOBID",
                                   "LSB_JOBID",
                                   "SGE_TASK_ID",
                                   "FLUX_JOB_ID",
                                   "OAR_JOB_ID",
                                   "_CONDOR_JOB_AD"};

bool is_in_job(const base::Environment& environment) {
  return std::ranges::any_of(job_variables,
                             [&](const char* name) { return environment.contains(name); });
}

/// Ready, or built. In a job hundreds of processes would build the same thing at once, on nodes
/// without a network.
spec::BuiltEnvironment ready_for(const EnvOptions& options,
                                 const spec::Recipe& recipe,
                                 Workspace& workspace) {
  const spec::EnvironmentSpec spec =
      workspace.runner().preparer().environment_of(recipe, options.variant);
  const bool in_job = !options.may_build && is_in_job(base::current_environment());
  if (!in_job && !options.no_build) {
    return workspace.environments().build(
        spec, recipe.directory, workspace.observer(), workspace.stop());
  }
  auto found = workspace.environments().find(spec, recipe.directory);
  if (found) return std::move(*found);
  std::vector<std::string> build{"sabath", "env", "build", options.name};
  if (!options.variant.empty()) build.insert(build.end(), {"--variant", options.variant});
  throw base::Error(base::ErrorKind::environment,
                    "environment of '" + recipe.name + "': is not ready, and " +
                        (in_job ? "nothing is built in a job of a scheduler" : "--no-build"),
                    "'" + base::shown_command(build) + "' on a login node" +
                        (in_job ? "; --build, and it is built here" : ""));
}

/// Becomes the command, so that terminal, signals and exit status are its own.
[[noreturn]] int env_exec(const EnvOptions& options, Workspace& workspace) {
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const spec::BuiltEnvironment built = ready_for(options, recipe, workspace);
  env::EnvironmentLease lease(built);
  const execution::NodeSettings node = workspace.node_settings();
  std::vector<env::LocalPrefix> local;
  const bool in_image = env::container_of(built) != nullptr;  // which has its own
  if ((options.packed || node.packed) && !in_image) {
    const auto images = env::images_of(built);
    if (options.packed && images.empty()) {
      throw base::Error(
          base::ErrorKind::environment,
          "environment of '" + recipe.name + "': has no image",
          "'" + base::shown_command({"sabath", "env", "pack", options.name}) + "' makes it");
    }
    if (options.packed || env::may_enter()) {
      local = env::unpack_images(images,
                                 node.local,
                                 workspace.processes(),
                                 workspace.observer(),
                                 workspace.stop(),
                                 node.trust);
    }
  }
  workspace.environments().check_trusted(built, local);
  const Started started =
      in_image ? in_container(options, recipe, built, workspace) : on_host(options, built);
  lease.keep();
  become(env::see_local_prefixes(node.program, local, started.argv), started.variables);
}

}  // namespace

int list_environments(Workspace& workspace) {
  const auto entries = workspace.environments().list();
  base::TextTable table({"key", "kind", "name", "state", "built", "prefix"});
  for (const env::EnvironmentEntry& entry : entries) {
    table.add({entry.lock.key.hex.substr(0, 16),
               std::string(spec::to_string(entry.lock.kind)),
               entry.lock.name,
               entry.state,
               entry.built,
               entry.prefix.string()});
  }
  return answer_with(
      entries,
      entries.empty() ? "no environments yet; 'sabath env build RECIPE' makes one\n" : table.text(),
      workspace);
}

void add_variant(OptionParser& command, EnvOptions& options) {
  command.add_option("--variant", options.variant, "else the site's, else the recipe's first");
}

void setup_env(OptionParser& app, Action& action) {
  OptionParser* group = app.add_subcommand("env", "build and show environments");
  group->require_subcommand(1);
  auto [build, how] = add_command(
      *group, action, "build", "build the environment of a recipe, or find it ready", env_build);
  build.add_option("name", how.name, "a recipe")->required();
  add_variant(build, how);
  build.add_flag("--retry", how.retry, "try again what failed before");
  build.add_flag("--offline", how.offline, "a file that is not in the cache is an error");
  setup_env_lock(*group, action);
  setup_env_fetch(*group, action);
  setup_env_show(*group, action);
  group->add_subcommand("list", "list the layers in the cache")->callback([&action] {
    action = list_environments;
  });
  auto [run, options] =
      add_command(*group, action, "exec", "run a command in the environment of a recipe", env_exec);
  run.add_option("name", options.name, "a recipe")->required();
  add_variant(run, options);
  run.add_flag("--packed", options.packed, "use what 'env pack' made, unpacked on this node");
  Option* build_here =
      run.add_flag("--build", options.may_build, "build what is not ready, in a job too");
  run.add_flag("--no-build", options.no_build, "build nothing; the default in a scheduler's job")
      ->excludes(build_here);
  run.add_option("command", options.command, "the command, after --")->required();
  setup_env_pack(*group, action);
  setup_env_remove(*group, action);
}

}  // namespace sabath::cli
