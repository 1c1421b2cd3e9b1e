#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::home {

/// The output of a run as it grows, stage after stage, of its newest attempt.
class RunLogs {
 public:
  struct Choice {
    std::string stage{};  ///< of this one alone; empty: of all
    bool errors = false;  ///< stderr instead of stdout
    bool job = false;     ///< what `exec` and its job wrote instead
  };

  /// Throws Error{not_found} for a stage that the run does not have.
  RunLogs(std::filesystem::path run_directory, Choice choice);

  /// What was written since the last call, at most some MiB at a time; before the first output of
  /// each stage a line says whose it is, where there are several.
  std::string more();
  /// Of all of it, as it is now.
  std::uint64_t size_bytes() const;
  /// Was there anything?
  bool found() const { return found_; }

 private:
  struct Source {
    std::string title{};
    std::filesystem::path file{};
  };
  std::vector<Source> sources() const;

  std::filesystem::path directory_;
  Choice choice_;
  std::vector<std::string> stages_{};
  std::vector<std::filesystem::path> job_logs_{};
  std::map<std::filesystem::path, std::uint64_t> shown_{};
  std::filesystem::path last_{};
  bool found_ = false;
};

/// The last lines of a job's log, in one and without secrets; a line of which only the end is read
/// could show the rest of one, and is left out.
std::string last_words(const std::filesystem::path& log);

}  // namespace sabath::home
