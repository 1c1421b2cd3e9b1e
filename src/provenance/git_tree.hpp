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

/// git in one folder. It writes nothing there, and starts nothing that a repository names. The
/// arguments must outlive it. Throws Error{launch|interrupted}.
class GitTree {
 public:
  GitTree(std::filesystem::path folder,
          base::ProcessRunner& processes,
          const std::stop_token& stop,
          std::chrono::seconds patience = std::chrono::seconds(10));

  const std::filesystem::path& folder() const { return folder_; }
  void move_to(std::filesystem::path folder) { folder_ = std::move(folder); }
  /// From now on: the programs of a filter ("lfs") are not started, whose setting this is; those of
  /// all filters that the settings name.
  void switch_off_filter(std::string_view key);
  void switch_off_filters();
  void set(const std::string& variable, const std::string& value) { variables_[variable] = value; }

  /// What it prints goes to `output`, where that is given, and must not be more than
  /// `output_limit`. `input`: what it reads.
  base::ProcessResult run(std::vector<std::string> arguments,
                          const std::filesystem::path& output = {},
                          std::uint64_t output_limit = 0,
                          const std::string& input = {});
  /// What it printed; anything but success is an Error{launch} with what git said.
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
