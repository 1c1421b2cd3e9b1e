#pragma once

#include <sabath/spec/enum_words.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// Arguments of a command, or a line of text, with a condition. Conditions name a placeholder.
struct ToolWords {
  std::vector<std::string> texts{};
  std::string when{};    ///< used only where this placeholder has a value; empty: always
  std::string unless{};  ///< used only where this placeholder has no value; empty: always
};

/// A transfer that the program must not try.
struct ToolRefusal {
  std::string when{};
  std::string unless{};
  std::string problem{};
  std::string hint{};
};

/// Meaning of a failed call.
enum class ToolFailureKind {
  unclear,        ///< The usual words in the program's output decide.
  retry,          ///< The same call may succeed later.
  server,         ///< The same, unless the output says "not found" or "denied".
  refused,        ///< The same call fails again.
  not_found,      ///< The server does not have the file.
  access,         ///< A login is needed.
  disk_full,      ///< Of this machine.
  corrupt,        ///< The file has the wrong digest: it is removed.
  http_status,    ///< The status of the HTTP answer decides.
  other_version,  ///< The partial is of another version: the file is downloaded from the start.
};
constexpr auto words_of(ToolFailureKind) {
  return std::to_array<std::string_view>({"unclear",
                                          "retry",
                                          "server",
                                          "refused",
                                          "not_found",
                                          "access",
                                          "disk_full",
                                          "corrupt",
                                          "http_status",
                                          "other_version"});
}

/// How a failed call is recognized. The first match in the document counts.
struct ToolFailure {
  std::vector<int> exits{};  ///< exit statuses; empty: any
  std::string says{};        ///< pattern found in the program's output; empty: any output
  ToolFailureKind kind = ToolFailureKind::unclear;
  std::string problem{};  ///< text before the program's last words
  std::string hint{};
};

/// How the program's version is asked, and the oldest version that works.
struct ToolVersion {
  std::vector<std::string> command{};
  std::string find{};   ///< pattern; its first group is the version
  std::string least{};  ///< dotted numbers: "8.7"
};

/// What a program does with a partial file.
enum class ToolResume {
  never,    ///< it starts again
  digest,   ///< it appends without asking for the version: used only where a digest is expected
  version,  ///< it proves the version with "{version}", an ETag or a date
};
constexpr auto words_of(ToolResume) {
  return std::to_array<std::string_view>({"never", "digest", "version"});
}

/// Where a program writes the headers of HTTP answers.
enum class ToolHeaders {
  none,
  file,    ///< to "{headers}"
  errors,  ///< to stderr
};
constexpr auto words_of(ToolHeaders) {
  return std::to_array<std::string_view>({"none", "file", "errors"});
}

/// A program that downloads one file, as data: catalog/tools/<name>.json, or tools/<name>.json in
/// the configuration folder. Patterns are base::Regex, commands argument vectors.
struct ToolDescription {
  std::string name{};  ///< of the file
  std::string description{};
  std::string package{};  ///< where the program comes from: "the package 'aria2'"
  std::vector<std::string> protocols{};
  std::vector<ToolWords> command{};   ///< the program first
  std::vector<ToolWords> download{};  ///< arguments that a download adds
  /// Arguments that ask where the URL redirects to: stdout has the next URL, or nothing. Used where
  /// there are secrets, which then reach only their own hosts.
  std::vector<ToolWords> redirect{};
  std::vector<ToolWords> input{};  ///< Lines for stdin; may contain secrets.
  std::vector<ToolWords> file{};   ///< Lines of "{file}", of mode 0600; may contain secrets.
  std::string escape{};            ///< Characters that get a backslash in "{escaped.NAME}".
  bool mirrors = false;            ///< One call takes several URLs of a file.
  bool holes = false;              ///< The file is written in several places at once.
  int connections = 1;             ///< where the configuration names no number
  int most_connections = 64;
  ToolResume resume = ToolResume::never;
  ToolHeaders headers = ToolHeaders::none;
  std::map<std::string, std::string> digests{};  ///< algorithm -> its name for this program
  std::string progress{};  ///< pattern; its group is a percentage. Empty: the file's growth
  std::vector<ToolRefusal> refusals{};
  std::vector<ToolFailure> failures{};
  std::map<ToolFailureKind, std::string> hints{};  ///< for failures without a hint of their own
  ToolVersion version{};
};

/// Placeholders of a command. "escaped.NAME" and "encoded.NAME" (percent-encoded) exist too.
std::vector<std::string> command_placeholders();

/// Reads strictly. `origin` (a path) begins every message; its stem is the name. Throws
/// Error{usage} with all problems.
ToolDescription parse_tool(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
