#include "attempt_lease.hpp"
#include "execution_context.hpp"
#include "host_facts.hpp"
#include "node_storage.hpp"
#include "record/job_facts.hpp"
#include "record/record_builder.hpp"
#include "record/run_steps.hpp"
#include "run_stages.hpp"
#include "stage_runner.hpp"
#include "status_observer.hpp"
#include "stop/event_hooks.hpp"
#include "stop/run_stop.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/affinity.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/execution/execute_plan.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/node_slots.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/probe/run_group.hpp>
#include <sabath/probe/sampler.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <future>
#include <list>
#include <optional>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using spec::RunState;

/// What is measured while the stages of a run execute: usage, energy, software, code. Destroy it
/// after the record is written: the kernel takes time to end the watches.
class StageWatch {
 public:
  StageWatch(const ExecutionContext& context, int attempt)
      : context_(context),
        software_(context.plan, context.files.directory()),
        code_(context.plan, context.recipe) {
    // What an engine starts is in groups of its own: there the tree of processes tells more.
    const bool in_container = std::ranges::any_of(
        context.plan.environments(),
        [](const auto& environment) { return env::container_of(environment) != nullptr; });
    if (!in_container) group_.emplace(context.plan.run_id, context.node.sources.root);
    probe::SamplerOptions options{.sources = context.node.sources,
                                  .gpus = planning::gpus_of(context.due())};
    if (group_) options.group = group_->path();
    const std::string step = context.step() > 1 ? "." + std::to_string(context.step()) : "";
    sampler_.emplace(
        context.files.attempt(attempt) / ("samples-" + probe::node_name() + step + ".jsonl"),
        options,
        context.clock);
  }

  RunSoftware& software() { return software_; }
  provenance::CodeWatch& code() { return code_; }
  /// Returns the control group of a stage; empty: none.
  std::filesystem::path group_of(const std::string& stage) const {
    return group_ ? group_->of_stage(stage) : std::filesystem::path();
  }
  /// Ends the measurements and puts them into a record that has its stages and hosts.
  FoundSoftware finish(spec::RunRecord& record, const std::stop_token& stop) {
    record.usage = sampler_->finish();
    for (const spec::StageRecord& stage : record.stages)
      record.usage.max_rss_bytes = std::max(record.usage.max_rss_bytes, stage.max_rss_bytes);
    probe::UsageSampler::Energy energy = sampler_->energy();
    record.energy = std::move(energy.text);
    if (!energy.readings.empty()) record.energy_readings = std::move(energy.readings);
    FoundSoftware found = software_.finish(context_.processes,
                                           context_.node.program,
                                           record.hosts.front().cpu,
                                           context_.observer,
                                           stop);
    record.usage.sampler_cpu_s += found.cpu_s;
    sampler_.reset();
    group_.reset();
    return found;
  }

 private:
  const ExecutionContext& context_;
  std::optional<probe::RunGroup> group_{};
  std::optional<probe::UsageSampler> sampler_{};
  RunSoftware software_;
  provenance::CodeWatch code_;
};

/// The commands of a plan name the folder that it was made for.
void refuse_copy(const home::RunFiles& files) {
  const spec::RunPlan plan = files.read_plan();
  for (const spec::PlannedStage& stage : plan.stages) {
    const auto planned = stage.environment.find("SABATH_RUN_DIR");
    std::error_code code;
    if (planned == stage.environment.end() ||
        fs::equivalent(planned->second, files.directory(), code))
      continue;
    throw Error(ErrorKind::usage,
                files.directory().string() + ": was planned as " + planned->second +
                    ", and its commands write there",
                "make a new run: '" + plan.reproduce + "'");
  }
}

/// One execution of one plan, from its first status to its record.
class Execution {
 public:
  explicit Execution(ExecutionContext context)
      : context_(std::move(context)),
        secrets_(home::known_secrets(base::current_environment(), context_.node.secrets)) {}

  spec::RunRecord execute(const std::stop_token& outer) {
    const std::stop_callback pass_on(outer, [&] { own_stop_.request_stop(); });
    const std::stop_token stop = own_stop_.get_token();
    hooks_.set_stop(outer);  // a run that stops itself reports that
    if (!begin(stop)) return builder_.record();
    std::list<env::EnvironmentLease> leases;
    for (const spec::BuiltEnvironment& environment : context_.plan.environments())
      leases.emplace_back(environment);
    const auto gpus = probe::gpu_session(context_.node.sources);
    try {
      execute_stages(stop);
    } catch (const Error& error) {
      builder_.fail(error);
    } catch (const std::exception& error) {
      // From the file system, or out of memory: the run gets a record all the same.
      builder_.fail(Error(ErrorKind::storage, error.what()));
    }
    finish();
    resources_.release();
    return builder_.record();
  }

 private:
  bool ends_run() const { return context_.is_last_step() || !builder_.is_ok(); }

  /// Returns false where the record exists already: this job of its batch has nothing to do.
  bool begin(const std::stop_token& stop) {
    const home::RunFiles& files = context_.files;
    const NodeSettings& node = context_.node;
    spec::RunPlan& plan = context_.plan;
    if (node.batch) {
      context_.job = job_of(node.batch->plan.site.scheduler, base::current_environment());
      std::error_code code;
      if (fs::exists(files.record(), code)) {
        builder_.record() = files.read_record().value();
        return false;
      }
    }
    refuse_copy(files);
    const Admission admission = lease_.admit_run(stop);
    plan = files.read_plan();
    if (node.slots) planning::assign_slots(*node.slots, plan);
    if (node.batch) context_.step_stages = stages_of_step(plan, node.batch->plan, node.batch->step);
    lease_.begin_attempt(admission.answer == Admission::Answer::again);
    take_step_before();
    if (is_step_done()) return false;
    if (node.batch) add_job();
    context_.recipe = spec::parse_recipe(plan.recipe_text, files.plan().string() + ":/recipe");
    builder_.start(lease_.attempt());
    if (plan.code_state && plan.code_state->git && !plan.code_state->git->diff.empty())
      builder_.add_masked(secrets_.mask_file(files.directory() / plan.code_state->git->diff));
    resources_.reserve_space();
    lease_.start();
    if (lease_.attempt() > 1) home::announce(files.directory(), home::RunEvent::planned);
    if (node.batch)
      home::BatchFiles(node.batch->folder).note_started(plan.run_id, lease_.attempt());
    hooks_.start();
    builder_.record().state = RunState::ok;
    return true;
  }

  fs::path step_record(std::size_t step) const {
    return step_file(context_.files, lease_.attempt(), step);
  }

  void take_step_before() {
    if (context_.step() == 1) return;
    const fs::path file = step_record(context_.step() - 1);
    context_.earlier = spec::parse_run_record(base::read_file(file), file.string());
    if (context_.earlier->code_state) context_.plan.code_state = context_.earlier->code_state;
  }

  /// The scheduler started the job of a finished step again.
  bool is_step_done() {
    const fs::path file = step_record(context_.step());
    std::error_code code;
    if (context_.is_last_step() || !fs::exists(file, code)) return false;
    builder_.record() = spec::parse_run_record(base::read_file(file), file.string());
    return true;
  }

  void add_job() {
    const spec::BatchPlan& batch = context_.node.batch->plan;
    context_.plan.launch.merge(launch_items(batch));
    if (auto& job = context_.job) {
      job->start.step = context_.step();
      job->batch = batch.batch_id;
      job->node = probe::node_name();
      job->cpus_allowed = cpus_allowed();
      if (context_.plan.slots && !context_.plan.slots->cpus.empty()) job->shared = true;
    }
    builder_.add_jobs();
  }

  void execute_stages(const std::stop_token& stop) {
    const spec::RunPlan& plan = context_.plan;
    const NodeSettings& node = context_.node;
    builder_.record().inputs = plan.inputs;
    resources_.stage_in(stop);
    const auto local = resources_.local_prefixes(stop);
    // The check reads all directories of the prefixes; meanwhile the host is examined.
    const bool is_known =
        local.empty() && planning::is_recent(plan.trusted, planning::trust_seen_now());
    const std::shared_future<void> trust = std::async(std::launch::async, [&, is_known] {
      if (is_known) return;
      for (const spec::BuiltEnvironment& environment : plan.environments())
        env::check_trusted(environment, local, node.trust);
    });
    resources_.copy_to_nodes(trust, stop);
    look_at_host();
    // Only now: the description of the machine does not depend on the part that a run gets.
    if (plan.slots && !plan.slots->cpus.empty()) base::bind_to_cpus(plan.slots->cpus);
    run_stages(local, trust, stop);
    if (ends_run()) builder_.collect_metrics();
  }

  void look_at_host() {
    const auto& node = context_.node;
    spec::HostFacts facts = probe::probe_host(
        node.sources, context_.plan.state_directory, context_.processes, context_.clock);
    facts.mounts = mounts_of(context_.plan, context_.files, node.sources.root);
    if (const auto noise = report::noise_text(facts); !noise.empty()) context_.observer.warn(noise);
    home::write_host_facts(
        context_.files.attempt(lease_.attempt()) / ("host-" + facts.node + ".json"), facts);
    builder_.record().hosts.push_back(std::move(facts));
  }

  void run_stages(const std::vector<env::LocalPrefix>& local,
                  const std::shared_future<void>& trust,
                  const std::stop_token& stop) {
    const NodeSettings& node = context_.node;
    spec::RunPlan& plan = context_.plan;
    spec::RunRecord& record = builder_.record();
    RunStop run_stop(context_.recipe, finished_run());
    const std::stop_callback pass_on(stop, [&] { run_stop.interrupt(); });
    watch_.emplace(context_, lease_.attempt());
    OutputStamps stamps;
    if (context_.earlier)
      note_unchanged(*context_.earlier, context_.files, step_record(context_.step() - 1), stamps);
    StatusObserver observer(
        context_.observer, context_.clock, [&](const auto& text) { lease_.set_message(text); });
    const RunStage run = [&](const auto& stage, const auto& slots, const auto& made, auto token) {
      // A cache belongs to one thread, and so does a part of the machine.
      cache::Cache cache(plan.cache_directory, plan.state_directory, context_.clock, node.cache);
      const StageContext context{context_.processes,
                                 cache,
                                 context_.clock,
                                 observer,
                                 secrets_,
                                 watch_->software(),
                                 stamps,
                                 watch_->code(),
                                 node.program,
                                 local,
                                 trust,
                                 watch_->group_of(stage.name),
                                 node.batch ? node.batch->plan.site.prefix : std::string(),
                                 resources_.scratch(),
                                 node.largest_log,
                                 grace_in_job(node.batch),
                                 context_.nodes(),
                                 plan,
                                 context_.files,
                                 lease_.attempt(),
                                 &run_stop};
      return run_stage(context, stage, slots, made, token);
    };
    const spec::HostFacts& host = record.hosts.front();
    for (const spec::PlannedStage& stage : context_.due()) {
      const std::string problem =
          planning::memory_problem(stage.name, stage.resources, host.memory.effective_bytes);
      if (!stage.not_due && !problem.empty()) context_.observer.warn(problem);
    }
    builder_.take_stages(execution::run_stages(
        context_.due(),
        capacity_for(context_.due(), plan, host),
        run,
        [&](const std::string& names) { lease_.set_stage(names); },
        run_stop.token(),
        context_.earlier ? made_by(*context_.earlier) : MadeOutputs{}));
    has_diverged_ = run_stop.has_diverged();
    provenance::note_changes(watch_->code(), plan, record);
    builder_.take_software(watch_->finish(record, stop));
    if (!lease_.is_superseded()) keep_outputs(stamps, stop);
  }

  /// The run that this one is compared with while it runs.
  std::optional<FinishedRun> finished_run() const {
    if (!context_.plan.stop_when_diverged) return std::nullopt;
    return read_finished(context_.files.reference(), context_.recipe);
  }

  void keep_outputs(OutputStamps& stamps, const std::stop_token& stop) {
    const home::RunFiles& files = context_.files;
    const spec::RunPlan& plan = context_.plan;
    const NodeSettings& node = context_.node;
    std::vector<spec::OutputRecord>& outputs = builder_.record().outputs;
    if (!ends_run()) return mark_changed(outputs, stamps, files);
    take_changes(outputs, stamps, files, plan.recipe_text, context_.observer, stop);
    try {
      cache::Cache cache(plan.cache_directory, plan.state_directory, context_.clock, node.cache);
      execution::keep_outputs(
          outputs, stamps, files, node.largest_output, cache, context_.observer);
    } catch (const Error& error) {
      context_.observer.warn(std::string("outputs are only hashed: ") + error.what(), error.hint());
    }
  }

  /// Writes the record of a step, from which the next job continues the run.
  void leave_step() {
    resources_.free_space();
    builder_.fill_step();
    base::write_file_atomically(step_record(context_.step()), home::record_text(builder_.record()));
    lease_.leave("step " + std::to_string(context_.step()) + " of " +
                 std::to_string(context_.node.batch->plan.steps.size()) + " is done");
  }

  /// Returns false where there is one.
  bool write_record(const spec::RunRecord& record) {
    const home::RunFiles& files = context_.files;
    try {
      return files.write_record(record);
    } catch (const Error& error) {
      if (!resources_.write_held(files.record(), home::record_text(record))) throw;
      context_.observer.warn(error.what(), "free some space; the record was written all the same");
      return true;
    }
  }

  void finish() {
    const home::RunFiles& files = context_.files;
    const spec::RunPlan& plan = context_.plan;
    const NodeSettings& node = context_.node;
    spec::RunRecord& record = builder_.record();
    if (lease_.is_superseded()) {
      throw Error(ErrorKind::usage,
                  files.directory().string() + ": another attempt has taken over this run",
                  "this attempt was given up as lost and is not recorded");
    }
    if (!ends_run()) return leave_step();
    // A signal may mean that the scheduler needs the node for another job and restarts this one.
    const bool comes_back = context_.job && record.state == RunState::interrupted;
    if (node.batch) mark_out_of_time(*node.batch, plan.run_id, context_.clock.now(), record);
    // A failure on a full disk is most likely caused by it.
    const std::string full = resources_.free_space();
    if (record.state == RunState::failed && !full.empty()) record.message += " (" + full + ")";
    builder_.keep_earlier();
    if (node.batch) complete_stages(plan, record);
    builder_.fill();
    // Until the run is closed, the same job may continue it. That includes a job whose time was
    // over: code that continues itself returns it to the queue.
    if (comes_back) {
      base::write_file_atomically(home::RunFiles(files.attempt(lease_.attempt())).record(),
                                  home::record_text(record));
    } else if (!write_record(record)) {
      // Never replaced: a second exec of the same directory finds the record of the first.
      throw Error(ErrorKind::usage, files.record().string() + ": was written by another process");
    }
    try {
      lease_.end(comes_back ? RunState::interrupted : record.state, record.message);
      home::announce(files.directory(), home::RunEvent::finished);
    } catch (const Error& error) {
      if (comes_back || error.kind() != ErrorKind::storage) throw;
      context_.observer.warn(error.what(), error.hint());  // the record counts
    }
    if (node.batch) home::BatchFiles(node.batch->folder).note_ended(plan.run_id);
    if (!comes_back) hooks_.end(record, has_diverged_);
  }

  ExecutionContext context_;
  const base::KnownSecrets secrets_;
  std::stop_source own_stop_{};
  AttemptLease lease_{context_, own_stop_};
  NodeStorage resources_{context_, lease_};
  std::optional<StageWatch> watch_{};
  RecordBuilder builder_{context_, own_stop_.get_token()};
  bool has_diverged_ = false;
  EventHooks hooks_{context_};  ///< last: it uses the others
};

}  // namespace

spec::RunRecord execute_plan(const fs::path& run_directory,
                             base::ProcessRunner& processes,
                             base::Clock& clock,
                             base::Observer& observer,
                             std::stop_token stop,
                             const NodeSettings& node) {
  return Execution({home::RunFiles(run_directory), processes, clock, observer, node}).execute(stop);
}

}  // namespace sabath::execution
