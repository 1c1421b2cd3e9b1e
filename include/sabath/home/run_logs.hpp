#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sabath::home {

/// Output of the newest attempt of a run, stage after stage, also while it grows.
class RunLogs {
 public:
  struct Choice {
    std::string stage{};  ///< only this stage; empty: all
    bool errors = false;  ///< stderr instead of stdout
    bool job = false;     ///< output of `exec` and its job instead
  };

  /// Throws Error{not_found} for an unknown stage.
  RunLogs(std::filesystem::path run_directory, Choice choice);

  /// Returns the output since the last call, at most some MiB. With several stages, a title line
  /// precedes the output of each.
  std::string more();
  /// Current size of the log in bytes.
  std::uint64_t size_bytes() const;
  /// Whether any output was found.
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

/// The last lines of a job's log, joined and redacted. Omits a line that is not read from its
/// beginning: it could show the rest of a secret.
std::string last_words(const std::filesystem::path& log);

}  // namespace sabath::home
