#pragma once

#include <sabath/base/process/process.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::provenance {

/// Runs git in one folder. Writes nothing there, and starts no program that a repository names. The
/// arguments must outlive it. Throws Error{launch|interrupted}.
class GitWorktree {
 public:
  GitWorktree(std::filesystem::path folder,
              base::ProcessRunner& processes,
              const std::stop_token& stop,
              std::chrono::seconds patience = std::chrono::seconds(10));

  const std::filesystem::path& folder() const { return folder_; }
  void move_to(std::filesystem::path folder) { folder_ = std::move(folder); }
  /// Disables a setting of a filter ("filter.lfs.clean"), or those of all filters, from now on.
  void switch_off_filter(std::string_view key);
  void switch_off_filters();
  void set(const std::string& variable, const std::string& value) { variables_[variable] = value; }

  /// Writes its output to `output`, if given, up to `output_limit` bytes. `input`: its stdin.
  base::ProcessResult run(std::vector<std::string> arguments,
                          const std::filesystem::path& output = {},
                          std::uint64_t output_limit = 0,
                          const std::string& input = {});
  /// Returns its output; throws Error{launch} with git's message unless it succeeds.
  std::string must(std::vector<std::string> arguments);

 private:
  int set_by_variables_ = 0;  ///< settings that cannot be options
  std::filesystem::path folder_;
  base::ProcessRunner& processes_;
  const std::stop_token& stop_;
  std::chrono::seconds patience_;
  base::Environment variables_;
  std::vector<std::string> without_filters_{};
};

}  // namespace sabath::provenance
