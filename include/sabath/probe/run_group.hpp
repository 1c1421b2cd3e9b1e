#pragma once

#include <filesystem>
#include <string>

namespace sabath::probe {

/// Control group (Linux, version 2) of a run, in which the kernel counts what its processes use.
/// Made beneath the group of this process, or beside it where more is counted there: in a group
/// that systemd delegates, processes and controllers cannot share a place. Made only where this
/// process owns the group, or is root and systemd has delegated it or is absent. Enables no
/// controllers: that is the administrator's decision.
class RunGroup {
 public:
  /// Makes no group where that is not allowed, without an error. Removes empty groups of killed
  /// runs.
  explicit RunGroup(const std::string& name, const std::filesystem::path& root = "/");
  /// Kills the remaining processes and removes the group.
  ~RunGroup();
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;

  /// Returns its folder; empty without a group.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Makes a group for one stage and returns its folder, or the run's where that fails; empty
  /// without a group.
  std::filesystem::path of_stage(const std::string& name) const;

 private:
  std::filesystem::path path_{};
};

}  // namespace sabath::probe
