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

/// What all fetchers that run programs share.
struct ToolContext {
  ToolOptions options;
  base::Clock& clock;
};

/// One program to run, and where its progress shows.
struct ToolCall {
  std::vector<std::string> argv{};
  base::Environment variables{};  ///< beside the caller's
  std::string input{};            ///< at stdin; the place for secrets
  std::filesystem::path working_directory{};
  /// A file, with the temporary ones whose names begin as its own, or a folder.
  std::filesystem::path grows{};
  bool has_holes = false;  ///< the file is written in several places at once
  std::optional<std::uint64_t> total_bytes{};
  /// A pattern whose group is found in what the program writes, instead of growth; or empty.
  std::string percentage{};
  std::filesystem::path output{};  ///< where stdout goes; empty: only its tail is kept
};

struct ToolEnd {
  base::ProcessResult process{};  ///< with masked tails of what it wrote
  bool missing = false;           ///< there is no such program
  bool silent = false;            ///< nothing grew for too long, so it was ended

  bool ok() const { return !missing && !silent && process.ok(); }
};

/// Runs a program in a process group of its own, with a silence deadline that looks at what grows
/// and at what is written, and tells `observer` of progress under `task`. Throws
/// Error{interrupted|storage}.
ToolEnd run_tool(const ToolCall& call,
                 const std::string& task,
                 const ToolContext& context,
                 base::Observer& observer,
                 std::stop_token stop);

/// Bytes of a file and of the temporary ones beside it whose names begin as its own, or of all
/// files in a folder. `allocated`: without the holes.
std::uint64_t bytes_at(const std::filesystem::path& path, bool allocated = false);

/// The last lines of what a program wrote, on one line and fit for a message.
std::string last_words(const ToolEnd& end);

}  // namespace sabath::fetch
