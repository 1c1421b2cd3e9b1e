#include <sabath/app/run_study.hpp>
#include <sabath/base/error.hpp>
#include <sabath/execution/host_lock.hpp>
#include <sabath/execution/run_executors.hpp>
#include <sabath/home/heartbeat.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/planning/node_slots.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using spec::RunState;

/// Longest wait for other drivers; after it cores may be shared.
constexpr std::chrono::seconds lock_patience{10};

struct Machine {
  planning::NodeCapacity capacity{};
  planning::Division division{};
};

/// One run at a time needs nothing of the machine.
Machine machine_for(const spec::Recipe& recipe, int jobs, const StudyTools& tools) {
  if (jobs == 1) return {};
  Machine machine{planning::look_at_node(tools.processes), {}};
  machine.division = planning::divide(machine.capacity, planning::needs_of(recipe), jobs);
  return machine;
}

/// Driver that brings a study to its end.
class StudyDrive {
 public:
  StudyDrive(const home::StudyFiles& files,
             const spec::StudyPlan& plan,
             const planning::PreparedRecipe& prepared,
             const Machine& machine,
             const StudyTools& tools)
      : files_(files),
        plan_(plan),
        prepared_(prepared),
        jobs_(machine.division.jobs),
        is_bound_(machine.division.cores > 0),
        slots_(machine.capacity, machine.division),
        tools_(tools),
        observer_(tools.observer),
        varied_(planning::varied_parameters(plan.points)) {}

  /// Follows runs that are being executed, and queues the rest.
  void take_stock(const Resumption& resumption) {
    const std::vector<home::StudyFiles::Run> runs = files_.runs();
    std::vector<fs::path> directories;
    for (const home::StudyFiles::Run& run : runs)
      directories.push_back(tools_.folders.run(run.run_id));
    // In this order: a run that nobody executes now has an end already.
    const auto executors = execution::executors_of(directories, resumption.take_over);
    const analysis::StudyOutcome before = analysis::look_at_study(files_, tools_.folders);
    std::vector<bool> busy(plan_.points.size());
    for (const home::StudyFiles::Run& run : runs) {
      const auto executor = executors.find(run.run_id);
      if (executor == executors.end() || run.point >= busy.size()) continue;
      busy[run.point] = true;
      follow(run, executor->second);
    }
    for (std::size_t i = 0; i < plan_.points.size(); ++i) {
      const auto& newest = before.points[i].run;
      if (busy[i]) continue;
      const bool done = newest && analysis::is_settled(newest->state) &&
                        !(resumption.retry && newest->state == RunState::failed);
      if (done) {
        ++done_;
        continue;
      }
      if (newest) end_what_is_left(*newest);
      waiting_.push_back(i);
    }
  }

  void run(std::stop_token stop) {
    std::chrono::nanoseconds pause = execution::first_look;
    report();
    while (true) {
      give_sign();
      if (stop.stop_requested() && !cancelled_) {
        for (const Flight& flight : flights_)
          flight.run.cancel();
        cancelled_ = true;
        waiting_.clear();
      }
      const bool moved = collect() + launch_waiting(stop) > 0;
      if (flights_.empty() && waiting_.empty()) break;
      tools_.clock.sleep_for(pause);
      pause = moved ? execution::first_look : execution::longer_look(pause);
    }
    observer_.progress({task(), done_, plan_.points.size(), false, true});
    if (!problem_) return;
    observer_.warn(task() + ": ended early",
                   "run 'sabath run --resume " + plan_.study_id + "' to continue");
    std::rethrow_exception(problem_);
  }

 private:
  struct Flight {
    std::size_t point = 0;
    execution::RunInFlight run;
    spec::ResourceSlots slots{};
  };

  std::string task() const { return "study " + plan_.study_id; }
  void report() const { observer_.progress({task(), done_, plan_.points.size(), false, false}); }

  std::string name_of(std::size_t point) const {
    const std::string text = planning::point_text(plan_.points[point], varied_);
    return "run " + std::to_string(point + 1) + " of " + std::to_string(plan_.points.size()) +
           (text.empty() ? "" : " (" + text + ")");
  }

  void follow(const home::StudyFiles::Run& run, const launch::JobId& job) {
    const fs::path directory = tools_.folders.run(run.run_id);
    const spec::ResourceSlots slots =
        home::RunFiles(directory).read_plan().slots.value_or(spec::ResourceSlots{});
    slots_.occupy(slots);
    observer_.note(name_of(run.point) + ": " + run.run_id + " is still running");
    flights_.push_back({run.point, tools_.runner.follow(directory, job), slots});
  }

  /// A stage that outlived its executor would run beside its successor, on the same cores.
  void end_what_is_left(const execution::RunOutcome& newest) {
    if (newest.state == RunState::ok || newest.state == RunState::failed) return;
    const std::size_t left = execution::end_leftovers(tools_.folders.run(newest.run_id));
    if (left == 0) return;
    observer_.warn("run " + newest.run_id + ": " + std::to_string(left) +
                   " process(es) that it had left were ended");
  }

  /// Lets running runs end, and begins nothing more.
  void give_up() {
    problem_ = std::current_exception();
    waiting_.clear();
  }

  void give_sign() {
    const base::SteadyTime now = tools_.clock.steady();
    if (last_sign_ && now - *last_sign_ < home::heartbeat_interval) return;
    last_sign_ = now;
    try {
      files_.send_heartbeat();
    } catch (const Error&) {
      give_up();
    }
  }

  /// A run that an earlier driver started without --jobs, for example.
  bool has_unbound_flight() const {
    return std::ranges::any_of(flights_,
                               [](const Flight& flight) { return flight.slots.cpus.empty(); });
  }

  /// Takes cores and GPUs that no other run of this user has here; any where too few are left.
  std::optional<spec::ResourceSlots> take_slots() {
    if (!is_bound_) return slots_.take();
    planning::NodeSlots apart = slots_;
    std::string others;
    for (const auto& [id, slots] : execution::slots_taken_here()) {
      const bool own = std::ranges::any_of(
          flights_, [&id = id](const Flight& one) { return one.run.run_id() == id; });
      if (own) continue;
      apart.occupy(slots);
      others += (others.empty() ? "" : ", ") + id;
    }
    if (auto slots = apart.take()) {
      slots_.occupy(*slots);
      return slots;
    }
    auto slots = slots_.take();
    if (slots && !warned_of_sharing_) {
      warned_of_sharing_ = true;
      observer_.warn(task() + ": shares cores with " + others,
                     "runs that have cores of their own do not disturb each other's timings");
    }
    return slots;
  }

  std::size_t launch_waiting(const std::stop_token& stop) {
    std::size_t launched = 0;
    while (!waiting_.empty() && flights_.size() < jobs_) {
      if (is_bound_ && has_unbound_flight()) break;
      // Held until the run is in the table of processes, where others see its cores.
      std::optional<execution::HostLock> lock;
      if (is_bound_) lock.emplace("cores", lock_patience, tools_.clock);
      const auto slots = take_slots();
      if (!slots) break;
      try {
        launch(waiting_.front(), *slots, stop);
      } catch (...) {
        slots_.give_back(*slots);
        if (stop.stop_requested()) return launched;  // that is why; the others are ended next
        give_up();
        return launched;
      }
      waiting_.pop_front();
      ++launched;
    }
    return launched;
  }

  void launch(std::size_t index, const spec::ResourceSlots& slots, const std::stop_token& stop) {
    const spec::StudyPoint& point = plan_.points[index];
    planning::RunRequest request = prepared_.request;
    request.set = point.set;
    request.seed = point.seed;
    request.study.id = plan_.study_id;
    request.study.point = index;
    if (!slots.cpus.empty() || !slots.gpus.empty()) request.placement.slots = slots;
    // Noted first: no run of the study is ever unknown to it. A driver that lost the study since
    // its last sign starts none.
    request.study.announce_id = [&](const std::string& id) {
      files_.send_heartbeat();
      files_.add_run({index, id});
    };
    const spec::RunPlan planned = tools_.runner.preparer().plan(prepared_, request, stop);
    warn_of_changed_code(planned);
    observer_.note(name_of(index) + ": " + planned.run_id);
    flights_.push_back({index, tools_.runner.launch(planned), slots});
  }

  /// A study should be of one code: warns once of a change.
  void warn_of_changed_code(const spec::RunPlan& planned) {
    if (!code_) {
      const std::vector<home::StudyFiles::Run> runs = files_.runs();
      code_ = runs.empty() ? planned.code : first_code(runs.front().run_id).value_or(planned.code);
    }
    if (warned_of_code_ || *code_ == planned.code) return;
    warned_of_code_ = true;
    observer_.warn("the code has changed since the first run of " + task(),
                   "'sabath compare' tells the runs apart; a new study has one code");
  }

  std::optional<std::map<std::string, std::string>> first_code(const std::string& run_id) const {
    try {
      return home::RunFiles(tools_.folders.run(run_id)).read_plan().code;
    } catch (const Error&) {
      return std::nullopt;  // removed meanwhile
    }
  }

  /// A run that cannot be looked at ends the study, once the others are over.
  execution::RunOutcome outcome_of_flight(const Flight& flight) {
    try {
      return flight.run.outcome(cancelled_);
    } catch (const Error& error) {
      give_up();
      return {
          flight.run.directory().filename(), flight.run.directory(), RunState::lost, error.what()};
    }
  }

  std::size_t collect() {
    const auto over =
        std::stable_partition(flights_.begin(), flights_.end(), [](const Flight& flight) {
          return !flight.run.is_over();
        });
    const auto ended = static_cast<std::size_t>(flights_.end() - over);
    for (auto flight = over; flight != flights_.end(); ++flight) {
      slots_.give_back(flight->slots);
      const execution::RunOutcome outcome = outcome_of_flight(*flight);
      if (analysis::is_settled(outcome.state)) ++done_;
      if (outcome.state != RunState::ok) {
        observer_.note(name_of(flight->point) + ": " + std::string(to_string(outcome.state)) +
                       ": " + outcome.message);
      }
    }
    flights_.erase(over, flights_.end());
    if (ended > 0) report();
    return ended;
  }

  const home::StudyFiles& files_;
  const spec::StudyPlan& plan_;
  const planning::PreparedRecipe& prepared_;
  std::size_t jobs_;
  bool is_bound_;
  planning::NodeSlots slots_;
  StudyTools tools_;
  base::Observer& observer_;
  std::vector<std::string> varied_;
  std::deque<std::size_t> waiting_{};
  std::vector<Flight> flights_{};
  std::size_t done_ = 0;
  bool cancelled_ = false;
  std::optional<std::map<std::string, std::string>> code_{};  ///< of the first run
  bool warned_of_code_ = false;
  bool warned_of_sharing_ = false;
  std::optional<base::SteadyTime> last_sign_{};
  std::exception_ptr problem_{};
};

}  // namespace

std::size_t runs_at_a_time(const spec::Recipe& recipe, int jobs, const StudyTools& tools) {
  return machine_for(recipe, jobs, tools).division.jobs;
}

analysis::StudyOutcome run_study(const home::StudyFiles& files,
                                 const spec::StudyPlan& plan,
                                 const planning::PreparedRecipe& prepared,
                                 const Resumption& resumption,
                                 const StudyTools& tools,
                                 std::stop_token stop) {
  const Machine machine = machine_for(prepared.request.recipe, plan.jobs, tools);
  files.become_driver(resumption.take_over);
  StudyDrive drive(files, plan, prepared, machine, tools);
  drive.take_stock(resumption);
  drive.run(stop);
  analysis::StudyOutcome outcome = analysis::look_at_study(files, tools.folders);
  for (analysis::PointOutcome& point : outcome.points) {
    // No run of it is executed any more, whatever a status says.
    if (point.run && !spec::is_final(point.run->state))
      point.run = execution::outcome_of(point.run->directory);
  }
  return outcome;
}

}  // namespace sabath::app
