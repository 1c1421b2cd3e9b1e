#include "group_use.hpp"

#include "fact_file.hpp"
#include "mount_table.hpp"

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// Reads a line "name value" of a flat keyed file.
std::optional<std::uint64_t> keyed(const std::string& text, std::string_view key) {
  for (const auto& line : split(text, '\n')) {
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
      return parse_number(std::string_view(line).substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

void add_members(const fs::path& group, std::vector<int>& members) {
  for (const auto& line : split(read_fact(group / "cgroup.procs").value_or(""), '\n')) {
    if (const auto pid = parse_number(line); pid && *pid > 0) {
      members.push_back(static_cast<int>(*pid));
    }
  }
  std::error_code ignored;
  for (const auto& inner : entries_of(group)) {
    if (fs::is_directory(inner, ignored)) add_members(inner, members);
  }
}

/// Returns true for devices on top of others (device mapper, RAID): their traffic is counted below
/// again.
bool stands_on_others(const fs::path& sys, const std::string& numbers) {
  std::error_code code;
  const auto slaves = sys / "dev/block" / numbers / "slaves";
  return fs::exists(slaves, code) && !fs::is_empty(slaves, code);
}

/// "8:0 rbytes=4096 wbytes=0 rios=1 ...", a line for each device
bool read_io(const fs::path& group, const fs::path& sys, ProcessUse& use) {
  const auto text = read_fact(group / "io.stat");
  if (!text) return false;
  for (const auto& line : split(*text, '\n')) {
    const auto words = split(line, ' ');
    if (words.empty() || stands_on_others(sys, words.front())) continue;
    for (const std::string_view word : words) {
      if (word.starts_with("rbytes=")) use.read_bytes += parse_number(word.substr(7)).value_or(0);
      if (word.starts_with("wbytes=")) use.write_bytes += parse_number(word.substr(7)).value_or(0);
    }
  }
  return true;
}

}  // namespace

std::optional<GroupUse> look_at_group(const fs::path& group,
                                      const fs::path& proc,
                                      const fs::path& sys) {
  const auto cpu = keyed(read_fact(group / "cpu.stat").value_or(""), "usage_usec");
  if (!cpu) return std::nullopt;
  GroupUse result;
  std::vector<int> members;
  add_members(group, members);
  ProcessUse& use = result.use;
  result.counts_io = read_io(group, sys, use);
  const auto memory = read_fact(group / "memory.stat");
  const auto threads = read_number(group / "pids.current");
  for (const int pid : members) {
    if (!memory || !threads) add_process(pid, proc, use);
    if (!result.counts_io) add_io(pid, proc, use);
  }
  use.cpu_s = static_cast<double>(*cpu) * 1e-6;
  use.processes = static_cast<int>(members.size());
  if (threads) use.threads = static_cast<int>(*threads);
  if (memory) {
    use.rss_bytes = keyed(*memory, "anon").value_or(0) + keyed(*memory, "file_mapped").value_or(0);
  }
  result.memory_bytes = read_number(group / "memory.current");
  return result;
}

}  // namespace sabath::probe
