#include "env.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/live/environment_text.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <signal.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

int env_build(const EnvOptions& options, Workspace& workspace) {
  if (options.offline) workspace.stay_offline();
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const auto built = workspace.environments().build(
      workspace.runner().preparer().environment_of(recipe, options.variant),
      recipe.directory,
      workspace.observer(),
      workspace.stop(),
      options.retry ? env::AfterFailure::retry : env::AfterFailure::refuse);
  return answer_with(built, live::built_text(built), workspace);
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

/// Of the schedulers that are known, a variable that each sets in its jobs.
constexpr std::array job_variables{"SABATH_JOB_ID",
                                   "SLURM_JOB_ID",
                                   "PBS_JOBID",
                                   "LSB_JOBID",
                                   "SGE_TASK_ID",
                                   "FLUX_JOB_ID",
                                   "OAR_JOB_ID",
                                   "_CONDOR_JOB_AD"};

/// Ready, or built. In a job hundreds of processes would build the same thing at once, on nodes
/// without a network.
spec::BuiltEnvironment ready_for(const EnvOptions& options,
                                 const spec::Recipe& recipe,
                                 Workspace& workspace) {
  const spec::EnvironmentSpec spec =
      workspace.runner().preparer().environment_of(recipe, options.variant);
  const base::Environment session = base::current_environment();
  const auto is_set = [&](const char* name) { return session.contains(name); };
  const bool in_job = !options.may_build && std::ranges::any_of(job_variables, is_set);
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

/// Becomes the command, looked for on the PATH of `variables`. Throws Error{launch}.
[[noreturn]] void become(const std::vector<std::string>& command,
                         const base::Environment& variables) {
  const std::string& name = command.front();
  const auto program = base::find_program(name, base::variable_of(variables, "PATH"));
  if (!program) {
    throw base::Error(base::ErrorKind::launch,
                      "'" + base::printable(name) + "': no such command in the environment");
  }
  ::signal(SIGPIPE, SIG_DFL);  // ignored signals outlive execve
  ::signal(SIGXFSZ, SIG_DFL);
  std::vector<std::string> argv = command;
  std::vector<std::string> settings;
  for (const auto& [variable, value] : variables)
    settings.push_back(variable + "=" + value);
  const auto arguments = base::pointers_to(argv);
  const auto environment = base::pointers_to(settings);
  ::execve(program->c_str(), arguments.data(), environment.data());
  const int code = errno;
  throw base::Error(base::ErrorKind::launch,
                    program->string() + ": cannot be started: " + base::errno_text(code));
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
  const Started started = in_image
                              ? in_container(options, recipe, built, workspace)
                              : Started{unshielded(options.command),
                                        env::run_variables(built, base::current_environment())};
  lease.keep();
  become(env::see_local_prefixes(node.program, local, started.argv), started.variables);
}

/// What was locked before. A file that was edited is written anew, as its message advises.
std::optional<spec::PackageLock> known_lock(const std::filesystem::path& path,
                                            Workspace& workspace) {
  const auto text = base::read_file_if_exists(path);
  if (!text) return std::nullopt;
  try {
    return spec::parse_package_lock(*text, path.string());
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::usage) throw;
    workspace.observer().warn(error.what(), "it is written anew, without what it had");
    return std::nullopt;
  }
}

/// As locks spell it, of the names that conda and containers have for platforms.
std::string platform_called(const std::string& name) {
  static const std::map<std::string, std::string> others{{"linux-64", "linux-x86_64"},
                                                         {"linux-amd64", "linux-x86_64"},
                                                         {"linux-32", "linux-i686"},
                                                         {"linux-arm64", "linux-aarch64"}};
  const auto other = others.find(name);
  return other == others.end() ? name : other->second;
}

int env_lock(const EnvOptions& options, Workspace& workspace) {
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const spec::EnvironmentSpec wanted = workspace.runner().preparer().environments_of(recipe);
  const auto path = env::lock_file_of(recipe.directory);
  const auto before = known_lock(path, workspace);
  const auto lock =
      workspace.environments().lock_packages(wanted,
                                             recipe.directory,
                                             before,
                                             {platform_called(options.platform), options.python},
                                             workspace.observer(),
                                             workspace.stop());
  if (!lock) {
    workspace.answer(json_answer(workspace.environments().lock(
        workspace.runner().preparer().environment_of(recipe), recipe.directory)));
    return exit_done;
  }
  if (known_lock(path, workspace) != before) {
    throw base::Error(base::ErrorKind::environment,
                      path.string() + ": was written by somebody else meanwhile",
                      "run the command again: it keeps what the other one locked");
  }
  base::write_file_atomically(path, json_answer(*lock));
  return answer_with(*lock, live::lock_text(*lock, before, path), workspace);
}

int env_fetch(const EnvOptions& options, Workspace& workspace) {
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const auto files = workspace.environments().fetch(
      workspace.runner().preparer().environment_of(recipe, options.variant),
      recipe.directory,
      workspace.observer(),
      workspace.stop());
  const std::string count = std::to_string(files.size());
  return answer_with(files,
                     files.empty()
                         ? "the environment of '" + recipe.name + "' needs no files from outside\n"
                         : count + " file(s) are in the cache: '" +
                               base::shown_command({"sabath", "env", "build", options.name}) +
                               "' needs no network now\n",
                     workspace);
}

/// A run that was planned and is not over yet needs its environment, wherever it waits.
void refuse_needed(const env::EnvironmentEntry& entry, Workspace& workspace) {
  const auto named = assets::digests_of_runs(workspace.folders());
  const auto runs = named.find(entry.lock.key);
  if (runs == named.end()) return;
  workspace.catalog();  // closes runs that are gone
  for (const std::string& run : runs->second) {
    const home::RunFiles files(workspace.folders().runs() / run);
    // Runs elsewhere, in the archive or the trash, have ended.
    std::error_code code;
    if (!std::filesystem::exists(files.status(), code) || spec::is_final(files.read_status().state))
      continue;
    throw base::Error(base::ErrorKind::environment,
                      "environment '" + entry.lock.key.hex.substr(0, 16) + "': run " + run +
                          " has not ended and needs it",
                      "wait for its end, or end it");
  }
}

int env_remove(const std::string& key, Workspace& workspace) {
  const env::EnvironmentEntry entry = workspace.environments().show(key);
  refuse_needed(entry, workspace);
  workspace.environments().remove(key);
  return answer_with(std::vector{entry}, "removed " + entry.lock.key.hex + "\n", workspace);
}

int env_gc(const EnvOptions& options, Workspace& workspace) {
  const std::chrono::seconds age =
      duration_of("--older-than", options.older_than, "30d, 12h or 0s");
  std::set<std::string> used;
  for (const auto& [digest, runs] : assets::digests_of_runs(workspace.folders()))
    used.insert(digest.hex);
  const auto garbage = workspace.environments().garbage(used, workspace.clock().now() - age);
  base::TextTable table({"key", "kind", "name", "state", ">on disk"});
  std::uint64_t freed_bytes = 0;
  for (const env::EnvironmentEntry& entry : garbage) {
    const env::PrefixSize size = env::measure_prefix(entry.prefix.parent_path());
    freed_bytes += size.disk_bytes;
    if (!options.dry_run) workspace.environments().remove(entry.lock.key.hex);
    table.add({entry.lock.key.hex.substr(0, 16),
               std::string(spec::to_string(entry.lock.kind)),
               entry.lock.name,
               entry.state,
               base::format_bytes(size.disk_bytes)});
  }
  for (const std::filesystem::path& left : workspace.environments().leftovers()) {
    const env::PrefixSize size = env::measure_prefix(left);
    if (const auto why = base::why_kept(base::Beneath::anywhere(), left)) {
      workspace.observer().warn(left.string() + ": is left alone: " + *why,
                                "where it is yours and not needed, remove it");
      continue;
    }
    if (!options.dry_run && !base::remove_own_tree(left)) {
      workspace.observer().warn(left.string() + ": cannot be removed");
      continue;
    }
    freed_bytes += size.disk_bytes;
    workspace.observer().note(left.string() + ": " + base::format_bytes(size.disk_bytes) +
                              " that a killed command left");
  }
  const std::string sum = std::string(options.dry_run ? "would remove " : "removed ") +
                          std::to_string(garbage.size()) + ", " + base::format_bytes(freed_bytes) +
                          "\n";
  return answer_with(garbage, (table.empty() ? "" : table.text()) + sum, workspace);
}

constexpr char shield = '\x01';

int env_pack(const EnvOptions& options, Workspace& workspace) {
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const auto built = workspace.environments().build(
      workspace.runner().preparer().environment_of(recipe, options.variant),
      recipe.directory,
      workspace.observer(),
      workspace.stop());
  const env::EnvironmentLease lease(built);
  workspace.environments().check_trusted(built);
  const auto images =
      env::pack_prefixes(built, workspace.processes(), workspace.observer(), workspace.stop());
  return answer_with(images, live::pack_text(images), workspace);
}

struct EnterOptions {
  std::vector<std::pair<std::string, std::string>> places{};
  std::vector<std::string> command{};
};

/// Becomes the command. It runs as the command line is read, since no thread may have been started.
void env_enter(const EnterOptions& options) {
  std::vector<env::LocalPrefix> prefixes;
  for (const auto& [copy, prefix] : options.places)
    prefixes.push_back({prefix, copy});
  env::enter_local_prefixes(prefixes);
  become(unshielded(options.command), base::current_environment());
}

}  // namespace

std::vector<std::string> shielded_arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto mark = std::ranges::find(words, "--");
  const auto verb = std::find_if(
      words.begin(), mark, [](const std::string& word) { return !word.starts_with('-'); });
  const auto group = std::find(words.begin(), mark, "env");
  const bool is_command =
      (verb != mark && *verb == "run") || std::find(group, mark, "exec") != mark ||
      std::find(group, mark, "enter") != mark || std::find(words.begin(), mark, "--rank") != mark;
  if (mark == words.end() || !is_command) return words;
  for (auto word = mark + 1; word != words.end(); ++word)
    word->insert(0, 1, shield);
  return words;
}

std::vector<std::string> unshielded(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word.starts_with(shield)) word.erase(0, 1);
  }
  return words;
}

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
  auto [lock, locking] = add_command(
      *group, action, "lock", "resolve the packages of a recipe and write its lock file", env_lock);
  lock.add_option("name", locking.name, "a recipe")->required();
  lock.add_option("--platform", locking.platform, "for another platform, such as linux-aarch64");
  lock.add_option("--python", locking.python, "for another version of Python, such as 3.12");
  auto [fetch, fetching] = add_command(
      *group, action, "fetch", "bring all files that a lock names into the cache", env_fetch);
  fetch.add_option("name", fetching.name, "a recipe")->required();
  add_variant(fetch, fetching);
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
  auto [pack, packing] =
      add_command(*group,
                  action,
                  "pack",
                  "make one image of each layer's files, for file systems slow with many",
                  env_pack);
  pack.add_option("name", packing.name, "a recipe")->required();
  add_variant(pack, packing);
  // What 'env exec --packed' and runs start in place of a command; not for people.
  auto entered = std::make_shared<EnterOptions>();
  OptionParser* enter = group->add_subcommand("enter", "")->group("");
  enter->add_option("--place", entered->places, "a copy, and the prefix in whose place it is seen");
  enter->add_option("command", entered->command, "the command, after --")->required();
  enter->callback([entered] { env_enter(*entered); });
  auto [remove, key] = add_command(*group, action, "rm", "remove a layer", env_remove);
  remove.add_option("name", key, "the beginning of its key")->required();
  auto [gc, garbage] =
      add_command(*group, action, "gc", "remove layers that no run refers to", env_gc);
  gc.add_option(
      "--older-than", garbage.older_than, "only what was built longer ago than this (1d)");
  gc.add_flag("--dry-run", garbage.dry_run, "show what would be removed, and remove nothing");
}

}  // namespace sabath::cli
