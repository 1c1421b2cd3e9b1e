#include "memory_map.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sabath::probe {
namespace {

std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

bool is_no_file(std::string_view path) {
  constexpr std::array<std::string_view, 4> heads{"/dev/", "/memfd:", "/SYSV", "/anon_hugepage"};
  return !path.starts_with('/') ||
         std::any_of(heads.begin(), heads.end(), [&](auto head) { return path.starts_with(head); });
}

}  // namespace

std::vector<ExecutableMapping> executable_mappings(std::string_view maps) {
  constexpr std::string_view gone = " (deleted)";
  std::vector<ExecutableMapping> mappings;
  while (!maps.empty()) {
    std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    next_word(line);  // addresses
    const std::string_view mode = next_word(line);
    if (mode.size() < 3 || mode[2] != 'x') continue;
    next_word(line);  // offset
    next_word(line);  // device
    const std::string_view number = next_word(line);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (is_no_file(line)) continue;
    ExecutableMapping mapping;
    std::from_chars(number.data(), number.data() + number.size(), mapping.inode);
    mapping.is_gone = line.ends_with(gone);
    if (mapping.is_gone) line.remove_suffix(gone.size());
    mapping.path = line;
    mappings.push_back(mapping);
  }
  return mappings;
}

}  // namespace sabath::probe
