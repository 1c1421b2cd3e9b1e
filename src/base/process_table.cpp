#include "process_table.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

std::vector<int> numbered_entries(const fs::path& folder) {
  std::vector<int> numbers;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().filename().string();
    int number = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && *rest == '\0') numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::optional<ProcessFacts> process_facts(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name stands in brackets and may hold blanks and brackets itself.
  const auto bracket = line.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(bracket + 1));
  ProcessFacts facts;
  facts.pid = pid;
  char state = '?';
  fields >> state >> facts.parent >> facts.group >> facts.session;
  std::string skipped;
  for (int field = 7; field < 22; ++field)
    fields >> skipped;
  fields >> facts.start_ticks;
  if (!fields) return std::nullopt;
  facts.ended = state == 'Z' || state == 'X';
  return facts;
}

std::vector<int> children_by_scan(int pid) {
  std::vector<int> children;
  for (const int candidate : numbered_entries("/proc")) {
    const auto facts = process_facts(candidate);
    if (facts && facts->parent == pid) children.push_back(candidate);
  }
  return children;
}

std::vector<int> children_of(int pid) {
  const fs::path tasks = "/proc/" + std::to_string(pid) + "/task";
  std::vector<int> children;
  bool listed = false;
  for (const int task : numbered_entries(tasks)) {
    std::ifstream file(tasks / std::to_string(task) / "children");
    listed = listed || file.is_open();
    for (int child = 0; file >> child;)
      children.push_back(child);
  }
  if (!listed) return children_by_scan(pid);
  return children;
}

}  // namespace sabath::base
