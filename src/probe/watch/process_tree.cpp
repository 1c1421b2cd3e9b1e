#include "process_tree.hpp"

#include "fact_file.hpp"

#include <sabath/base/process/process_table.hpp>

#include <deque>
#include <map>

#include <unistd.h>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

void add(const base::ProcessStat& stat, ProcessUse& use) {
  static const double tick_s = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  use.cpu_s += static_cast<double>(stat.cpu_ticks) * tick_s;
  if (stat.has_ended()) return;  // dead, not yet waited for: its time counts, its threads do not
  use.rss_bytes += stat.resident_pages * page_bytes;
  use.threads += stat.threads;
  use.processes += 1;
}

struct Io {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

Io read_io(const fs::path& file) {
  const auto text = read_fact(file).value_or("");
  return {parse_number(find_field(text, "read_bytes")).value_or(0),
          parse_number(find_field(text, "write_bytes")).value_or(0)};
}

std::uint64_t minus(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

}  // namespace

void add_process(int pid, const fs::path& proc, ProcessUse& use) {
  const auto stat = base::process_stat(pid, proc);
  if (stat) add(*stat, use);
}

void add_io(int pid, const fs::path& proc, ProcessUse& use) {
  const auto io = read_io(proc / std::to_string(pid) / "io");
  use.read_bytes += io.read_bytes;
  use.write_bytes += io.write_bytes;
}

ProcessTree::ProcessTree(fs::path proc, int root) : proc_(std::move(proc)), root_(root) {
  const auto number = std::to_string(root);
  std::error_code problem;
  has_children_files_ = fs::exists(proc_ / number / "task" / number / "children", problem);
}

ProcessUse ProcessTree::look() const {
  ProcessUse use;
  if (has_children_files_) {
    look_beneath(use);
  } else {
    look_at_all(use);
  }
  return use;
}

void ProcessTree::look_beneath(ProcessUse& use) const {
  std::deque<int> waiting{root_};
  while (!waiting.empty()) {
    for (const int child : base::children_of(waiting.front(), proc_)) {
      const auto stat = base::process_stat(child, proc_);
      if (!stat) continue;
      add(*stat, use);
      add_io(child, proc_, use);
      waiting.push_back(child);
    }
    waiting.pop_front();
  }
}

void ProcessTree::look_at_all(ProcessUse& use) const {
  std::map<int, base::ProcessStat> stats;
  std::multimap<int, int> children;
  for (const int pid : base::numbered_entries(proc_)) {
    const auto stat = base::process_stat(pid, proc_);
    if (!stat) continue;
    stats.emplace(pid, *stat);
    children.emplace(stat->parent, pid);
  }
  std::deque<int> waiting{root_};
  while (!waiting.empty()) {
    const auto [first, last] = children.equal_range(waiting.front());
    for (auto it = first; it != last; ++it) {
      add(stats.at(it->second), use);
      add_io(it->second, proc_, use);
      waiting.push_back(it->second);
    }
    waiting.pop_front();
  }
}

ProcessUse ProcessTree::dead_children_io() const {
  const auto process = proc_ / std::to_string(root_);
  auto rest = read_io(process / "io");
  for (const int task : base::numbered_entries(process / "task")) {
    const auto own = read_io(process / "task" / std::to_string(task) / "io");
    rest = {minus(rest.read_bytes, own.read_bytes), minus(rest.write_bytes, own.write_bytes)};
  }
  ProcessUse use;
  use.read_bytes = rest.read_bytes;
  use.write_bytes = rest.write_bytes;
  return use;
}

}  // namespace sabath::probe
