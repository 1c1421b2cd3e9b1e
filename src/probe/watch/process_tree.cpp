#include "process_tree.hpp"

#include "fact_file.hpp"

#include <sabath/base/process/process_table.hpp>

#include <algorithm>
#include <deque>
#include <iterator>

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

ProcessUse read_io(const fs::path& file) {
  const auto text = read_fact(file).value_or("");
  return {.read_bytes = parse_number(find_field(text, "read_bytes")).value_or(0),
          .write_bytes = parse_number(find_field(text, "write_bytes")).value_or(0)};
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
  std::multimap<int, int> all;
  if (!has_children_files_) all = every_child();
  const auto children_of = [&](int pid) {
    if (has_children_files_) return base::children_of(pid, proc_);
    std::vector<int> children;
    const auto [first, last] = all.equal_range(pid);
    std::transform(first, last, std::back_inserter(children), [](auto& one) { return one.second; });
    return children;
  };
  ProcessUse use;
  for (std::deque<int> waiting{root_}; !waiting.empty(); waiting.pop_front()) {
    for (const int child : children_of(waiting.front())) {
      const auto stat = base::process_stat(child, proc_);
      if (!stat) continue;
      add(*stat, use);
      add_io(child, proc_, use);
      waiting.push_back(child);
    }
  }
  return use;
}

std::multimap<int, int> ProcessTree::every_child() const {
  std::multimap<int, int> children;
  for (const int pid : base::numbered_entries(proc_)) {
    if (const auto stat = base::process_stat(pid, proc_)) children.emplace(stat->parent, pid);
  }
  return children;
}

ProcessUse ProcessTree::dead_children_io() const {
  const auto process = proc_ / std::to_string(root_);
  auto rest = read_io(process / "io");
  for (const int task : base::numbered_entries(process / "task")) {
    const auto own = read_io(process / "task" / std::to_string(task) / "io");
    rest.read_bytes = difference(rest.read_bytes, own.read_bytes);
    rest.write_bytes = difference(rest.write_bytes, own.write_bytes);
  }
  return rest;
}

}  // namespace sabath::probe
