#include <sabath/base/process/process_table.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

/// In one read, since the kernel makes the text anew for each; it is far shorter than a page.
std::string text_of(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return {};
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

}  // namespace

std::optional<ProcessStat> process_stat(int pid, const fs::path& proc) {
  const std::string text = text_of(proc / std::to_string(pid) / "stat");
  // The program's name stands in parentheses and may hold anything, parentheses too.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr std::size_t first_field = 3;
  std::array<std::string, 22> values;  // fields 3 to 24
  for (std::string& value : values)
    fields >> value;
  if (!fields) return std::nullopt;
  const auto field = [&](std::size_t position) { return values.at(position - first_field); };
  const auto count = [&](std::size_t position) {
    return leading_number<std::uint64_t>(field(position)).value_or(0);
  };
  ProcessStat stat;
  stat.pid = pid;
  stat.state = field(3).front();
  stat.parent = leading_number<int>(field(4)).value_or(0);
  stat.group = leading_number<int>(field(5)).value_or(0);
  stat.session = leading_number<int>(field(6)).value_or(0);
  stat.cpu_ticks = count(14) + count(15) + count(16) + count(17);
  stat.threads = leading_number<int>(field(20)).value_or(0);
  stat.start_ticks = count(22);
  stat.resident_pages = count(24);
  stat.virtual_bytes = count(23);
  stat.child_faults = count(11);
  return stat;
}

std::string control_group_of(int pid, const fs::path& proc) {
  constexpr std::string_view unified = "0::";
  std::ifstream file(proc / std::to_string(pid) / "cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(unified)) return line.substr(unified.size());
  }
  return {};
}

bool began_with(int pid, std::string_view variable, const fs::path& proc) {
  std::ifstream file(proc / std::to_string(pid) / "environ", std::ios::binary);
  for (std::string line; std::getline(file, line, '\0');) {
    if (line == variable) return true;
  }
  return false;
}

std::vector<int> numbered_entries(const fs::path& folder) {
  std::vector<int> numbers;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().filename().string();
    if (const auto number = number_in<int>(name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<int> children_by_scan(int pid, const fs::path& proc) {
  std::vector<int> children;
  for (const int candidate : numbered_entries(proc)) {
    const auto stat = process_stat(candidate, proc);
    if (stat && stat->parent == pid) children.push_back(candidate);
  }
  return children;
}

std::vector<int> children_of(int pid, const fs::path& proc) {
  const fs::path tasks = proc / std::to_string(pid) / "task";
  const auto threads = numbered_entries(tasks);
  std::vector<int> children;
  bool listed = threads.empty();  // then it is gone, and has none
  for (const int thread : threads) {
    std::ifstream file(tasks / std::to_string(thread) / "children");
    listed = listed || file.is_open();
    for (int child = 0; file >> child;)
      children.push_back(child);
  }
  if (!listed) return children_by_scan(pid, proc);
  return children;
}

}  // namespace sabath::base
