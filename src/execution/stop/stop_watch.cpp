#include "stop/stop_watch.hpp"

#include "stop/stop_conditions.hpp"

#include <sabath/base/error.hpp>
#include <sabath/collect/follow.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace sabath::execution {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds shortest_pause{50};
constexpr std::chrono::milliseconds longest_pause{1000};
constexpr int share = 50;  ///< of the time is pause

std::map<std::string, spec::StopCondition> conditions_of(const spec::Recipe& recipe,
                                                         const std::string& stage) {
  std::map<std::string, spec::StopCondition> conditions;
  for (const auto& [name, condition] : recipe.stop_if) {
    const auto metric = std::ranges::find(recipe.metrics, name, &spec::MetricSpec::name);
    const bool is_elsewhere = metric != recipe.metrics.end() && !metric->from.stage.empty() &&
                              metric->from.stage != stage;
    if (!is_elsewhere) conditions.emplace(name, condition);
  }
  return conditions;
}

bool reports(const FinishedRun& reference, const std::string& stage) {
  return std::ranges::find(reference.series, stage, &spec::Series::stream) !=
         reference.series.end();
}

}  // namespace

struct StopWatch::State {
  /// Passes points to both.
  struct Both final : base::SeriesSink {
    explicit Both(State& state) : state_(state) {}
    base::SeriesId open(std::string_view stream, std::string_view metric) override {
      const base::SeriesId one = state_.conditions.open(stream, metric);
      ids_.emplace_back(one, state_.divergence ? state_.divergence->open(stream, metric) : one);
      return static_cast<base::SeriesId>(ids_.size() - 1);
    }
    void add(base::SeriesId series, const base::SeriesPoint& point) override {
      const auto& [one, other] = ids_[static_cast<std::size_t>(series)];
      state_.conditions.add(one, point);
      if (state_.divergence) state_.divergence->add(other, point);
    }

   private:
    State& state_;
    std::vector<std::pair<base::SeriesId, base::SeriesId>> ids_{};
  };

  State(RunStop& of_run, const collect::StageFiles& files, base::Observer& tell)
      : stop(of_run),
        stage(files.stage),
        observer(tell),
        follower(files, of_run.recipe().metrics),
        conditions(stage, conditions_of(of_run.recipe(), stage), of_run.recipe().metrics) {
    if (of_run.reference() && reports(*of_run.reference(), stage))
      divergence.emplace(stage, *of_run.reference());
  }

  /// Returns whether the run is to be stopped.
  bool look() {
    Both both(*this);
    conditions.arrive(Clock::now());
    follower.more(both, [this] {
      conditions.forget();
      if (divergence) divergence->forget();
    });
    if (const auto reason = conditions.held()) {
      stop.stop(*reason, false);
      return has_held = true;
    }
    const auto reason = divergence ? divergence->look() : std::nullopt;
    if (reason) stop.stop(*reason, true);
    return has_held = reason.has_value();
  }

  /// The same; what cannot be read is reported once, and looked at again.
  bool try_look() {
    try {
      return look();
    } catch (const std::exception& error) {
      if (!has_warned)
        observer.warn("stage " + stage + ": stop conditions cannot be checked: " + error.what());
      has_warned = true;
      return false;
    }
  }

  void watch(const std::stop_token& ended) {
    auto pause = shortest_pause;
    while (true) {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, ended, pause, [] { return false; });
      lock.unlock();
      if (ended.stop_requested()) return;
      const auto begin = Clock::now();
      if (try_look()) return;
      const auto took =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin) * share;
      pause = std::max(std::min(pause * 2, longest_pause), took);
    }
  }

  RunStop& stop;
  std::string stage;
  base::Observer& observer;
  collect::SeriesFollower follower;
  StopConditions conditions;
  std::optional<Divergence> divergence{};
  bool has_warned = false;
  bool has_held = false;
  std::mutex mutex{};
  std::condition_variable_any changed{};
  std::jthread thread{};  ///< last: it uses all others
};

bool StopWatch::is_needed(const RunStop& stop, const std::string& stage) {
  return !conditions_of(stop.recipe(), stage).empty() ||
         (stop.reference() && reports(*stop.reference(), stage));
}

StopWatch::StopWatch(RunStop& stop, const collect::StageFiles& files, base::Observer& observer)
    : state_(std::make_unique<State>(stop, files, observer)) {
  state_->thread =
      std::jthread([state = state_.get()](std::stop_token ended) { state->watch(ended); });
}

StopWatch::~StopWatch() = default;

bool StopWatch::finish(bool is_complete) {
  state_->thread.request_stop();
  state_->thread.join();
  if (is_complete && !state_->has_held) state_->try_look();
  return state_->has_held;
}

}  // namespace sabath::execution
