#include <sabath/planning/stage_graph.hpp>

#include <algorithm>

namespace sabath::planning {
namespace {

/// A stage that is not due takes no cores and no time.
bool may_share(const spec::PlannedStage& stage) {
  return !stage.not_due && stage.resources.cpus > 0;
}

}  // namespace

StageGraph::StageGraph(const std::vector<spec::PlannedStage>& stages, NodeCapacity capacity)
    : stages_(stages),
      capacity_(std::move(capacity)),
      slots_(capacity_, {}),
      nodes_(nodes_of(stages)) {
  for (std::size_t a = 0; a < stages.size(); ++a) {
    for (std::size_t b = a + 1; b < stages.size(); ++b) {
      if (!unrelated(nodes_, a, b) || !may_share(stages[a]) || !may_share(stages[b])) continue;
      const RunNeeds one = needs_of(stages[a].resources);
      const RunNeeds other = needs_of(stages[b].resources);
      if (!fit({one.cores + other.cores,
                one.gpus + other.gpus,
                one.memory_bytes + other.memory_bytes}))
        continue;
      nodes_[a].shares = nodes_[b].shares = true;
    }
  }
  settle();
}

bool StageGraph::has_company(const std::vector<spec::PlannedStage>& stages) {
  const std::vector<Node> nodes = nodes_of(stages);
  for (std::size_t a = 0; a < stages.size(); ++a) {
    for (std::size_t b = a + 1; b < stages.size(); ++b) {
      if (unrelated(nodes, a, b) && may_share(stages[a]) && may_share(stages[b])) return true;
    }
  }
  return false;
}

std::vector<StageGraph::Node> StageGraph::nodes_of(const std::vector<spec::PlannedStage>& stages) {
  std::vector<Node> nodes(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    nodes[i].before.resize(stages.size());
    for (std::size_t j = 0; j < i; ++j) {
      const auto& needs = stages[i].needs;
      if (std::ranges::find(needs, stages[j].name) == needs.end()) continue;
      nodes[i].needs.push_back(j);
      nodes[i].before[j] = true;
      for (std::size_t k = 0; k < j; ++k)
        nodes[i].before[k] = nodes[i].before[k] || nodes[j].before[k];
    }
  }
  return nodes;
}

bool StageGraph::fit(const RunNeeds& wanted) const {
  const bool known = capacity_.memory_bytes > 0;
  return static_cast<std::size_t>(wanted.cores) <= capacity_.cores.size() &&
         static_cast<std::size_t>(wanted.gpus) <= capacity_.gpus.size() &&
         (!known || wanted.memory_bytes <= capacity_.memory_bytes);
}

bool StageGraph::has_memory(std::uint64_t bytes) const {
  for (const std::size_t stage : running())
    bytes += stages_[stage].resources.memory_bytes;
  return fit({0, 0, bytes});
}

void StageGraph::settle() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (node.state != State::waiting) continue;
    for (const std::size_t need : node.needs) {
      const Node& other = nodes_[need];
      if (other.state != State::failed && other.state != State::blocked) continue;
      node.state = State::blocked;
      node.blocked_by = other.state == State::failed ? need : other.blocked_by;
      break;
    }
    // A stage that needs it still waits for its other needs.
    if (stages_[i].not_due && is_ready(i)) node.state = State::done;
  }
}

bool StageGraph::is_ready(std::size_t stage) const {
  const auto& needs = nodes_[stage].needs;
  return nodes_[stage].state == State::waiting && std::ranges::all_of(needs, [&](std::size_t need) {
           return nodes_[need].state == State::done;
         });
}

std::optional<StageGraph::Start> StageGraph::next() {
  const std::vector<std::size_t> busy = running();
  const bool alone =
      std::ranges::any_of(busy, [&](std::size_t stage) { return !nodes_[stage].slots; });
  if (alone) return std::nullopt;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    if (!is_ready(i) || (!node.shares && !busy.empty())) continue;
    if (node.shares) {
      const RunNeeds wanted = needs_of(stages_[i].resources);
      if (!has_memory(wanted.memory_bytes)) continue;
      node.slots = slots_.take(wanted.cores, wanted.gpus);
      if (!node.slots) continue;
    }
    node.state = State::running;
    return Start{i, node.slots};
  }
  return std::nullopt;
}

void StageGraph::finish(std::size_t stage, bool ok) {
  Node& node = nodes_[stage];
  node.state = ok ? State::done : State::failed;
  if (node.slots) slots_.give_back(*node.slots);
  settle();
}

std::vector<std::size_t> StageGraph::running() const {
  std::vector<std::size_t> stages;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].state == State::running) stages.push_back(i);
  }
  return stages;
}

std::optional<std::size_t> StageGraph::blocked_by(std::size_t stage) const {
  if (nodes_[stage].state != State::blocked) return std::nullopt;
  return nodes_[stage].blocked_by;
}

}  // namespace sabath::planning
