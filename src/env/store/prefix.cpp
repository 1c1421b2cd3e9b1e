#include "layers/layer_variables.hpp"
#include "prefix_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/env/prefix.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include <sys/stat.h>

namespace sabath::env {

namespace fs = std::filesystem;

namespace {

/// Checks a file beneath a trusted folder, as base::why_untrusted checks a path. Nobody may write a
/// ready file, not even trusted users.
std::optional<std::string> why_file_untrusted(const std::string& path,
                                              const struct stat& status,
                                              const base::Trust& trust) {
  if (!base::is_trusted_owner(status.st_uid, trust)) {
    return path + ": belongs to user " + std::to_string(status.st_uid);
  }
  if (!S_ISLNK(status.st_mode) && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return path + ": can be written by " +
           ((status.st_mode & S_IWOTH) != 0 ? "everybody" : "its group");
  }
  return std::nullopt;
}

}  // namespace

PrefixSize measure_prefix(const fs::path& prefix) {
  std::atomic<std::uint64_t> files{0};
  std::atomic<std::uint64_t> disk_bytes{0};
  walk_prefix(prefix, [&](const std::string&, const struct stat& status) {
    if (!S_ISDIR(status.st_mode)) ++files;
    // POSIX counts blocks of 512 bytes.
    disk_bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    return true;
  });
  return {.files = files, .disk_bytes = disk_bytes};
}

std::optional<std::string> why_prefix_untrusted(const fs::path& prefix, const base::Trust& trust) {
  if (auto reason = base::why_untrusted(prefix, trust)) return reason;
  // The owner of the prefix is trusted already: this spares a look-up of groups for each file.
  base::Trust within{trust.owners, {}};
  if (struct stat own{}; ::stat(prefix.c_str(), &own) == 0) within.owners.push_back(own.st_uid);
  std::optional<std::string> reason;
  std::mutex mutex;
  const auto problem = walk_prefix(prefix, [&](const std::string& file, const struct stat& status) {
    auto why = why_file_untrusted(file, status, within);
    if (!why) return true;
    const std::lock_guard lock(mutex);
    reason = std::move(why);
    return false;
  });
  if (reason || !problem) return reason;
  return problem->path + ": " + base::errno_text(problem->code);
}

void refuse_untrusted(const std::string& reason, const std::string& layer_name) {
  throw_environment(
      place_of(layer_name) + ": " + reason + ": sabath executes no files that others could change",
      "if nobody else has changed the files, remove that right (chmod go-w, chown); otherwise "
      "remove the environment ('sabath env rm') and build it in a cache of your own. To trust "
      "others, name them in the configuration: "
      "\"environments\": {\"trusted_owners\": ..., \"trusted_groups\": ...}");
}

void require_trusted(const fs::path& prefix,
                     const base::Trust& trust,
                     const std::string& layer_name) {
  if (auto reason = why_prefix_untrusted(prefix, trust)) {
    refuse_untrusted(*reason, layer_name);
  }
}

std::optional<std::string> why_removed(const spec::BuiltEnvironment& environment) {
  for (const spec::BuiltLayer& layer : environment.layers) {
    struct stat status {};
    if (layer.prefix.empty() || ::stat(layer.prefix.c_str(), &status) == 0) continue;
    if (errno == ENOENT || errno == ENOTDIR)
      return place_of(layer.lock.name) + ": " + layer.prefix + ": was removed since it was ready";
  }
  return std::nullopt;
}

void require_present(const spec::BuiltEnvironment& environment) {
  if (const auto removed = why_removed(environment))
    throw_environment(*removed, "give the command again: what is missing is built anew");
}

void check_trusted(const spec::BuiltEnvironment& environment,
                   const std::vector<LocalPrefix>& copies,
                   const base::Trust& trust) {
  require_present(environment);
  for (const spec::BuiltLayer& layer : environment.layers) {
    if (layer.prefix.empty()) continue;
    // Users who can write around the prefix could have put an image there.
    if (const auto reason = base::why_untrusted(layer.prefix, trust))
      refuse_untrusted(*reason, layer.lock.name);
    const auto copy = std::ranges::find_if(
        copies, [&](const LocalPrefix& one) { return one.prefix == layer.prefix; });
    require_trusted(
        copy == copies.end() ? fs::path(layer.prefix) : copy->copy, trust, layer.lock.name);
  }
}

}  // namespace sabath::env
