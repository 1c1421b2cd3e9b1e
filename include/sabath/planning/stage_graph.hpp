#pragma once

#include <sabath/planning/node_slots.hpp>
#include <sabath/spec/run_plan.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sabath::planning {

/// Decides which stages of a plan may start now. Knows no processes and no clock.
/// A stage may run beside others where it says how many cores it needs, and these and its memory
/// are free. The plan must also have another such stage that neither needs it nor is needed by it.
/// All other stages run alone.
class StageGraph {
 public:
  /// `stages` come after those that they need, and outlive this. Stages get parts of `capacity`;
  /// see `has_company`.
  StageGraph(const std::vector<spec::PlannedStage>& stages, NodeCapacity capacity);

  /// Returns true where two of these stages could run at the same time, given room. If not,
  /// capacity does not matter.
  static bool has_company(const std::vector<spec::PlannedStage>& stages);

  struct Start {
    std::size_t stage = 0;
    /// Its resources while others run; nothing: it runs alone.
    std::optional<spec::ResourceSlots> slots{};
  };
  /// Starts the first stage of the plan that may start, and returns it.
  std::optional<Start> next();
  /// Notes the end of a running stage.
  void finish(std::size_t stage, bool ok);
  /// Returns the running stages, in the order of the plan.
  std::vector<std::size_t> running() const;
  /// Returns the stage whose failure keeps this one from running; nothing: none does.
  std::optional<std::size_t> blocked_by(std::size_t stage) const;

 private:
  enum class State { waiting, running, done, failed, blocked };
  struct Node {
    State state = State::waiting;
    std::vector<std::size_t> needs{};
    std::vector<bool> before{};  ///< by stage: needed, directly or through others
    bool shares = false;
    std::size_t blocked_by = 0;
    std::optional<spec::ResourceSlots> slots{};
  };

  static std::vector<Node> nodes_of(const std::vector<spec::PlannedStage>& stages);
  static bool unrelated(const std::vector<Node>& nodes, std::size_t a, std::size_t b) {
    return a != b && !nodes[a].before[b] && !nodes[b].before[a];
  }
  bool fit(const RunNeeds& wanted) const;
  /// Returns true where running stages leave this much memory.
  bool has_memory(std::uint64_t bytes) const;
  /// Stages that need an ended stage wait no longer for it.
  void settle();
  bool is_ready(std::size_t stage) const;

  const std::vector<spec::PlannedStage>& stages_;
  NodeCapacity capacity_;
  NodeSlots slots_;
  std::vector<Node> nodes_;
};

}  // namespace sabath::planning
