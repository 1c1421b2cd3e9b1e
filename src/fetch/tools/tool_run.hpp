#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/fetch/tools.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::fetch {

/// Surroundings of all fetchers that run programs.
struct ToolContext {
  ToolOptions options;
  base::Clock& clock;
};

/// One call of a program, and the sign of its progress.
struct ToolCall {
  std::vector<std::string> argv{};
  base::Environment variables{};  ///< added to the caller's
  std::string input{};            ///< for stdin; may contain secrets
  std::filesystem::path working_directory{};
  /// A file with its temporary files, whose names begin alike, or a folder.
  std::filesystem::path grows{};
  bool has_holes = false;  ///< the file is written in several places at once
  std::optional<std::uint64_t> total_bytes{};
  /// Pattern for the percentage in the output; empty: growth is the progress.
  std::string percentage{};
  std::filesystem::path output{};  ///< file for stdout; empty: only its tail is kept
};

struct ToolEnd {
  base::ProcessResult process{};  ///< with masked tails of its output
  bool missing = false;           ///< the program was not found
  bool silent = false;            ///< it was ended because nothing grew

  bool ok() const { return !missing && !silent && process.ok(); }
};

/// Runs a program in its own process group and reports progress under `task`. Ends it when neither
/// the file nor the output grows for `ToolOptions::silence`. Throws Error{interrupted|storage}.
ToolEnd run_tool(const ToolCall& call,
                 const std::string& task,
                 const ToolContext& context,
                 base::Observer& observer,
                 std::stop_token stop);

/// Returns the bytes of the largest of a file and its temporary files, or of all files in a folder.
/// `allocated`: without the holes.
std::uint64_t bytes_at(const std::filesystem::path& path, bool allocated = false);

/// Returns the last lines of a program's output as one line for a message.
std::string last_words(const ToolEnd& end);

/// Returns options for ssh, scp and sftp: no questions, no forwarding, and a dead connection is
/// noticed. Keys and trusted hosts are in the user's own configuration.
std::vector<std::string> ssh_options(const ToolContext& context);

}  // namespace sabath::fetch
