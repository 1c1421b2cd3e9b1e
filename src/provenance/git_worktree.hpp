#pragma once

#include <sabath/base/process/process.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::provenance {

/// Calls `take` with each part of what git prints, without the `end` of each.
template <class Take>
void for_each_part(std::string_view text, char end, Take&& take) {
  while (!text.empty()) {
    const auto at = std::min(text.find(end), text.size());
    take(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
}

/// Runs git in one folder. Writes nothing there, and starts no program that a repository names. The
/// arguments must outlive it. Throws Error{launch|interrupted}.
class GitWorktree {
 public:
  GitWorktree(std::filesystem::path folder,
              base::ProcessRunner& processes,
              const std::stop_token& stop,
              std::chrono::seconds patience = std::chrono::seconds(10));

  /// The work tree of a submodule, or of the repository itself for an empty path; runs no filter.
  GitWorktree submodule(const std::filesystem::path& path) const;

  const std::filesystem::path& folder() const { return folder_; }
  void move_to(std::filesystem::path folder) { folder_ = std::move(folder); }
  /// Disables a setting of a filter ("filter.lfs.clean"), or those of all filters, from now on.
  void switch_off_filter(std::string_view key);
  void switch_off_filters();
  /// The first line that a command prints.
  std::string first_line(std::vector<std::string> arguments);
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
