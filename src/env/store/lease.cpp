#include "lease.hpp"

#include "key_folder.hpp"
#include "prefix.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>
#include <atomic>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// A process on another host cannot be seen: its lease is believed for so long.
constexpr auto patience = std::chrono::hours(24 * 7);

fs::path leases_of(const fs::path& key_folder) {
  return key_folder / leases_name;
}

}  // namespace

std::vector<std::string> lessees(const fs::path& key_folder, base::WallTime now) {
  std::vector<std::string> found;
  std::error_code code;
  for (fs::directory_iterator at(leases_of(key_folder), code);
       !code && at != fs::directory_iterator();
       at.increment(code)) {
    const std::string name = at->path().filename().string();
    const auto process = base::ProcessIdentity::parse(name);
    struct stat status {};
    if (!process || ::lstat(at->path().c_str(), &status) != 0) continue;
    const auto liveness = base::liveness_of(*process);
    const base::WallTime made(std::chrono::seconds(status.st_mtim.tv_sec));
    if (liveness == base::Liveness::running ||
        (liveness == base::Liveness::unknown && made + patience > now)) {
      found.push_back("process " + std::to_string(process->pid));
    } else {
      base::Beneath::anywhere().unlink(at->path());
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

EnvironmentLease::EnvironmentLease(const spec::BuiltEnvironment& environment) {
  static std::atomic<unsigned> count{0};
  const std::string name = base::ProcessIdentity::current().text() + "." + std::to_string(++count);
  for (const spec::BuiltLayer& layer : environment.layers) {
    if (layer.prefix.empty()) continue;
    // <key>/<attempt>/prefix
    const fs::path folder = leases_of(fs::path(layer.prefix).parent_path().parent_path());
    try {
      make_own_folder(folder);
      base::Beneath::anywhere().write_atomically(folder / name, "", base::Durability::ordered_only);
      files_.push_back(folder / name);
    } catch (const base::Error&) {
      // Somebody else's cache: who owns it sees the runs that use it.
      continue;
    }
  }
}

EnvironmentLease::~EnvironmentLease() {
  for (const fs::path& file : files_)
    base::Beneath::anywhere().unlink(file);
}

}  // namespace sabath::env
