#include "mount_table.hpp"

#include "fact_file.hpp"

#include <sstream>

namespace sabath::probe {
namespace {

bool is_octal(char digit) {
  return digit >= '0' && digit <= '7';
}

/// mountinfo writes blank, tab, newline and backslash as \040 and so on (proc(5)).
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      const int code = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      plain += static_cast<char>(code);
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::vector<Mount> read_mount_table(const std::filesystem::path& root) {
  constexpr std::string_view separator = " - ";
  std::vector<Mount> mounts;
  for (const auto& line : split(read_fact(root / "proc/self/mountinfo").value_or(""), '\n')) {
    const auto dash = line.find(separator);
    if (dash == std::string::npos) continue;
    const auto mount = split(line.substr(0, dash), ' ');
    const auto system = split(line.substr(dash + separator.size()), ' ');
    if (mount.size() < 6 || system.empty()) continue;
    mounts.push_back({unescaped(mount[3]),
                      unescaped(mount[4]),
                      system.front(),
                      system.size() > 2 ? unescaped(system[1]) : "",
                      split(unescaped(mount[5]), ','),
                      split(unescaped(system.back()), ',')});
  }
  return mounts;
}

}  // namespace sabath::probe
