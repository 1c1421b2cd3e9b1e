#pragma once

#include <sabath/planning/node_slots.hpp>
#include <sabath/spec/run_plan.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sabath::planning {

/// Decides which stages of a plan may start now. Knows no processes and no clock.
///
/// A stage may run beside others where it says how many cores it wants, these are free, as is the
/// memory that it wants, and the plan has another such stage that neither needs it nor is needed by
/// it. All others run alone.
class StageGraph {
 public:
  /// `stages` come after those that they need, and outlive this. Of `capacity` stages get their
  /// parts; see `has_company`.
  StageGraph(const std::vector<spec::PlannedStage>& stages, NodeCapacity capacity);

  /// Could two of these stages run at the same time, if there is room? If not, no capacity matters.
  static bool has_company(const std::vector<spec::PlannedStage>& stages);

  struct Start {
    std::size_t stage = 0;
    /// What it has to itself while others run; nothing: it runs alone.
    std::optional<spec::Place> place{};
  };
  /// The first stage of the plan that may start; from then on it runs.
  std::optional<Start> next();
  /// A stage that ran has ended.
  void finish(std::size_t stage, bool ok);
  /// Those that run, in the order of the plan.
  std::vector<std::size_t> running() const;
  /// The stage whose failure keeps this one from running; nothing: none does.
  std::optional<std::size_t> blocked_by(std::size_t stage) const;

 private:
  enum class State { waiting, running, done, failed, blocked };
  struct Node {
    State state = State::waiting;
    std::vector<std::size_t> needs{};
    std::vector<bool> before{};  ///< by stage: needed, directly or through others
    bool shares = false;
    std::size_t blocked_by = 0;
    std::optional<spec::Place> place{};
  };

  static std::vector<Node> nodes_of(const std::vector<spec::PlannedStage>& stages);
  static bool unrelated(const std::vector<Node>& nodes, std::size_t a, std::size_t b) {
    return a != b && !nodes[a].before[b] && !nodes[b].before[a];
  }
  bool fit(const RunNeeds& wanted) const;
  /// Is so much of the memory not promised to those that run?
  bool has_memory(std::uint64_t bytes) const;
  /// Lets what needs a stage that has ended wait no longer for it.
  void settle();
  bool is_ready(std::size_t stage) const;

  const std::vector<spec::PlannedStage>& stages_;
  NodeCapacity capacity_;
  NodeSlots slots_;
  std::vector<Node> nodes_;
};

}  // namespace sabath::planning
