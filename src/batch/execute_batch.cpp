#include <sabath/base/error.hpp>
#include <sabath/base/process/passed_signals.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/batch/execute_batch.hpp>
#include <sabath/execution/run_in_flight.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/node_slots.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <signal.h>

namespace sabath::batch {
namespace {

namespace fs = std::filesystem;
using base::Error;

constexpr int failed = 1;
constexpr int interrupted = 130;
constexpr int not_executed = 15;  ///< as for any job that ended without saying how

int status_of(spec::RunState state) {
  switch (state) {
    case spec::RunState::ok:
      return 0;
    case spec::RunState::failed:
    case spec::RunState::stopped:
      return failed;
    case spec::RunState::interrupted:
      return interrupted;
    default:
      return not_executed;
  }
}

/// Failed runs report themselves; a run that could not be executed is worse.
int worse(int a, int b) {
  const auto rank = [](int status) {
    return status == 0 ? 0 : status == failed ? 1 : status == interrupted ? 2 : 3;
  };
  return rank(b) > rank(a) ? b : a;
}

/// Needs of one run in a job; one core where nothing says.
planning::RunNeeds needs_of_run(const spec::Resources& resources) {
  planning::RunNeeds needs = planning::needs_of(resources);
  needs.cores = std::max({needs.cores, resources.tasks.value_or(1), 1});
  return needs;
}

/// A run that has not begun would fail on that.
void send_to_executor(const home::RunFiles& run, int signal) {
  try {
    const spec::RunStatus status = run.read_status();
    const auto process = base::ProcessIdentity::parse(status.process);
    if (status.state != spec::RunState::running || !process) return;
    if (base::liveness_of(*process) == base::Liveness::running) ::kill(process->pid, signal);
  } catch (const Error&) {
    return;  // its status cannot be read now
  }
}

/// Runs of one task, several at a time.
class PackedRuns {
 public:
  PackedRuns(const BatchTask& task,
             const spec::BatchPlan& plan,
             const execution::NodeSettings& node,
             const BatchTools& tools)
      : task_(task),
        plan_(plan),
        node_(node),
        tools_(tools),
        capacity_(planning::look_at_node(tools.processes)),
        division_(
            planning::divide(capacity_, needs_of_run(plan.steps.at(task.step - 1).resources), 0)),
        slots_(capacity_, division_) {}

  int run(const std::stop_token& stop) {
    for (const std::string& run : plan_.runs_of(task_.task)) {
      if (const auto status = over(run)) {
        tools_.observer.note(run + ": is over already");
        take(*status);
      } else {
        waiting_.push_back(run);
      }
    }
    std::chrono::nanoseconds pause = execution::first_look;
    while (true) {
      if (stop.stop_requested() && !cancelled_) cancel();
      pass_signals_on();
      const bool moved = collect() || start();
      if (flights_.empty() && waiting_.empty()) break;
      tools_.clock.sleep_for(pause);
      pause = moved ? execution::first_look : execution::longer_look(pause);
    }
    const bool goes_on = task_.step < plan_.steps.size() && best_ == 0 && !cancelled_;
    return goes_on ? 0 : worst_;
  }

 private:
  struct Flight {
    std::string run{};
    launch::JobId job{};
    spec::ResourceSlots slots{};
  };

  fs::path directory(const std::string& run) const { return fs::path(plan_.runs_directory) / run; }

  /// Returns the end of a run with a record.
  std::optional<int> over(const std::string& run) const {
    const home::RunFiles files(directory(run));
    std::error_code code;
    if (!fs::exists(files.record(), code)) return std::nullopt;
    return status_of(files.read_record().value().state);
  }

  void take(int status) {
    worst_ = worse(worst_, status);
    best_ = std::min(best_, status);
  }

  void cancel() {
    cancelled_ = true;
    for (const Flight& flight : flights_)
      tools_.launcher.cancel(flight.job);
    if (!waiting_.empty()) take(interrupted);
    waiting_.clear();
  }

  void pass_signals_on() {
    const std::lock_guard lock(heard_mutex_);
    for (const int signal : std::exchange(heard_, {})) {
      for (const Flight& flight : flights_)
        send_to_executor(home::RunFiles(directory(flight.run)), signal);
    }
  }

  /// Resources that are not set are the child's: all of them.
  std::vector<std::string> command(const std::string& run, const spec::ResourceSlots& slots) const {
    std::vector<std::string> argv{node_.program.string(),
                                  "exec",
                                  directory(run).string(),
                                  "--batch",
                                  task_.folder.string(),
                                  "--step",
                                  std::to_string(task_.step)};
    if (!slots.cpus.empty())
      argv.insert(argv.end(), {"--cpus", fmt::format("{}", fmt::join(slots.cpus, ","))});
    if (!slots.gpus.empty())
      argv.insert(argv.end(), {"--gpus", fmt::format("{}", fmt::join(slots.gpus, ","))});
    return argv;
  }

  bool start() {
    bool moved = false;
    while (!waiting_.empty() && flights_.size() < division_.jobs) {
      const auto slots = slots_.take();
      if (!slots) break;
      const std::string run = waiting_.front();
      waiting_.pop_front();
      moved = true;
      try {
        const launch::JobId job =
            tools_.launcher.submit({run, command(run, *slots), directory(run)});
        tools_.observer.note(run + ": started");
        flights_.push_back({run, job, *slots});
      } catch (const Error& error) {
        tools_.observer.warn(run + ": " + error.what(), error.hint());
        slots_.give_back(*slots);
        take(not_executed);
      }
    }
    return moved;
  }

  bool collect() {
    const auto over =
        std::stable_partition(flights_.begin(), flights_.end(), [&](const Flight& flight) {
          const launch::JobState state = tools_.launcher.poll(flight.job);
          const auto* finished = std::get_if<launch::Finished>(&state);
          const bool gone = std::holds_alternative<launch::Vanished>(state);
          if (finished == nullptr && !gone) return true;
          const bool exited = finished != nullptr && finished->signal == 0;
          const int status = exited ? finished->exit_code : not_executed;
          tools_.observer.note(flight.run + ": ended with status " + std::to_string(status));
          take(status);
          return false;
        });
    for (auto flight = over; flight != flights_.end(); ++flight)
      slots_.give_back(flight->slots);
    const bool moved = over != flights_.end();
    flights_.erase(over, flights_.end());
    return moved;
  }

  const BatchTask& task_;
  const spec::BatchPlan& plan_;
  const execution::NodeSettings& node_;
  const BatchTools& tools_;
  planning::NodeCapacity capacity_;
  planning::Division division_;
  planning::NodeSlots slots_;
  std::deque<std::string> waiting_{};
  std::vector<Flight> flights_{};
  int worst_ = 0;
  int best_ = not_executed;
  bool cancelled_ = false;
  std::mutex heard_mutex_{};
  std::vector<int> heard_{};  ///< signals for the runs
  base::SignalListener listener_{[this](int signal) {
    const std::lock_guard lock(heard_mutex_);
    heard_.push_back(signal);
  }};
};

}  // namespace

int execute_task(const BatchTask& task,
                 const execution::NodeSettings& node,
                 const BatchTools& tools,
                 std::stop_token stop) {
  const spec::BatchPlan plan = home::BatchFiles(task.folder).read_plan();
  const std::vector<std::string> runs = plan.runs_of(task.task);
  const std::string place = task.folder.string() + ": ";
  if (runs.empty())
    throw Error(base::ErrorKind::usage, place + "has no task " + std::to_string(task.task));
  if (task.step < 1 || task.step > plan.steps.size())
    throw Error(base::ErrorKind::usage, place + "has no step " + std::to_string(task.step));
  if (runs.size() > 1) return PackedRuns(task, plan, node, tools).run(stop);
  execution::NodeSettings settings = node;
  settings.batch = execution::BatchPart{task.folder, plan, task.step};
  const spec::RunRecord record =
      execution::execute_plan(fs::path(plan.runs_directory) / runs.front(),
                              tools.processes,
                              tools.clock,
                              tools.observer,
                              stop,
                              settings);
  return status_of(record.state);
}

}  // namespace sabath::batch
