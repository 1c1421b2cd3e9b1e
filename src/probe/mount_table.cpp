#include "mount_table.hpp"

#include "fact_file.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/probe/host_probe.hpp>

#include <algorithm>
#include <array>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

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

std::vector<Mount> read_mount_table(const std::filesystem::path& root) {
  constexpr std::string_view separator = " - ";
  std::vector<Mount> mounts;
  for (const auto& line : base::split(read_fact(root / "proc/self/mountinfo").value_or(""), '\n')) {
    const auto dash = line.find(separator);
    if (dash == std::string::npos) continue;
    const auto mount = base::split(line.substr(0, dash), ' ');
    const auto system = base::split(line.substr(dash + separator.size()), ' ');
    if (mount.size() < 6 || system.empty()) continue;
    mounts.push_back({unescaped(mount[3]),
                      unescaped(mount[4]),
                      system.front(),
                      system.size() > 2 ? unescaped(system[1]) : "",
                      base::split(unescaped(mount[5]), ','),
                      base::split(unescaped(system.back()), ',')});
  }
  return mounts;
}

namespace {

constexpr std::string_view mask = "[redacted]";

/// Returns true for options of mount.cifs, mount.ceph, mount.davfs, s3fs and the like with a secret
/// as value.
bool is_secret(std::string_view key) {
  constexpr std::array<std::string_view, 6> words{
      "pass", "secret", "token", "credential", "cred", "key"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return key.find(word) != std::string_view::npos;
  });
}

std::string without_secret(const std::string& option) {
  const auto equals = option.find('=');
  if (equals == std::string::npos || !is_secret(option.substr(0, equals))) return option;
  return option.substr(0, equals + 1).append(mask);
}

/// "https://user:password@host/share", "//user%password@host/share"
std::string without_user(std::string source) {
  const auto slashes = source.find("//");
  if (slashes == std::string::npos) return source;
  const auto begin = slashes + 2;
  const auto end = std::min(source.find('/', begin), source.size());
  const auto sign = source.rfind('@', end);
  if (sign == std::string::npos || sign < begin) return source;
  return source.replace(begin, sign - begin, mask);
}

std::string options_text(const Mount& mount) {
  std::vector<std::string> all = mount.options;
  for (const auto& option : mount.super_options) {
    if (std::find(all.begin(), all.end(), option) == all.end()) all.push_back(option);
  }
  return base::joined(all, ",", without_secret);
}

/// Returns the deepest mount above `path`; of several at one point, the last.
const Mount* mount_of(const std::vector<Mount>& table, const fs::path& path) {
  const Mount* found = nullptr;
  for (const Mount& mount : table) {
    if (!base::is_beneath(path, mount.point)) continue;
    if (found == nullptr || !base::is_beneath(found->point, mount.point) ||
        found->point == mount.point) {
      found = &mount;
    }
  }
  return found;
}

}  // namespace

std::vector<spec::MountFacts> look_at_mounts(const std::vector<UsedPath>& paths,
                                             const fs::path& root) {
  const auto table = read_mount_table(root);
  std::vector<spec::MountFacts> facts;
  for (const auto& [role, path] : paths) {
    std::error_code code;
    const auto real = fs::weakly_canonical(path, code);
    const Mount* mount = mount_of(table, code ? path : real);
    if (mount == nullptr) continue;
    facts.push_back({role,
                     path.string(),
                     mount->point.string(),
                     mount->type,
                     without_user(mount->source),
                     options_text(*mount)});
  }
  return facts;
}

}  // namespace sabath::probe
