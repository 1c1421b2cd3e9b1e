#include "mount_table.hpp"

#include <sabath/base/file.hpp>
#include <sabath/probe/host_probe.hpp>

#include <algorithm>
#include <array>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view mask = "[redacted]";

/// Options of mount.cifs, mount.ceph, mount.davfs, s3fs and the like whose value is a secret or
/// leads to one.
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
  std::string text;
  for (const auto& option : all)
    text += (text.empty() ? "" : ",") + without_secret(option);
  return text;
}

/// The deepest that `path` lies beneath; of those at one point, the last mounted.
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
