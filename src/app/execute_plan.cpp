#include "collect_stages.hpp"
#include "determinism.hpp"
#include "recent_trust.hpp"
#include "record_files.hpp"
#include "redact.hpp"
#include "run_facets.hpp"
#include "run_host.hpp"
#include "run_software.hpp"
#include "run_stages.hpp"
#include "space_reserve.hpp"
#include "stage_graph.hpp"
#include "status_observer.hpp"

#include <sabath/app/execute_plan.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/affinity.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process_identity.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/probe/run_group.hpp>
#include <sabath/probe/sampler.hpp>
#include <sabath/report/text.hpp>

#include <algorithm>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <optional>

namespace sabath::app {
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
        secrets_(known_secrets(base::current_environment(), node.secrets)) {}

  spec::RunRecord execute(std::stop_token stop) {
    begin();
    std::list<env::EnvironmentLease> leases;
    for (const spec::BuiltEnvironment& environment : plan_.environments())
      leases.emplace_back(environment);
    const probe::GpuSession gpus(node_.sources);
    try {
      const auto local = local_prefixes(stop);
      // Reads all of the prefixes' folders: meanwhile, the host can be looked at.
      const bool is_known = local.empty() && is_recent(plan_.trusted, trust_seen_now());
      const std::shared_future<void> trust = std::async(std::launch::async, [&] {
        if (is_known) return;
        for (const spec::BuiltEnvironment& environment : plan_.environments())
          env::check_trusted(environment, local);
      });
      look_at_host();
      // After the look: what the machine is does not depend on the part of it that a run gets.
      if (plan_.place && !plan_.place->cpus.empty()) base::bind_to_cpus(plan_.place->cpus);
      run_stages(local, trust, stop);
      collect_metrics();
    } catch (const Error& error) {
      fail(error);
    } catch (const std::exception& error) {
      // From the file system, or out of memory: the run is a record all the same.
      fail(Error(ErrorKind::storage, error.what()));
    }
    finish();
    return record_;
  }

 private:
  std::string now() const { return base::format_rfc3339(clock_.now()); }

  void begin() {
    status_ = files_.read_status();
    if (spec::is_final(status_.state)) {
      throw Error(ErrorKind::usage,
                  files_.directory().string() + ": this run is finished already",
                  "'sabath run' makes a new one");
    }
    refuse_live();
    plan_ = files_.read_plan();
    recipe_ = spec::parse_recipe(plan_.recipe_text, files_.plan().string() + ":/recipe");
    started_ = clock_.steady();
    record_.started = now();
    if (plan_.code_state && plan_.code_state->git && !plan_.code_state->git->diff.empty())
      masked_ += secrets_.mask_file(files_.directory() / plan_.code_state->git->diff);
    ++status_.attempt;
    base::make_directories(files_.attempt(status_.attempt));
    reserve_.emplace(files_.directory());
    stamp_process(status_);
    set_state(spec::RunState::running);
    record_.state = spec::RunState::ok;
  }

  /// A second exec would write into the files of the first. What runs on another node cannot be
  /// seen: a scheduler that starts a run again there knows that the first is gone.
  void refuse_live() const {
    if (status_.state != spec::RunState::running) return;
    const auto process = base::ProcessIdentity::parse(status_.process);
    if (!process || base::liveness_of(*process) != base::Liveness::running) return;
    throw Error(ErrorKind::usage,
                files_.directory().string() + ": this run goes on already, as process " +
                    std::to_string(status_.pid) + " on " + status_.node);
  }

  void write_status() {
    status_.updated = now();
    files_.write_status(status_);
  }

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

  void look_at_host() {
    spec::HostFacts facts =
        probe::probe_host(node_.sources, plan_.state_directory, processes_, clock_);
    facts.mounts = mounts_of(plan_, files_, node_.sources.root);
    if (const auto noise = report::noise_text(facts); !noise.empty()) observer_.warn(noise);
    write_host_facts(files_.attempt(status_.attempt) / ("host-" + facts.node + ".json"), facts);
    record_.hosts.push_back(std::move(facts));
  }

  /// Where the site wants images to be used, and they can be.
  std::vector<env::LocalPrefix> local_prefixes(std::stop_token stop) {
    if (!node_.packed) return {};
    std::map<fs::path, env::PrefixImage> found;  // variants share layers
    for (const spec::BuiltEnvironment& environment : plan_.environments()) {
      if (env::container_of(environment) != nullptr) continue;
      for (env::PrefixImage& image : env::images_of(environment))
        found.emplace(image.prefix, std::move(image));
    }
    if (found.empty()) return {};
    std::vector<env::PrefixImage> images;
    for (auto& [prefix, image] : found)
      images.push_back(std::move(image));
    if (!env::may_enter()) {
      observer_.warn(
          "environment: its images are not used: this system lets users have no "
          "namespaces of their own",
          "the files in the cache are used instead");
      return {};
    }
    return env::unpack_images(images, node_.local, processes_, observer_, stop);
  }

  void run_stages(const std::vector<env::LocalPrefix>& local,
                  const std::shared_future<void>& trust,
                  std::stop_token stop) {
    // What an engine starts is in groups of its own, so that there the tree of processes tells
    // more.
    const auto environments = plan_.environments();
    const bool in_container = std::any_of(
        environments.begin(), environments.end(), [](const spec::BuiltEnvironment& environment) {
          return env::container_of(environment) != nullptr;
        });
    std::optional<probe::RunGroup> group;
    if (!in_container) group.emplace(plan_.run_id, node_.sources.root);
    probe::SamplerOptions options;
    options.sources = node_.sources;
    if (group) options.group = group->path();
    if (plan_.place) options.gpus = plan_.place->gpus;
    probe::UsageSampler sampler(
        files_.attempt(status_.attempt) / ("samples-" + probe::node_name() + ".jsonl"),
        options,
        clock_);
    RunSoftware software(plan_, files_.directory());
    OutputStamps stamps;
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
                          node_.program,
                          local,
                          trust,
                          group ? group->of_stage(stage.name) : fs::path()},
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
    for (const spec::PlannedStage& stage : plan_.stages) {
      const std::string problem =
          memory_problem(stage.name, stage.resources, record_.hosts.front().memory.effective_bytes);
      if (!stage.not_due && !problem.empty()) observer_.warn(problem);
    }
    StagesOutcome outcome = app::run_stages(plan_.stages, capacity(), run, tell, stop);
    record_.stages = std::move(outcome.stages);
    record_.outputs = std::move(outcome.outputs);
    record_.state = outcome.state;
    record_.message = outcome.message;
    masked_ += outcome.masked;
    for (const std::string& stage : outcome.executed) {
      stages_to_collect_.push_back(
          {stage, files_.attempt(status_.attempt) / stage, files_.outputs(stage)});
    }
    record_.usage = sampler.finish();
    probe::UsageSampler::Energy energy = sampler.energy();
    record_.energy = std::move(energy.text);
    if (!energy.readings.empty()) record_.energy_readings = std::move(energy.readings);
    software_ =
        software.finish(processes_, node_.program, record_.hosts.front().cpu, observer_, stop);
    record_.usage.sampler_cpu_s += software_.cpu_s;
    try {
      cache::Cache cache(plan_.cache_directory, plan_.state_directory, clock_, node_.cache);
      keep_outputs(record_.outputs, stamps, files_, node_.largest_output, cache, observer_);
    } catch (const Error& error) {
      observer_.warn(std::string("outputs are only hashed: ") + error.what(), error.hint());
    }
  }

  /// What stages that run at the same time may divide.
  NodeCapacity capacity() const {
    if (!StageGraph::has_company(plan_.stages)) return {};
    NodeCapacity capacity;
    capacity.cores = probe::usable_cores();  // this process is bound to the run's already
    capacity.memory_bytes = record_.hosts.front().memory.effective_bytes;
    // Of a study's memory a run has as much as its largest stage wants.
    if (plan_.place) {
      std::uint64_t own = 0;
      for (const spec::PlannedStage& stage : plan_.stages)
        own = std::max(own, stage.resources.memory_bytes);
      if (own > 0) capacity.memory_bytes = std::min(capacity.memory_bytes, own);
    }
    const bool own_gpus = plan_.place && !plan_.place->gpus.empty();
    capacity.gpus = own_gpus ? plan_.place->gpus : visible_gpus(record_.hosts.front().gpus);
    return capacity;
  }

  /// Metrics of failed runs are collected too: they show how far it came.
  void collect_metrics() {
    const CollectedStages found =
        collect_stages(stages_to_collect_, recipe_.metrics, files_.series());
    record_.metrics = found.metrics;
    spec::Collected collected = found.collected();
    for (spec::StageRecord& stage : record_.stages) {
      const auto extraction = found.stages.find(stage.name);
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

  void finish() {
    tell_full_disk();
    fill_record();
    // Never replaced: a second exec of the same directory finds the record of the first.
    if (!base::write_file_once(files_.record(), record_text(record_))) {
      throw Error(ErrorKind::usage, files_.record().string() + ": was written by somebody else");
    }
    status_.message = record_.message;
    set_state(record_.state);
    announce(files_.directory().parent_path(), plan_.run_id, RunEvent::finished);
  }

  /// What this process has, and what sabath sets for all stages alike: threads, switches, seeds.
  base::Environment stage_variables() const {
    base::Environment variables = base::current_environment();
    std::vector<spec::PlannedStage> due = plan_.stages;
    std::erase_if(due, [](const auto& stage) { return stage.not_due.has_value(); });
    if (due.empty()) return variables;
    for (const auto& [name, value] : due.front().environment) {
      const bool is_common =
          std::all_of(due.begin(), due.end(), [&name = name, &value = value](const auto& one) {
            const auto found = one.environment.find(name);
            return found != one.environment.end() && found->second == value;
          });
      if (is_common) variables[name] = value;
    }
    return variables;
  }

  void fill_record() {
    record_.run_id = plan_.run_id;
    record_.study_id = plan_.study_id;
    record_.sabath_version = plan_.sabath_version;
    record_.created = plan_.created;
    record_.ended = now();
    record_.wall_s = std::chrono::duration<double>(clock_.steady() - started_).count();
    record_.user = plan_.launch.contains("user") ? plan_.launch.at("user") : "";
    record_.recipe_name = recipe_.name;
    record_.recipe_digest = recipe_.digest();
    record_.recipe_definition = recipe_.definition_digest();
    record_.recipe_text = plan_.recipe_text;
    record_.model = recipe_.model;
    record_.parameters = plan_.parameters;
    for (const spec::Parameter& parameter : recipe_.parameters) {
      if (!parameter.affects_result) record_.execution_parameters.push_back(parameter.name);
    }
    record_.seed = plan_.seed;
    record_.deterministic = recipe_.deterministic;
    record_.require = recipe_.require;
    record_.tags = plan_.tags;
    record_.inputs = plan_.inputs;
    record_.environment = plan_.environment;
    record_.variants = plan_.variants;
    record_.variables = variables_that_matter(stage_variables());
    if (record_.energy.empty()) record_.energy = "none: no stage was started";
    record_.facets = make_facets(plan_, record_.hosts);
    add_software();
    record_.only_stage = plan_.only_stage;
    record_.reproduce = plan_.reproduce;
    record_.code_state = plan_.code_state;
    record_.variant = plan_.variant;
    record_.repeats = plan_.repeats;
    if (masked_ > 0) record_.masked = masked_;
    record_.task = plan_.task;
  }

  /// What was found while the stages ran; a run that failed before has none.
  void add_software() {
    if (!record_.determinism) return;
    record_.software = software_.software;
    record_.facets.push_back(libraries_facet(software_, plan_, files_.directory()));
    record_.facets.push_back(determinism_facet(*record_.determinism, plan_, software_.threads));
  }

  RunFiles files_;
  base::ProcessRunner& processes_;
  base::Clock& clock_;
  base::Observer& observer_;
  const NodeSettings& node_;
  const base::KnownSecrets secrets_;
  spec::RunPlan plan_{};
  spec::Recipe recipe_{};
  spec::RunStatus status_{};
  std::mutex status_mutex_{};
  spec::RunRecord record_{};
  std::optional<SpaceReserve> reserve_{};
  base::SteadyTime started_{};
  FoundSoftware software_{};
  std::vector<collect::StageFiles> stages_to_collect_{};
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

}  // namespace sabath::app
