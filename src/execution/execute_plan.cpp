#include "rank/rank_files.hpp"
#include "record/attempts.hpp"
#include "record/collect_stages.hpp"
#include "record/determinism.hpp"
#include "record/job_facts.hpp"
#include "record/run_facets.hpp"
#include "record/run_software.hpp"
#include "record/run_steps.hpp"
#include "record/take_plan.hpp"
#include "run_host.hpp"
#include "run_stages.hpp"
#include "space_reserve.hpp"
#include "stage_in/node_copies.hpp"
#include "stage_in/node_staging.hpp"
#include "status_observer.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/affinity.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/execution/execute_plan.hpp>
#include <sabath/execution/session_digests.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/record_files.hpp>
#include <sabath/home/redact.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/plan_run.hpp>
#include <sabath/planning/recent_trust.hpp>
#include <sabath/planning/stage_graph.hpp>
#include <sabath/probe/energy.hpp>
#include <sabath/probe/run_group.hpp>
#include <sabath/probe/sampler.hpp>
#include <sabath/provenance/code_watch.hpp>
#include <sabath/report/text.hpp>

#include <algorithm>
#include <future>
#include <list>
#include <mutex>
#include <optional>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// One execution of one plan, from its first status to its record.
class Execution {
 public:
  Execution(const fs::path& run_directory,
            base::ProcessRunner& processes,
            base::Clock& clock,
            base::Observer& observer,
            const NodeSettings& node)
      : files_(run_directory),
        processes_(processes),
        clock_(clock),
        observer_(observer),
        node_(node),
        secrets_(home::known_secrets(base::current_environment(), node.secrets)) {}

  spec::RunRecord execute(const std::stop_token& outer) {
    const std::stop_callback pass_on(outer, [&] { own_stop_.request_stop(); });
    const std::stop_token stop = own_stop_.get_token();
    if (!begin(stop)) return record_;
    std::list<env::EnvironmentLease> leases;
    for (const spec::BuiltEnvironment& environment : plan_.environments())
      leases.emplace_back(environment);
    const probe::GpuSession gpus(node_.sources);
    try {
      stage_in(stop);
      const auto local = local_prefixes(stop);
      // Reads all of the prefixes' folders: meanwhile, the host can be looked at.
      const bool is_known =
          local.empty() && planning::is_recent(plan_.trusted, planning::trust_seen_now());
      const std::shared_future<void> trust = std::async(std::launch::async, [&] {
        if (is_known) return;
        for (const spec::BuiltEnvironment& environment : plan_.environments())
          env::check_trusted(environment, local, node_.trust);
      });
      copy_to_nodes(trust, stop);
      look_at_host();
      // After the look: what the machine is does not depend on the part of it that a run gets.
      if (plan_.place && !plan_.place->cpus.empty()) base::bind_to_cpus(plan_.place->cpus);
      run_stages(local, trust, stop);
      if (ends_run()) collect_metrics();
    } catch (const Error& error) {
      fail(error);
    } catch (const std::exception& error) {
      // From the file system, or out of memory: the run is a record all the same.
      fail(Error(ErrorKind::storage, error.what()));
    }
    finish();
    copies_.clear();
    node_copies_.reset();
    return record_;
  }

 private:
  std::string now() const { return base::format_rfc3339(clock_.now()); }

  /// False where the record is there already: this job of its batch has nothing to do.
  bool begin(const std::stop_token& stop) {
    if (node_.batch) {
      job_ = job_of(node_.batch->plan.site.scheduler, base::current_environment());
      std::error_code code;
      if (fs::exists(files_.record(), code)) {
        record_ = files_.read_record().value();
        return false;
      }
    }
    const Admission admission = admitted(stop);
    plan_ = files_.read_plan();
    if (node_.place) planning::give_place(*node_.place, plan_);
    if (node_.batch) stages_ = stages_of_step(plan_, node_.batch->plan, node_.batch->step);
    begin_attempt(admission.answer == Admission::Answer::again);
    if (is_step_done()) return false;
    if (node_.batch) tell_job();
    recipe_ = spec::parse_recipe(plan_.recipe_text, files_.plan().string() + ":/recipe");
    started_ = clock_.steady();
    record_.started = now();
    if (plan_.code_state && plan_.code_state->git && !plan_.code_state->git->diff.empty())
      masked_ += secrets_.mask_file(files_.directory() / plan_.code_state->git->diff);
    reserve_.emplace(files_.directory());
    home::stamp_process(status_);
    set_state(spec::RunState::running);
    if (status_.attempt > 1)
      home::announce(files_.directory().parent_path(), plan_.run_id, home::RunEvent::planned);
    if (node_.batch)
      home::BatchFiles(node_.batch->folder).tell_started(plan_.run_id, status_.attempt);
    record_.state = spec::RunState::ok;
    return true;
  }

  std::size_t step() const { return node_.batch ? node_.batch->step : 1; }
  bool is_last_step() const { return !node_.batch || step() == node_.batch->plan.steps.size(); }
  bool ends_run() const { return is_last_step() || record_.state != spec::RunState::ok; }
  /// A signal may mean that the scheduler wants the node for others, and gives one back later.
  bool may_come_back() const { return job_ && record_.state == spec::RunState::interrupted; }

  /// Another node may see late what the job before this one wrote.
  Admission admitted(const std::stop_token& stop) {
    const auto start = job_ ? std::optional(job_->start) : std::nullopt;
    const auto begun = clock_.steady();
    while (true) {
      status_ = files_.read_status();
      const auto process = base::ProcessIdentity::parse(status_.process);
      const auto liveness = process ? base::liveness_of(*process) : base::Liveness::unknown;
      const Admission admission = admit(status_, liveness, start, counts_restarts(job_));
      std::error_code code;
      const bool is_ready =
          step() == 1 || fs::exists(step_file(files_, status_.attempt, step() - 1), code);
      if (admission.reason.empty() && is_ready) return admission;
      const std::string place = files_.directory().string() + ": ";
      if (admission.answer == Admission::Answer::never)
        throw Error(ErrorKind::usage, place + admission.reason, "'sabath run' makes a new one");
      const bool is_late = step() == 1 || clock_.steady() - begun > node_.batch->plan.site.grace;
      if (is_late && !admission.reason.empty())
        throw Error(ErrorKind::usage, place + admission.reason);
      if (is_late) {
        throw Error(ErrorKind::usage,
                    place + "step " + std::to_string(step() - 1) + " of it has not ended well");
      }
      if (stop.stop_requested())
        throw Error(ErrorKind::interrupted, place + "stopped before it was begun");
      clock_.sleep_for(std::chrono::milliseconds(500));
    }
  }

  void begin_attempt(bool again) {
    const int before = status_.attempt;
    if (again) keep_attempt(files_, status_);
    if (again || before == 0) ++status_.attempt;
    base::make_directories(files_.attempt(status_.attempt));
    if (again && before > 0) take_over_steps(files_, before, status_.attempt, step() - 1);
    status_.message.clear();
    status_.stage.clear();
    if (job_) status_.job = job_->start;
    if (step() == 1) return;
    const fs::path file = step_file(files_, status_.attempt, step() - 1);
    earlier_ = spec::parse_run_record(base::read_file(file), file.string());
    if (earlier_->code_state) plan_.code_state = earlier_->code_state;
  }

  /// The job of a step that is over was started once more.
  bool is_step_done() {
    const fs::path file = step_file(files_, status_.attempt, step());
    std::error_code code;
    if (is_last_step() || !fs::exists(file, code)) return false;
    record_ = spec::parse_run_record(base::read_file(file), file.string());
    return true;
  }

  void tell_job() {
    const spec::BatchPlan& batch = node_.batch->plan;
    plan_.launch.merge(launch_items(batch));
    if (earlier_) record_.jobs = earlier_->jobs;
    if (!job_) return;
    job_->start.step = step();
    job_->batch = batch.batch_id;
    job_->node = probe::node_name();
    job_->cpus_allowed = cpus_allowed();
    if (!record_.jobs) record_.jobs.emplace();
    record_.jobs->push_back(*job_);
  }

  void write_status() {
    if (is_superseded()) {
      own_stop_.request_stop();
      return;
    }
    status_.updated = now();
    files_.write_status(status_);
  }

  /// The scheduler may have started the job once more while this one still lives on a node that was
  /// given up: then the run is that one's, and nothing of this one is written.
  bool is_superseded() const { return newest_attempt(files_) > status_.attempt; }

  void set_state(spec::RunState state) {
    const std::lock_guard lock(status_mutex_);
    status_.state = state;
    write_status();
  }

  /// What takes long now.
  void set_message(const std::string& text) {
    const std::lock_guard lock(status_mutex_);
    status_.message = text;
    write_status();
  }

  const spec::Site* site() const { return node_.batch ? &node_.batch->plan.site : nullptr; }

  /// The node's own disk, where the site has one for its jobs. Without it the run goes on.
  void stage_in(const std::stop_token& stop) {
    record_.inputs = plan_.inputs;
    if (site() == nullptr) return;
    try {
      const base::Environment own = base::current_environment();
      if (const auto scratch = expanded(site()->scratch, own, observer_))
        scratch_.emplace(*scratch);
      if (!site()->staging.folder.empty()) make_copies(own, stop);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      observer_.warn(error.what(), "the node's own disk is not used");
    } catch (const fs::filesystem_error& error) {
      observer_.warn(error.what(), "the node's own disk is not used");
    }
  }

  int nodes() const {
    return node_.batch ? node_.batch->plan.steps[step() - 1].resources.nodes.value_or(1) : 1;
  }

  /// On this node; for ranks on others see copy_to_nodes.
  void make_copies(const base::Environment& own, const std::stop_token& stop) {
    WantedCopies wanted = wanted_copies(plan_, site()->staging, node_.trust, observer_);
    if (wanted.items.empty()) return;
    wanted.holder += "." + std::to_string(status_.attempt);
    const auto spread = [&](const auto& stage) { return planning::is_spread(stage, nodes()); };
    if (std::ranges::any_of(stages_, spread)) {
      node_copies_.emplace(wanted,
                           files_.attempt(status_.attempt),
                           NodeCopies::Tools{node_.program, processes_, clock_, observer_});
    }
    if (std::ranges::all_of(stages_, spread)) return;
    const auto sees = [&](const auto& stage) { return sees_copies(stage, nodes()); };
    if (std::ranges::none_of(stages_, sees))
      std::erase_if(wanted.items, [](const auto& item) { return !item.image; });
    set_message("copying inputs and environments to this node");
    copies_ = execution::make_copies(wanted, own, processes_, clock_, observer_, stop);
    set_message("");
    for (const HeldCopy& held : copies_)
      see_copy(held, nodes(), plan_);
    stages_ = stages_of_step(plan_, node_.batch->plan, step());
  }

  /// What starts ranks may be of an environment: one that is not trusted its stage tells.
  void copy_to_nodes(const std::shared_future<void>& trust, const std::stop_token& stop) {
    if (!node_copies_) return;
    try {
      trust.get();
    } catch (const Error&) {
      return;
    }
    set_message("copying inputs and environments to the nodes");
    node_copies_->make(starters_of(stages_, nodes(), plan_, site()->prefix), stop);
    set_message("");
    for (const HeldCopy& held : node_copies_->here())
      see_copy(held, nodes(), plan_);
  }

  void look_at_host() {
    spec::HostFacts facts =
        probe::probe_host(node_.sources, plan_.state_directory, processes_, clock_);
    facts.mounts = mounts_of(plan_, files_, node_.sources.root);
    if (const auto noise = report::noise_text(facts); !noise.empty()) observer_.warn(noise);
    home::write_host_facts(files_.attempt(status_.attempt) / ("host-" + facts.node + ".json"),
                           facts);
    record_.hosts.push_back(std::move(facts));
  }

  /// Where the site wants images to be used, and they can be.
  std::vector<env::LocalPrefix> local_prefixes(std::stop_token stop) {
    if (site() != nullptr && site()->staging.environments) return prefixes_of(copies_);
    if (!node_.packed) return {};
    const std::vector<env::PrefixImage> images = images_used(plan_);
    if (images.empty() || !may_use_images(observer_)) return {};
    return env::unpack_images(images, node_.local, processes_, observer_, stop, node_.trust);
  }

  void run_stages(const std::vector<env::LocalPrefix>& local,
                  const std::shared_future<void>& trust,
                  std::stop_token stop) {
    // What an engine starts is in groups of its own: there the tree of processes tells more.
    const bool in_container = std::ranges::any_of(
        plan_.environments(), [](const auto& one) { return env::container_of(one) != nullptr; });
    std::optional<probe::RunGroup> group;
    if (!in_container) group.emplace(plan_.run_id, node_.sources.root);
    probe::SamplerOptions options{.sources = node_.sources, .gpus = planning::gpus_of(due_here())};
    if (group) options.group = group->path();
    probe::UsageSampler sampler(files_.attempt(status_.attempt) /
                                    ("samples-" + probe::node_name() +
                                     (step() > 1 ? "." + std::to_string(step()) : "") + ".jsonl"),
                                options,
                                clock_);
    RunSoftware& software = watched_.emplace(plan_, files_.directory());
    OutputStamps stamps;
    provenance::CodeWatch code(plan_, recipe_);
    if (earlier_)
      note_unchanged(*earlier_, files_, step_file(files_, status_.attempt, step() - 1), stamps);
    StatusObserver observer(observer_, clock_, [&](const auto& text) { set_message(text); });
    const RunStage run = [&](const auto& stage, const auto& place, const auto& made, auto token) {
      // A cache belongs to one thread, and so does the part of the machine.
      cache::Cache cache(plan_.cache_directory, plan_.state_directory, clock_, node_.cache);
      StageRunner runner({processes_,
                          cache,
                          clock_,
                          observer,
                          secrets_,
                          software,
                          stamps,
                          code,
                          node_.program,
                          local,
                          trust,
                          group ? group->of_stage(stage.name) : fs::path(),
                          node_.batch ? node_.batch->plan.site.prefix : std::string(),
                          scratch_ ? scratch_->path() : fs::path(),
                          node_.largest_log,
                          grace_in_job(node_.batch),
                          nodes()},
                         plan_,
                         files_,
                         status_.attempt);
      return runner.run(stage, place, made, token);
    };
    const auto tell = [&](const std::string& names) {
      const std::lock_guard lock(status_mutex_);
      status_.stage = names;
      write_status();
    };
    for (const spec::PlannedStage& stage : due_here()) {
      const std::string problem = planning::memory_problem(
          stage.name, stage.resources, record_.hosts.front().memory.effective_bytes);
      if (!stage.not_due && !problem.empty()) observer_.warn(problem);
    }
    StagesOutcome outcome =
        execution::run_stages(due_here(),
                              capacity_for(due_here(), plan_, record_.hosts.front()),
                              run,
                              tell,
                              stop,
                              earlier_ ? made_by(*earlier_) : MadeOutputs{});
    provenance::note_changes(code, plan_, record_);
    record_.stages = std::move(outcome.stages);
    record_.outputs = std::move(outcome.outputs);
    record_.state = outcome.state;
    record_.message = outcome.message;
    masked_ += outcome.masked;
    executed_ = outcome.executed;
    record_.usage = sampler.finish();
    for (const spec::StageRecord& stage : record_.stages)
      record_.usage.max_rss_bytes = std::max(record_.usage.max_rss_bytes, stage.max_rss_bytes);
    probe::UsageSampler::Energy energy = sampler.energy();
    record_.energy = std::move(energy.text);
    if (!energy.readings.empty()) record_.energy_readings = std::move(energy.readings);
    software_ =
        software.finish(processes_, node_.program, record_.hosts.front().cpu, observer_, stop);
    record_.usage.sampler_cpu_s += software_.cpu_s;
    record_.wall_s = std::chrono::duration<double>(clock_.steady() - started_).count();
    take_ranks();
    take_earlier();
    if (is_superseded()) return;
    if (!ends_run()) return mark_changed(record_.outputs, stamps, files_);
    take_changes(record_.outputs, stamps, files_, plan_.recipe_text, observer_, stop);
    try {
      cache::Cache cache(plan_.cache_directory, plan_.state_directory, clock_, node_.cache);
      keep_outputs(record_.outputs, stamps, files_, node_.largest_output, cache, observer_);
    } catch (const Error& error) {
      observer_.warn(std::string("outputs are only hashed: ") + error.what(), error.hint());
    }
  }

  const std::vector<spec::PlannedStage>& due_here() const {
    return node_.batch ? stages_ : plan_.stages;
  }

  /// What the ranks of parallel stages saw where this process could not.
  void take_ranks() {
    std::vector<std::string> parallel;
    for (const spec::StageRecord& stage : record_.stages) {
      if (stage.prefix && stage.state != "reused") parallel.push_back(stage.name);
    }
    if (parallel.empty()) return;
    take_nodes(files_.attempt(status_.attempt), parallel, record_.wall_s, record_);
    if (record_.energy_readings) record_.energy = probe::energy_text(*record_.energy_readings, {});
  }

  /// What the steps before this one found.
  void take_earlier() {
    if (!earlier_ || has_earlier_) return;
    has_earlier_ = true;
    put_before(*earlier_, record_, software_);
    for (const spec::StageRecord& stage : earlier_->stages) {
      if (stage.state == "ok" || stage.state == "reused") executed_.push_back(stage.name);
    }
    masked_ += earlier_->masked.value_or(0);
    if (record_.energy_readings && earlier_->energy_readings)
      record_.energy = probe::energy_text(*record_.energy_readings, {});
  }

  /// A failure before or after this step's stages takes nothing of the steps before it away.
  void keep_earlier() {
    if (!earlier_ || has_earlier_) return;
    take_earlier();
    try {
      collect_metrics();
    } catch (const std::exception& error) {
      fail(Error(ErrorKind::storage, error.what()));
    }
  }

  /// Metrics of failed runs are collected too: they show how far it came.
  void collect_metrics() {
    const auto files = files_of(executed_, plan_, files_, status_.attempt, own_stop_.get_token());
    const CollectedStages found = collect_stages(files, recipe_.metrics, files_.series());
    record_.metrics = found.metrics;
    spec::Collected collected = found.collected();
    for (spec::StageRecord& stage : record_.stages) {
      const auto extraction = found.stages.find(stage.name);
      note_earlier(files, stage);
      if (extraction != found.stages.end()) stage.bad_metric_lines = extraction->second.bad_lines;
      // A run whose numbers are not all known must not pass for a good one.
      const std::string problem = found.problem(stage.name);
      if (!problem.empty() && record_.state == spec::RunState::ok) {
        fail(Error(ErrorKind::usage, problem));
      }
    }
    if (record_.state == spec::RunState::ok && plan_.only_stage.empty()) {
      const auto missing = found.missing(recipe_.metrics);
      collected.notes.insert(collected.notes.end(), missing.begin(), missing.end());
    }
    for (const std::string& note : collected.notes)
      observer_.warn(note);
    if (!collected.empty()) record_.collected = std::move(collected);
    record_.determinism =
        determinism_of(plan_, recipe_, base::current_environment(), found, software_.threads);
  }

  /// The first failure says how the run ended; what goes wrong after it is added.
  void fail(const Error& error) {
    if (record_.state == spec::RunState::ok) {
      record_.state = error.kind() == ErrorKind::interrupted ? spec::RunState::interrupted
                                                             : spec::RunState::failed;
    }
    record_.message += (record_.message.empty() ? "" : "; ") + std::string(error.what());
  }

  /// Whatever failed on a full disk most likely failed because of that. Gives the room back.
  void tell_full_disk() {
    const std::string problem = reserve_ ? reserve_->problem() : "";
    if (record_.state == spec::RunState::failed && !problem.empty())
      record_.message += " (" + problem + ")";
    reserve_.reset();
  }

  /// The next job goes on from here; until then nobody executes the run.
  void leave_step() {
    reserve_.reset();
    record_.run_id = plan_.run_id;
    record_.ended = now();
    record_.software = software_.software;
    if (!software_.opened.name.empty()) record_.facets = {software_.opened};
    record_.determinism.emplace().threads = software_.threads;
    if (masked_ > 0) record_.masked = masked_;
    base::write_file_atomically(step_file(files_, status_.attempt, step()),
                                home::record_text(record_));
    status_.process.clear();
    status_.pid = 0;
    status_.message = "step " + std::to_string(step()) + " of " +
                      std::to_string(node_.batch->plan.steps.size()) + " is done";
    set_state(spec::RunState::planned);
  }

  void finish() {
    if (is_superseded()) {
      throw Error(ErrorKind::usage,
                  files_.directory().string() + ": another attempt goes on with this run",
                  "this one, which was given up for lost, is not recorded");
    }
    if (!ends_run()) return leave_step();
    const bool comes_back = may_come_back();
    if (node_.batch) tell_out_of_time(*node_.batch, plan_.run_id, clock_.now(), record_);
    tell_full_disk();
    keep_earlier();
    if (node_.batch) complete_stages(plan_, record_);
    fill_record();
    if (comes_back) {
      // As long as nobody has closed it, the same job may go on: also one whose time was over,
      // which code that continues itself puts back into the queue.
      const fs::path file = home::RunFiles(files_.attempt(status_.attempt)).record();
      base::write_file_atomically(file, home::record_text(record_));
    } else {
      write_record();
    }
    status_.message = record_.message;
    set_state(comes_back ? spec::RunState::interrupted : record_.state);
    home::announce(files_.directory().parent_path(), plan_.run_id, home::RunEvent::finished);
    if (node_.batch) home::BatchFiles(node_.batch->folder).tell_ended(plan_.run_id);
  }

  void write_record() const {
    // Never replaced: a second exec of the same directory finds the record of the first.
    if (!base::write_file_once(files_.record(), home::record_text(record_))) {
      throw Error(ErrorKind::usage, files_.record().string() + ": was written by somebody else");
    }
  }

  void fill_record() {
    record_.ended = now();
    record_.wall_s = std::chrono::duration<double>(clock_.steady() - started_).count() +
                     (earlier_ ? earlier_->wall_s : 0);
    record_.attempts = attempts_before(files_, status_.attempt);
    if (record_.inputs.empty()) record_.inputs = plan_.inputs;
    take_plan(plan_, recipe_, record_);
    if (record_.energy.empty()) record_.energy = "none: no stage was started";
    record_.facets = make_facets(plan_, record_.hosts, recipe_, base::current_environment());
    record_.facets.push_back(session_digests(plan_, base::current_environment()));
    if (masked_ > 0) record_.masked = masked_;
    if (!record_.determinism) return;  // the run failed before
    record_.software = software_.software;
    add_software_facets(software_, plan_, files_.directory(), record_.facets);
    record_.facets.push_back(determinism_facet(*record_.determinism, plan_, software_.threads));
  }

  home::RunFiles files_;
  base::ProcessRunner& processes_;
  base::Clock& clock_;
  base::Observer& observer_;
  const NodeSettings& node_;
  const base::KnownSecrets secrets_;
  spec::RunPlan plan_{};
  spec::Recipe recipe_{};
  spec::RunStatus status_{};
  std::mutex status_mutex_{};
  std::stop_source own_stop_{};
  spec::RunRecord record_{};
  std::optional<SpaceReserve> reserve_{};
  base::SteadyTime started_{};
  std::optional<RunSoftware> watched_{};  ///< ends after the record: the kernel takes its time
  FoundSoftware software_{};
  std::optional<ScratchFolder> scratch_{};
  std::optional<NodeCopies> node_copies_{};
  std::vector<HeldCopy> copies_{};
  std::vector<std::string> executed_{};  ///< stages, whose metrics are collected
  std::optional<spec::JobFacts> job_{};
  std::vector<spec::PlannedStage> stages_{};  ///< of the step
  std::optional<spec::RunRecord> earlier_{};  ///< steps
  bool has_earlier_ = false;                  ///< in the record
  std::uint64_t masked_ = 0;
};

}  // namespace

spec::RunRecord execute_plan(const fs::path& run_directory,
                             base::ProcessRunner& processes,
                             base::Clock& clock,
                             base::Observer& observer,
                             std::stop_token stop,
                             const NodeSettings& node) {
  return Execution(run_directory, processes, clock, observer, node).execute(stop);
}

}  // namespace sabath::execution
