#include "stage_command.hpp"

#include "rank/failed_rank.hpp"
#include "rank/rank_files.hpp"
#include "stage_reads.hpp"
#include "stop/stop_watch.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/passed_signals.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/planning/stage_surroundings.hpp>
#include <sabath/probe/memory_kills.hpp>

#include <fmt/format.h>

#include <memory>

#include <signal.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

constexpr const char* out_of_memory =
    "; memory ran out: the kernel ended a process of its control group";
constexpr const char* no_silence = " (neither to stdout nor to stderr nor to $SABATH_METRICS)";
constexpr const char* metrics_file = "metrics-0.jsonl";
/// Its value differs between all stages of all runs.
constexpr const char* metrics_directory = "SABATH_METRICS_DIR";
double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A signal to this process is meant for the code that it runs ("write a checkpoint now").
void pass_signals_on(std::optional<base::SignalListener>& listener, int leader) {
  listener.emplace([process = base::ProcessIdentity::of(leader)](int signal) {
    if (base::liveness_of(process) == base::Liveness::running) ::kill(-process.pid, signal);
  });
}

/// Takes over how the command ended, whatever fails later.
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

/// The command of one try of a stage, on the host or in the container of its environment.
class StageCommand {
 public:
  StageCommand(const StageContext& context, const StageTry& one) : context_(context), try_(one) {}

  base::ProcessResult run(spec::StageRecord& record) const {
    const std::string& stage = try_.stage.name;
    const spec::BuiltEnvironment& environment = context_.plan.environment_of(try_.stage);
    base::Command command = host_command();
    if (env::container_of(environment) == nullptr) return run_watched(std::move(command), record);
    // The container cannot write here: the id in it names the container to remove.
    base::make_directories(context_.plan.state_directory);
    const base::TempDir own(context_.plan.state_directory, ".container-");
    const env::ContainerCommand container = env::container_command(environment,
                                                                   container_use(own.path()),
                                                                   base::current_environment(),
                                                                   context_.processes,
                                                                   try_.stop);
    command.argv = container.argv;
    command.environment = container.environment;
    base::ProcessResult result = run_watched(std::move(command), record);
    const auto remains = env::remove_container(container, context_.processes);
    if (remains) {
      context_.observer.warn("stage " + stage + ": container " + *remains + " may still run",
                             base::shown_command(container.removal) + " " + *remains);
    } else if (!container.removal.empty()) {
      // The container ends what the command left; other processes are the engine's own.
      result.leftovers = record.leftovers = 0;
    }
    return result;
  }

 private:
  base::Command host_command() const {
    const spec::PlannedStage& stage = try_.stage;
    const fs::path own = context_.directory(stage.name);
    base::Command command;
    // Copies on the disk of this node are not on other nodes.
    const bool is_here = !planning::is_spread(stage, context_.nodes);
    command.argv =
        in_parallel(is_here ? env::see_local_prefixes(context_.program, context_.local, stage.argv)
                            : stage.argv);
    command.working_directory = own / "work";
    command.control_group = context_.control_group;
    command.mark = metrics_directory;
    command.stdout_path = own / "stdout.log";
    command.stderr_path = own / "stderr.log";
    if (context_.largest_log > 0) command.output_limit = context_.largest_log;
    if (stage.resources.time) command.deadline = *stage.resources.time;
    if (stage.resources.silence) command.silence_deadline = *stage.resources.silence;
    command.other_output = [own] { return metrics_size(own); };
    command.grace = stage.resources.grace ? *stage.resources.grace : context_.grace;

    base::Environment variables =
        env::run_variables(context_.plan.environment_of(stage),
                           planning::inherited_by(stage, base::current_environment()));
    for (const auto& [name, value] : own_variables())
      variables[name] = value;
    command.environment = std::move(variables);
    return command;
  }

  base::Environment own_variables() const {
    const fs::path own = context_.directory(try_.stage.name);
    base::Environment variables = try_.stage.environment;
    if (try_.slots && !try_.slots->gpus.empty())
      variables["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(try_.slots->gpus, ","));
    variables["SABATH_METRICS"] = (own / metrics_file).string();
    variables[metrics_directory] = own.string();
    variables["SABATH_PARAMETERS"] = (own / "parameters.json").string();
    variables["SABATH_ATTEMPT"] = std::to_string(context_.attempt);
    variables["SABATH_TRY"] = std::to_string(try_.number);
    if (!try_.prefix) return variables;
    variables.insert(try_.prefix->defaults.begin(), try_.prefix->defaults.end());
    for (const auto& [name, value] :
         rank_variables(*try_.prefix, try_.stage.resources.tasks.value_or(1)))
      variables[name] = value;
    return variables;
  }

  /// Puts the command behind what starts its ranks.
  std::vector<std::string> in_parallel(std::vector<std::string> argv) const {
    if (!try_.prefix) return argv;
    std::vector<std::string> words = try_.prefix->argv;
    words.insert(words.end(),
                 {context_.program.string(),
                  "exec",
                  "--rank",
                  context_.files.directory().string(),
                  try_.stage.name,
                  "--"});
    words.insert(words.end(), argv.begin(), argv.end());
    return words;
  }

  base::ProcessResult run_watched(base::Command command, spec::StageRecord& record) const {
    const spec::PlannedStage& stage = try_.stage;
    std::optional<KeptVariables> kept;
    if (try_.prefix && try_.prefix->loses_variables)
      kept.emplace(context_.directory(stage.name), *command.environment);
    const auto kills = probe::memory_kills(context_.control_group);
    std::optional<base::SignalListener> listener;
    command.on_start = [&](int leader) { pass_signals_on(listener, leader); };
    const auto watch = stop_watch();
    base::ProcessResult process =
        context_.software.run(stage.name, std::move(command), context_.processes, try_.stop);
    listener.reset();
    kept.reset();
    const bool is_reached = watch && watch->finish(process.ok());
    take_end(process, record);
    if (!process.ok())
      record.message = how_it_ended(stage, try_.prefix, process, context_.directory(stage.name));
    if (process.end == base::ProcessEnd::silent) record.message += no_silence;
    if (process.end == base::ProcessEnd::too_loud)
      record.message += ": runs.largest_log is " + base::format_bytes(context_.largest_log);
    if (!process.ok() && probe::memory_kills(context_.control_group) > kills)
      record.message += out_of_memory;
    if (is_stopped(process, is_reached)) {
      record.state = "stopped";
      record.message = *context_.run_stop->reason();
    }
    return process;
  }

  std::unique_ptr<StopWatch> stop_watch() const {
    const std::string& stage = try_.stage.name;
    if (context_.run_stop == nullptr || !StopWatch::is_needed(*context_.run_stop, stage))
      return nullptr;
    return std::make_unique<StopWatch>(
        *context_.run_stop,
        collect::StageFiles{
            stage, context_.directory(stage), context_.files.outputs(stage), {}, {}},
        context_.observer);
  }

  /// Whether a stop condition ended the command, or holds for all that it left (`is_reached`).
  bool is_stopped(const base::ProcessResult& process, bool is_reached) const {
    if (context_.run_stop == nullptr || !context_.run_stop->reason()) return false;
    return process.end == base::ProcessEnd::stopped || (process.ok() && is_reached);
  }

  env::ContainerUse container_use(const std::filesystem::path& own) const {
    env::ContainerUse use;
    use.argv = try_.stage.argv;
    use.variables = own_variables();
    use.working_directory = context_.directory(try_.stage.name) / "work";
    use.home = use.working_directory;
    use.readable = {context_.plan.recipe_directory};
    for (const spec::PlannedInput& input : context_.plan.inputs) {
      use.readable.emplace_back(input.path);
      if (!input.copy.empty()) use.readable.emplace_back(input.copy);
    }
    use.writable = {context_.files.directory()};
    use.id_file = own / "id";
    use.scratch = context_.directory(try_.stage.name);
    return use;
  }

  const StageContext& context_;
  const StageTry& try_;
};

}  // namespace

std::optional<planning::ParallelPrefix> prefix_of(const StageContext& context,
                                                  const spec::PlannedStage& stage) {
  if (!stage.parallel) return std::nullopt;
  return planning::prefix_for(
      *stage.parallel,
      context.prefix,
      stage.resources,
      context.plan.slots.has_value(),
      env::run_variables(context.plan.environment_of(stage), base::current_environment()));
}

base::ProcessResult run_command(const StageContext& context,
                                const StageTry& one,
                                spec::StageRecord& record) {
  return StageCommand(context, one).run(record);
}

}  // namespace sabath::execution
