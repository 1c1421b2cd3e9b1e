#include <sabath/base/clock.hpp>
#include <sabath/batch/batch_steps.hpp>
#include <sabath/launch/scheduler.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

namespace sabath::batch {
namespace {

using spec::PlannedStage;
using spec::Resources;

/// Time of a step for facts, outputs, metrics and the record.
constexpr std::chrono::seconds own_time{60};

/// Resources that make two jobs the same for a scheduler.
Resources machine_of(Resources resources) {
  resources.time.reset();
  resources.silence.reset();
  resources.grace.reset();
  return resources;
}

/// Returns the limit with all tries; nothing where the stage has none.
std::optional<std::chrono::seconds> longest(const PlannedStage& stage) {
  if (!stage.resources.time) return std::nullopt;
  const spec::Retry retry = stage.retry.value_or(spec::Retry{});
  return *stage.resources.time * (retry.times + 1) + retry.pause * retry.times;
}

class Cut {
 public:
  Cut(const std::vector<PlannedStage>& stages, const spec::Site& site)
      : stages_(stages), site_(site), taken_(stages.size()) {}

  std::vector<spec::BatchStep> steps() {
    std::vector<spec::BatchStep> steps;
    while (const PlannedStage* first = next_due())
      steps.push_back(step(resources_at(site_, first->resources)));
    const bool is_empty = steps.empty();
    if (is_empty) steps.push_back(step(resources_at(site_, {})));
    return steps;
  }

 private:
  bool is_ready(std::size_t stage) const {
    return !taken_[stage] && std::ranges::all_of(stages_[stage].needs, [&](const auto& need) {
      return done_.contains(need);
    });
  }

  void take(std::size_t stage) {
    taken_[stage] = true;
    done_.insert(stages_[stage].name);
  }

  /// The first that waits at most for stages that are not due.
  const PlannedStage* next_due() const {
    std::set<std::string> done = done_;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const PlannedStage& stage = stages_[i];
      const bool waits =
          !std::ranges::all_of(stage.needs, [&](const auto& need) { return done.contains(need); });
      if (taken_[i] || waits) continue;
      if (!stage.not_due) return &stage;
      done.insert(stage.name);
    }
    return nullptr;
  }

  /// All stages that this machine can take now; `stages_` respect needs.
  spec::BatchStep step(const Resources& resources) {
    spec::BatchStep step{{}, machine_of(resources)};
    std::optional<std::chrono::seconds> limit = std::chrono::seconds(0);
    std::chrono::seconds said{0};
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const PlannedStage& stage = stages_[i];
      const bool fits = stage.not_due.has_value() ||
                        machine_of(resources_at(site_, stage.resources)) == step.resources;
      if (!is_ready(i) || !fits) continue;
      take(i);
      step.stages.push_back(stage.name);
      if (stage.not_due) continue;
      const auto time = longest(stage);
      said += time.value_or(std::chrono::seconds(0));
      limit = limit && time ? std::optional(said) : std::nullopt;
    }
    const auto room = site_.warning + own_time;
    if (limit && *limit > std::chrono::seconds(0)) {
      step.resources.time = std::min(*limit + room, base::longest_duration);
    } else if (site_.resources.time) {
      step.resources.time = std::clamp(said + room, *site_.resources.time, base::longest_duration);
    }
    return step;
  }

  const std::vector<PlannedStage>& stages_;
  const spec::Site& site_;
  std::vector<bool> taken_;
  std::set<std::string> done_{};
};

}  // namespace

Resources resources_at(const spec::Site& site, const Resources& stage) {
  Resources resources = stage;
  // With fewer tasks than nodes, schedulers leave nodes out.
  const int usual_nodes = site.resources.nodes.value_or(1);
  resources.nodes = stage.nodes.value_or(std::min(usual_nodes, stage.tasks.value_or(usual_nodes)));
  resources.tasks =
      stage.tasks.value_or(std::max(site.resources.tasks.value_or(1), *resources.nodes));
  resources.gpus = stage.gpus.value_or(site.resources.gpus.value_or(0));
  if (resources.cpus == 0) resources.cpus = site.resources.cpus;
  if (resources.memory_bytes == 0) resources.memory_bytes = site.resources.memory_bytes;
  return resources;
}

std::vector<spec::BatchStep> steps_of(const std::vector<PlannedStage>& stages,
                                      const spec::Site& site) {
  return Cut(stages, site).steps();
}

std::vector<spec::BatchStep> steps_at(const std::vector<PlannedStage>& stages,
                                      const spec::Site& site,
                                      const spec::SchedulerDescription& scheduler) {
  std::vector<spec::BatchStep> steps = steps_of(stages, site);
  if (steps.size() < 2 || scheduler.has_dependencies()) return steps;
  spec::BatchStep all = steps.front();
  for (auto step = steps.begin() + 1; step != steps.end(); ++step) {
    all.stages.insert(all.stages.end(), step->stages.begin(), step->stages.end());
    Resources& most = all.resources;
    most.nodes = std::max(most.nodes, step->resources.nodes);
    most.tasks = std::max(most.tasks, step->resources.tasks);
    most.cpus = std::max(most.cpus, step->resources.cpus);
    most.gpus = std::max(most.gpus, step->resources.gpus);
    most.memory_bytes = std::max(most.memory_bytes, step->resources.memory_bytes);
    const bool limited = most.time && step->resources.time;
    most.time = limited ? std::optional(*most.time + *step->resources.time) : std::nullopt;
  }
  return {all};
}

void join_due(std::vector<PlannedStage>& stages, const std::vector<PlannedStage>& others) {
  for (PlannedStage& stage : stages) {
    const auto other = std::ranges::find(others, stage.name, &PlannedStage::name);
    if (other != others.end() && !other->not_due) stage.not_due.reset();
  }
}

std::string comment_of(const spec::BatchPlan& plan, std::size_t step) {
  const std::string word = launch::job_word(plan.batch_id);
  return plan.steps.size() == 1 ? word : word + "-" + std::to_string(step);
}

std::string never_handed_in(const spec::BatchPlan& plan, std::size_t known) {
  const std::size_t all = plan.steps.size();
  if (known + 1 == all) return "step " + std::to_string(all) + " was never handed in";
  return "steps " + std::to_string(known + 1) + " to " + std::to_string(all) +
         " were never handed in";
}

}  // namespace sabath::batch
