#pragma once

#include <filesystem>
#include <string>

namespace sabath::probe {

/// A control group (Linux, version 2) of a run's own, so that what its processes use is counted by
/// the kernel, whoever their parents are. It is made beneath the group of this process, or beside
/// it where more is counted there (in a group of systemd's that is delegated to the user, processes
/// and controllers cannot be in one place), and only where that is allowed: as the owner of the
/// group, or as root where systemd has delegated it or is not there at all. Controllers are not
/// switched on: that would be the machine's affair.
class RunGroup {
 public:
  /// No group where none can be made. Never throws for that. Empty ones that runs left which were
  /// killed are removed.
  explicit RunGroup(const std::string& name, const std::filesystem::path& root = "/");
  /// Ends what is left in it and removes it.
  ~RunGroup();
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;

  /// Its folder; empty where there is none.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// The folder of a group of one stage's own within it; empty where there is none.
  std::filesystem::path of_stage(const std::string& name) const;

 private:
  std::filesystem::path path_{};
};

}  // namespace sabath::probe
