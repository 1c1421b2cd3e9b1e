#include "user_ranges.hpp"

#include <pwd.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace sabath::env {
namespace {

bool has_line_for(const char* file, const std::string& name, const std::string& id) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::string owner = line.substr(0, line.find(':'));
    if (!owner.empty() && (owner == name || owner == id)) return true;
  }
  return false;
}

}  // namespace

bool has_user_ranges() {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(1U << 14U);
  ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found);
  const std::string name = found == nullptr ? "" : found->pw_name;
  const std::string id = std::to_string(::getuid());
  return has_line_for("/etc/subuid", name, id) && has_line_for("/etc/subgid", name, id);
}

}  // namespace sabath::env
