#include "stage_runner.hpp"

#include "rank/failed_rank.hpp"
#include "rank/rank_files.hpp"
#include "real_folders.hpp"
#include "record/log_tail.hpp"
#include "stage_retry.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/passed_signals.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/execution/output_trees.hpp>
#include <sabath/planning/stage_key.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/probe/memory_kills.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <signal.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;

constexpr const char* out_of_memory =
    "; memory ran out: the kernel ended a process of its control group";
constexpr const char* no_silence = " (neither to stdout nor to stderr nor to $SABATH_METRICS)";
constexpr const char* metrics_file = "metrics-0.jsonl";
/// No two stages of all runs have the same there.
constexpr const char* metrics_directory = "SABATH_METRICS_DIR";
/// What metrics are read from is kept with a cached stage's outputs, so that a reuse reports them
/// too: under its name with this before it, logs only if they are not too long.
constexpr char kept_prefix = '.';
/// So are the digests of an output's values.
constexpr std::string_view kept_trees = ".trees/";
constexpr std::uintmax_t kept_log_bytes = std::uintmax_t{16} << 20U;

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// What is asked of this process is meant for the code that it runs ("make a checkpoint now").
void pass_signals_on(std::optional<base::SignalListener>& listener, int leader) {
  listener.emplace([process = base::ProcessIdentity::of(leader)](int signal) {
    if (base::liveness_of(process) == base::Liveness::running) ::kill(-process.pid, signal);
  });
}

/// From here on it is known how the command ended, whatever goes wrong after it.
void take_end(const base::ProcessResult& process, spec::StageRecord& record) {
  record.wall_s = seconds(process.wall);
  record.user_s = seconds(process.user);
  record.system_s = seconds(process.system);
  record.max_rss_bytes = process.max_rss_bytes;
  record.leftovers = process.leftovers;
  if (process.end == base::ProcessEnd::exited) record.exit_code = process.exit_code;
  if (process.end == base::ProcessEnd::signaled) record.signal = process.signal;
  record.state = "ok";
  if (process.ok()) return;
  record.state = process.end == base::ProcessEnd::stopped ? "interrupted" : "failed";
}

/// What went wrong is added to what is known already.
void add_problem(const std::string& problem, const std::string& hint, spec::StageRecord& record) {
  if (record.state != "interrupted") record.state = "failed";
  record.message += (record.message.empty() ? "" : "; ") + problem;
  if (record.log_tail.empty()) record.log_tail = hint;
}

bool is_kept(const fs::directory_entry& entry) {
  std::error_code code;
  const std::string name = entry.path().filename().string();
  if (!entry.is_regular_file(code)) return false;
  if (is_metrics_file(name)) return true;
  const std::uintmax_t size = entry.file_size(code);
  return (name == "stdout.log" || name == "stderr.log") && size > 0 && size <= kept_log_bytes;
}

}  // namespace

StageRunner::StageRunner(Tools tools,
                         const spec::RunPlan& plan,
                         const home::RunFiles& files,
                         int attempt)
    : tools_(std::move(tools)), plan_(plan), files_(files), attempt_(attempt) {}

fs::path StageRunner::directory(const std::string& stage) const {
  return files_.attempt(attempt_) / stage;
}

StageRunner::Key StageRunner::key_of(const spec::PlannedStage& stage,
                                     const MadeOutputs& made,
                                     const std::stop_token& stop) const {
  spec::Facet preimage{"stage", stage.key_items};
  preimage.items["form"] = "sabath-stage/3";
  const base::Environment inherited = planning::inherited_by(stage, base::current_environment());
  planning::StageSurroundings surroundings(plan_, files_.directory(), inherited, tools_.observer);
  for (const auto& [need, sees_folder] : used_by(stage, made)) {
    const auto outputs = made.find(need);
    if (outputs == made.end()) continue;
    std::vector<std::string> declared;
    for (const spec::OutputRecord& output : outputs->second) {
      const fs::path file = files_.outputs(need) / output.path;
      declared.push_back(output.path);
      // A later stage, which this one waited for or not, may have written to it.
      const bool is_as_made = !output.is_outdated() && !is_changed(file, tools_.stamps);
      preimage.items["stage." + need + "/" + output.path] =
          is_as_made ? output.digest.text() : surroundings.digest_of(file, stop);
    }
    const std::string others =
        sees_folder ? undeclared_in(files_.outputs(need), declared) : std::string();
    if (!others.empty())
      return {{}, "it may read what stage " + need + " leaves but does not declare: " + others};
  }
  preimage.items.merge(surroundings.key_items(stage, stop));
  return {preimage.digest().hex, {}};
}

bool StageRunner::reuse(const spec::PlannedStage& stage,
                        const std::string& key,
                        StageResult& result) {
  const auto known = tools_.cache.stage_outputs(key);
  if (!known) return false;
  std::map<std::string, cache::Object> objects;
  for (const std::string& path : stage.outputs) {
    const auto digest = known->outputs.find(path);
    if (digest == known->outputs.end()) return false;
    const auto object = tools_.cache.find(digest->second);
    if (!object) return false;
    objects.emplace(path, *object);
  }
  std::map<std::string, cache::Object> kept;
  for (const auto& [name, digest] : known->outputs) {
    if (name.front() != kept_prefix || objects.contains(name)) continue;
    if (name.starts_with(kept_trees)) continue;
    const auto object = tools_.cache.find(digest);
    if (!object) return false;
    kept.emplace(name.substr(1), *object);
  }
  make_real_folders(files_.directory(), directory(stage.name));
  for (const auto& [name, object] : kept)
    tools_.cache.materialise(object, directory(stage.name) / name);
  for (const auto& [path, object] : objects) {
    const fs::path destination = files_.outputs(stage.name) / path;
    make_real_folders(files_.directory(), destination.parent_path());
    const auto mode = known->modes.find(path);
    if (mode != known->modes.end()) {
      fs::remove(destination);  // of an earlier attempt
      tools_.cache.materialise(object, destination, true);
      fs::permissions(destination, static_cast<fs::perms>(mode->second));
    } else if (tools_.cache.link(object.digest, destination)) {
      fs::remove(destination);
      tools_.cache.materialise(object, destination);
    }
    spec::OutputRecord output{stage.name, path, object.size_bytes, object.digest, "cache", {}, {}};
    note_known(destination, tools_.stamps);
    reuse_trees(*known, output);
    result.outputs.push_back(std::move(output));
  }
  result.record.state = "reused";
  result.record.made_by_run = known->run_id;
  result.record.made_on_host = known->host;
  tools_.observer.note("stage " + stage.name + ": reused from " + known->run_id);
  return true;
}

void StageRunner::reuse_trees(const cache::StageOutputs& known, spec::OutputRecord& output) const {
  const auto digest = known.outputs.find(std::string(kept_trees) + output.path);
  if (digest == known.outputs.end()) return;
  const auto object = tools_.cache.find(digest->second);
  if (!object) return;
  const fs::path file = trees_file(files_, output);
  make_real_folders(files_.directory(), file.parent_path());
  fs::remove(file);  // of an earlier attempt
  tools_.cache.materialise(*object, file, true);
  output.trees = object->digest;
}

base::Command StageRunner::command_for(const Try& one) const {
  const spec::PlannedStage& stage = one.stage;
  const fs::path own = directory(stage.name);
  base::Command command;
  // Copies on this node's disk are not on the others'.
  const bool is_here = !planning::is_spread(stage, tools_.nodes);
  command.argv = in_parallel(
      one,
      is_here ? env::see_local_prefixes(tools_.program, tools_.local, stage.argv) : stage.argv);
  command.working_directory = own / "work";
  command.control_group = tools_.control_group;
  command.mark = metrics_directory;
  command.stdout_path = own / "stdout.log";
  command.stderr_path = own / "stderr.log";
  if (tools_.largest_log > 0) command.output_limit = tools_.largest_log;
  if (stage.resources.time) command.deadline = *stage.resources.time;
  if (stage.resources.silence) command.silence_deadline = *stage.resources.silence;
  command.other_output = [own] { return metrics_size(own); };
  command.grace = stage.resources.grace ? *stage.resources.grace : tools_.grace;

  base::Environment variables = env::run_variables(
      plan_.environment_of(stage), planning::inherited_by(stage, base::current_environment()));
  for (const auto& [name, value] : own_variables(one))
    variables[name] = value;
  command.environment = std::move(variables);
  return command;
}

base::Environment StageRunner::own_variables(const Try& one) const {
  const fs::path own = directory(one.stage.name);
  base::Environment variables = one.stage.environment;
  if (one.place && !one.place->gpus.empty())
    variables["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(one.place->gpus, ","));
  variables["SABATH_METRICS"] = (own / metrics_file).string();
  variables[metrics_directory] = own.string();
  variables["SABATH_PARAMETERS"] = (own / "parameters.json").string();
  variables["SABATH_ATTEMPT"] = std::to_string(attempt_);
  variables["SABATH_TRY"] = std::to_string(one.number);
  if (!one.prefix) return variables;
  variables.insert(one.prefix->defaults.begin(), one.prefix->defaults.end());
  for (const auto& [name, value] :
       rank_variables(*one.prefix, one.stage.resources.tasks.value_or(1)))
    variables[name] = value;
  return variables;
}

std::optional<planning::ParallelPrefix> StageRunner::prefix_of(
    const spec::PlannedStage& stage) const {
  if (!stage.parallel) return std::nullopt;
  return planning::prefix_for(
      *stage.parallel,
      tools_.prefix,
      stage.resources,
      plan_.place.has_value(),
      env::run_variables(plan_.environment_of(stage), base::current_environment()));
}

std::vector<std::string> StageRunner::in_parallel(const Try& one,
                                                  std::vector<std::string> argv) const {
  if (!one.prefix) return argv;
  std::vector<std::string> words = one.prefix->argv;
  words.insert(words.end(),
               {tools_.program.string(),
                "exec",
                "--rank",
                files_.directory().string(),
                one.stage.name,
                "--"});
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

base::ProcessResult StageRunner::run_command(const Try& one,
                                             spec::StageRecord& record,
                                             std::stop_token stop) const {
  const spec::PlannedStage& stage = one.stage;
  const spec::BuiltEnvironment& environment = plan_.environment_of(stage);
  base::Command command = command_for(one);
  const auto run = [&] {
    std::optional<KeptVariables> kept;
    if (one.prefix && one.prefix->loses_variables)
      kept.emplace(directory(stage.name), *command.environment);
    const auto kills = probe::memory_kills(tools_.control_group);
    std::optional<base::SignalListener> listener;
    command.on_start = [&](int leader) { pass_signals_on(listener, leader); };
    base::ProcessResult process =
        tools_.software.run(stage.name, std::move(command), tools_.processes, stop);
    listener.reset();
    kept.reset();
    take_end(process, record);
    if (!process.ok())
      record.message = how_it_ended(stage, one.prefix, process, directory(stage.name));
    if (process.end == base::ProcessEnd::silent) record.message += no_silence;
    if (process.end == base::ProcessEnd::too_loud)
      record.message += ": runs.largest_log is " + base::format_bytes(tools_.largest_log);
    if (!process.ok() && probe::memory_kills(tools_.control_group) > kills)
      record.message += out_of_memory;
    return process;
  };
  if (env::container_of(environment) == nullptr) return run();
  env::ContainerUse use;
  use.argv = stage.argv;
  use.variables = own_variables(one);
  use.working_directory = command.working_directory;
  use.home = command.working_directory;
  use.readable = {plan_.recipe_directory};
  for (const spec::PlannedInput& input : plan_.inputs) {
    use.readable.emplace_back(input.path);
    if (!input.copy.empty()) use.readable.emplace_back(input.copy);
  }
  use.writable = {files_.directory()};
  // Where nothing in the container can write: what stands in it is removed.
  base::make_directories(plan_.state_directory);
  const base::TempDir own(plan_.state_directory, ".container-");
  use.id_file = own.path() / "id";
  use.scratch = directory(stage.name);
  const env::ContainerCommand container =
      env::container_command(environment, use, base::current_environment(), tools_.processes, stop);
  command.argv = container.argv;
  command.environment = container.environment;
  base::ProcessResult result = run();
  const auto remains = env::remove_container(container, tools_.processes);
  if (remains) {
    tools_.observer.warn("stage " + stage.name + ": container " + *remains + " may still run",
                         base::shown_command(container.removal) + " " + *remains);
  } else if (!container.removal.empty()) {
    // What the command left is ended with its container; the rest are the engine's own.
    result.leftovers = record.leftovers = 0;
  }
  return result;
}

void StageRunner::lay_out(const Try& one) const {
  const spec::PlannedStage& stage = one.stage;
  const fs::path own = directory(stage.name);
  const fs::path& run = files_.directory();
  make_real_folders(run, own);
  for (const auto& entry : fs::directory_iterator(own))
    refuse_links(own, entry.path());
  refuse_links(run, files_.outputs(stage.name).parent_path());
  // A code that knows nothing of another attempt must not find, or add to, what that left.
  const bool is_anew = attempt_ > 1 && one.number == 1 && !stage.checkpoint.value_or(false);
  if (is_anew) base::remove_tree(files_.outputs(stage.name));
  // The scratch of this node is no other's.
  const bool is_here =
      !planning::is_spread(stage, tools_.nodes) && stage.resources.nodes.value_or(1) == 1;
  if (!tools_.scratch.empty() && is_here) {
    const fs::path work = tools_.scratch / (stage.name + "." + std::to_string(one.number));
    base::make_directories(work);
    fs::create_directory_symlink(work, own / "work");
  } else {
    base::make_directories(own / "work");
  }
  make_real_folders(run, files_.outputs(stage.name));
  // What an earlier attempt made and the cache has, too, is not this one's to write into. Files of
  // its own stay: it goes on with them.
  for (const std::string& path : stage.outputs) {
    const fs::path file = files_.outputs(stage.name) / path;
    refuse_links(run, file.parent_path());
    std::error_code none;
    const bool is_shared = fs::is_symlink(fs::symlink_status(file, none)) ||
                           (fs::is_regular_file(file, none) && fs::hard_link_count(file, none) > 1);
    if (is_shared) fs::remove(file);
  }
  spec::ParameterValues visible = plan_.parameters;
  if (stage.cache) {
    std::erase_if(visible, [&](const auto& item) {
      return !stage.key_items.contains("param." + item.first);
    });
  }
  planning::write_parameters(own / "parameters.json", visible);
  if (!stage.code_copy_from.empty()) {
    fs::copy(stage.code_copy_from, own / "work" / "code", fs::copy_options::recursive);
  }
}

base::ProcessResult StageRunner::try_once(const Try& one,
                                          StageResult& result,
                                          std::stop_token stop) {
  const spec::PlannedStage& stage = one.stage;
  lay_out(one);
  const auto mask_logs = [&] {
    if (link_beneath(files_.directory(), directory(stage.name))) return;
    for (const char* log : {"stdout.log", "stderr.log"})
      result.masked += tools_.secrets.mask_file(directory(stage.name) / log);
  };
  base::ProcessResult process;
  try {
    process = run_command(one, result.record, stop);
  } catch (...) {
    mask_logs();  // a container that was not to be removed: its code has run
    throw;
  }
  mask_logs();
  refuse_links(files_.directory(), directory(stage.name));
  refuse_links(files_.directory(), files_.outputs(stage.name).parent_path());
  spec::StageRecord& record = result.record;
  if (process.leftovers > 0) {
    tools_.observer.warn("stage " + stage.name + ": left " + std::to_string(process.leftovers) +
                         " process(es) behind, which were ended");
  }
  if (process.ok()) return process;
  record.log_tail = tail_of(directory(stage.name) / "stderr.log");
  if (record.log_tail.empty()) record.log_tail = tail_of(directory(stage.name) / "stdout.log");
  return process;
}

void StageRunner::execute(Try& one, StageResult& result, std::stop_token stop) {
  const spec::PlannedStage& stage = one.stage;
  const spec::Retry retry = stage.retry.value_or(spec::Retry{});
  tools_.observer.note("stage " + stage.name);
  tools_.trust.get();
  env::require_present(plan_.environment_of(stage));  // somebody may have removed it since
  one.prefix = prefix_of(stage);
  if (one.prefix) result.record.prefix = one.prefix->argv;
  const spec::StageRecord blank = result.record;
  std::vector<spec::StageTry> tries;
  for (;; ++one.number) {
    const base::ProcessResult process = try_once(one, result, stop);
    if (const auto removed = env::why_removed(plan_.environment_of(stage));
        removed && !process.ok()) {
      result.record.message += "; " + *removed;
      return;
    }
    if (stop.stop_requested()) return;
    std::optional<std::string> reason;
    if (one.number <= retry.times) reason = why_again(retry, process, directory(stage.name));
    if (!reason && !process.ok() && !tries.empty())
      result.record.message += "; it was tried " + std::to_string(one.number) + " times";
    if (!reason) return;
    spec::StageRecord& failed = result.record;
    tools_.observer.warn("stage " + stage.name + ": " + failed.message,
                         *reason + ": it is tried again");
    tries.push_back(
        {failed.started, failed.wall_s, failed.exit_code, failed.signal, failed.message, *reason});
    if (!wait_unless_stopped(retry.pause, stop)) {
      failed.state = "interrupted";
      failed.message += "; the run was stopped before it was tried again";
      return;
    }
    put_aside(one.number, directory(stage.name), files_.outputs(stage.name));
    result.record = blank;
    result.record.started = base::format_rfc3339(tools_.clock.now());
    result.record.tries = tries;
  }
}

void StageRunner::hash_outputs(const spec::PlannedStage& stage,
                               StageResult& result,
                               const std::stop_token& stop) const {
  for (const std::string& path : stage.outputs) {
    const fs::path file = files_.outputs(stage.name) / path;
    const std::string problem =
        output_problem(files_.directory(), files_.outputs(stage.name), file);
    if (!problem.empty()) {
      result.record.state = "failed";
      result.record.message = "the declared output '" + path + "' " + problem;
      return;
    }
    spec::OutputRecord output{stage.name, path, 0, {}, {}, {}, {}};
    hash_output(output, file, tools_.stamps, tools_.observer, stop);
    keep_trees(output, files_, plan_.recipe_text, tools_.observer, stop);
    if (is_changed(file, tools_.stamps)) output.trees.reset();  // of other values, perhaps
    result.outputs.push_back(std::move(output));
  }
}

void StageRunner::tell_not_reusable(const std::string& why, spec::StageRecord& record) const {
  record.not_reusable = why;
  tools_.observer.warn("stage " + record.name + ": cannot be reused: " + why);
}

void StageRunner::keep(const spec::PlannedStage& stage,
                       const std::string& key,
                       StageResult& result) {
  const std::string others = undeclared_in(files_.outputs(stage.name), stage.outputs);
  if (!others.empty()) {
    // Who reads them would not find them where the stage was reused.
    tell_not_reusable("it leaves outputs that it does not declare: " + others, result.record);
    return;
  }
  cache::StageOutputs outputs{
      key, plan_.run_id, probe::node_name(), base::format_rfc3339(tools_.clock.now()), {}};
  for (spec::OutputRecord& output : result.outputs) {
    const fs::path file = files_.outputs(stage.name) / output.path;
    keep_for_reuse(output, file, tools_.stamps, tools_.cache);
    if (!is_in_cache(output)) {
      tell_not_reusable("output '" + output.path + "' is " + *output.kept, result.record);
      return;
    }
    outputs.outputs.emplace(output.path, output.digest);
    if (output.trees) {
      outputs.outputs.emplace(std::string(kept_trees) + output.path,
                              tools_.cache.publish_file(trees_file(files_, output)).digest);
    }
    const unsigned mode = tools_.stamps.of(file).st_mode & 0777U;
    if ((mode & 0111U) != 0) outputs.modes.emplace(output.path, mode);
  }
  for (const auto& entry : fs::directory_iterator(directory(stage.name))) {
    if (!is_kept(entry)) continue;
    outputs.outputs.emplace(kept_prefix + entry.path().filename().string(),
                            tools_.cache.publish_file(entry.path()).digest);
  }
  tools_.cache.remember_stage(outputs);
}

/// Of all that come to the same stage at once, on any node, one executes it and the others wait for
/// what it makes. One that fails makes nothing: who has looked in vain a few times waits no longer.
void StageRunner::reuse_or_execute(Try& one,
                                   const Key& key,
                                   StageResult& result,
                                   const std::stop_token& stop) {
  constexpr int most_looks = 3;
  int looks = 0;
  bool is_reused = false;
  bool is_held = false;
  cache::Flight flight;
  flight.task = "stage " + one.stage.name;
  flight.is_there = [&] {
    is_reused = reuse(one.stage, key.text, result);
    return is_reused || ++looks > most_looks;
  };
  flight.work = [&](base::Observer&) {
    is_held = true;
    execute_and_keep(one, key, result, stop);
  };
  tools_.cache.single_flight("stage:" + key.text, flight, tools_.observer, stop);
  if (!is_reused && !is_held) execute_and_keep(one, key, result, stop);
}

void StageRunner::execute_and_keep(Try& one,
                                   const Key& key,
                                   StageResult& result,
                                   const std::stop_token& stop) {
  const spec::PlannedStage& stage = one.stage;
  // Not the time that it waited for another.
  result.record.started = base::format_rfc3339(tools_.clock.now());
  if (one.place) {
    result.record.cpus = one.place->cpus;
    if (!one.place->gpus.empty()) result.record.gpus = one.place->gpus;
  }
  const provenance::CodeWatch::Look before = tools_.code.before(stage.name, tools_.observer);
  execute(one, result, stop);
  const provenance::CodeWatch::Look after = tools_.code.after(stage.name, tools_.observer);
  if (result.record.state == "ok") hash_outputs(stage, result, stop);
  if (result.record.state != "ok" || !stage.cache) return;
  // What was executed need not be what the key was made of.
  if (!before.is_planned || before.changes != after.changes) {
    tell_not_reusable("the recipe's folder was changed after the run was planned", result.record);
    return;
  }
  const Key now = key.why_not.empty() ? key_of(stage, one.made, stop) : key;
  if (!now.why_not.empty()) {
    tell_not_reusable(now.why_not, result.record);
  } else if (now.text != key.text) {
    tell_not_reusable(
        "what it depends on, such as a file that its command names, was changed "
        "while it ran",
        result.record);
  } else {
    keep(stage, key.text, result);
  }
}

StageResult StageRunner::run(const spec::PlannedStage& stage,
                             const std::optional<spec::Place>& place,
                             const MadeOutputs& made,
                             std::stop_token stop) {
  StageResult result;
  result.record.name = stage.name;
  result.record.argv = stage.argv;
  result.record.started = base::format_rfc3339(tools_.clock.now());
  result.record.variant = stage.variant;
  try {
    const Key key = stage.cache ? key_of(stage, made, stop) : Key{};
    result.record.cache_key = key.text;
    Try one{stage, place, made};
    if (stage.cache && !plan_.fresh && key.why_not.empty()) {
      reuse_or_execute(one, key, result, stop);
    } else {
      execute_and_keep(one, key, result, stop);
    }
  } catch (const Error& error) {
    if (error.kind() == base::ErrorKind::interrupted) result.record.state = "interrupted";
    add_problem(error.what(), error.hint(), result.record);
  } catch (const std::exception& error) {
    // From the file system, or out of memory.
    add_problem(error.what(), "", result.record);
  }
  return result;
}

}  // namespace sabath::execution
