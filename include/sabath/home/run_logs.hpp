#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::home {

struct LogPart;

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
  friend LogPart read_log_part(const std::filesystem::path& run_directory,
                               const Choice& choice,
                               std::optional<std::uint64_t> from);
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

/// A part of one log.
struct LogPart {
  std::string title{};  ///< its stage, or the name of a job's log
  std::string text{};
  std::uint64_t from = 0;  ///< place of its first byte
  std::uint64_t next = 0;  ///< place behind its last one
  std::uint64_t size_bytes = 0;
};

/// Reads at most 256 KiB of a log from a place on; without one the last 64 KiB, from the beginning
/// of a line. Without a stage: the last stage that has such a log. A log that is shorter than
/// `from` was replaced, and is read from its end. Throws as the constructor of RunLogs.
LogPart read_log_part(const std::filesystem::path& run_directory,
                      const RunLogs::Choice& choice,
                      std::optional<std::uint64_t> from);

/// The last lines of a job's log, joined and redacted. Omits a line that is not read from its
/// beginning: it could show the rest of a secret.
std::string last_words(const std::filesystem::path& log);

}  // namespace sabath::home
