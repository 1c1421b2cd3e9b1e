// rsync(1), from its daemon (rsync://host/module/path) and over ssh (rsync+ssh://user@host/path).
// It continues any partial: its delta algorithm compares blocks with the source and checks the
// whole at the end, so versions are never mixed, with or without a digest.

#include "builtin_tools.hpp"
#include "tool_run.hpp"
#include "tree_tool.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

namespace sabath::fetch {

namespace {

constexpr std::string_view over_ssh = "rsync+ssh";

// rsync(1), EXIT VALUES.
constexpr int protocol_start = 5;
constexpr int socket_failure = 10;
constexpr int stream_failure = 12;
constexpr int vanished = 24;
constexpr int data_timeout = 30;
constexpr int connect_timeout = 35;
constexpr int ssh_failure = 255;

/// Returns the value of rsync's -e, which rsync splits at blanks outside quotes.
std::string remote_shell(const ToolUrl& url, const ToolContext& context) {
  std::string line = "ssh";
  for (const std::string& option : ssh_options(context))
    line += " '" + option + "'";
  if (!url.port.empty()) line += " -p " + url.port;
  return line;
}

std::string operand(const ToolUrl& url) {
  const std::string host =
      url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  const std::string at = url.user.empty() ? host : url.user + "@" + host;
  if (url.scheme == over_ssh) {
    return at + ":" + (url.path.starts_with("/~/") ? url.path.substr(3) : url.path);
  }
  return at + "::" + url.path.substr(url.path.empty() ? 0 : 1);
}

std::optional<Failure> rsync_problem(const ToolUrl& url) {
  if (url.host.empty()) return Failure{.problem = "malformed URL: it names no host"};
  if (url.path.find_first_of("*?[\\") != std::string::npos) {
    return Failure{.problem = "rsync would take '*', '?', '[' and '\\' for wildcards",
                   .hint = "name the folder, with a slash at the end"};
  }
  if (!url.password.empty()) {
    return Failure{.problem = "rsync sends a password where others can read it",
                   .hint = "set RSYNC_PASSWORD if that is acceptable, or use rsync+ssh://"};
  }
  return std::nullopt;
}

ToolCall basic_call(const ToolUrl& url, const ToolContext& context) {
  ToolCall call;
  call.argv = {"rsync", "--protect-args", "--no-motd", "--timeout=60", "--no-human-readable"};
  if (url.scheme == over_ssh) {
    call.argv.push_back("--rsh=" + remote_shell(url, context));
  } else {
    call.argv.emplace_back("--contimeout=30");
    if (!url.port.empty()) call.argv.push_back("--port=" + url.port);
  }
  return call;
}

class RsyncTool final : public TreeTool {
 public:
  explicit RsyncTool(const ToolContext& context)
      : TreeTool(
            {.name = "rsync",
             .program = "rsync",
             .package = "the package 'rsync'",
             .description = "files and folders of rsync daemons, and of hosts that ssh reaches",
             .schemes = {"rsync", std::string(over_ssh)},
             .resumes = true,
             .resume_is_safe = true},
            context) {}

 protected:
  Listing listed(const ToolJob& job, std::optional<std::uint64_t> /*limit*/) override {
    const ToolUrl& source = job.url();
    if (auto failure = rsync_problem(source)) return *std::move(failure);
    const base::TempDir folder(std::filesystem::temp_directory_path(), "sabath-list-");
    ToolCall call = basic_call(source, context());
    for (const char* option :
         {"--list-only", "--recursive", "--copy-links", "--8-bit-output", "--"})
      call.argv.emplace_back(option);
    call.argv.push_back(operand(source));
    call.output = folder.path() / "listing";
    if (auto failure = run(call, job)) {
      return *std::move(failure);
    }
    // "-rw-r--r--         12,345 2026/11/21 10:00:00 name"
    static const base::Form form(R"(-\S+ +([0-9,]+) [0-9/]+ [0-9:]+ (.*))");
    std::vector<ListedFile> files;
    std::string base_url = source.plain + (source.plain.ends_with('/') ? "" : "/");
    if (!source.user.empty()) {
      base_url.insert(base_url.find("://") + 3, encoded_path(source.user) + "@");
    }
    for (const std::string& line : base::split(base::read_file(call.output, 1ULL << 30U), '\n')) {
      const auto parts = form.parts(line);
      if (!parts) continue;
      std::string digits = parts->at(1);
      digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
      const auto size_bytes = base::number_in<std::uint64_t>(digits);
      if (!size_bytes) {
        return Failure{.problem = "lists '" + base::printable(parts->at(2)) + "' with a size of '" +
                                  base::printable(parts->at(1)) + "' bytes"};
      }
      ListedFile& file = files.emplace_back();
      file.path = parts->at(2);
      file.url = base_url + encoded_path(file.path);
      file.size_bytes = size_bytes;
    }
    return files;
  }

  std::optional<Failure> bring(const ToolJob& job) override {
    if (auto failure = rsync_problem(job.url())) return failure;
    if (job.url().path.ends_with('/')) return Failure{.problem = "is a folder, not a file"};
    ToolCall call = basic_call(job.url(), context());
    // --ignore-times: a partial may have the size and date of the whole.
    for (const char* option : {"--times", "--copy-links", "--inplace", "--ignore-times", "--"})
      call.argv.emplace_back(option);
    call.argv.push_back(operand(job.url()));
    call.argv.push_back(job.output.string());
    call.grows = job.output;
    call.total_bytes = job.size_bytes;
    return run(call, job);
  }

  std::optional<Failure> bring_tree(const ToolJob& job) override {
    if (auto failure = rsync_problem(job.url())) return failure;
    ToolCall call = basic_call(job.url(), context());
    for (const char* option : {"--recursive",
                               "--times",
                               "--copy-links",
                               "--partial",
                               "--checksum",
                               "--delete",
                               "--force",
                               "--"}) {
      call.argv.emplace_back(option);
    }
    call.argv.push_back(operand(job.url()));
    call.argv.push_back(job.output.string() + "/");
    call.grows = job.output;
    return run(call, job);
  }

  Failure failure_of(const ToolEnd& end, const ToolJob&) override {
    Failure failure = failure_by_words("rsync", end);
    if (end.process.end != base::ProcessEnd::exited) return failure;
    switch (end.process.exit_code) {
      case socket_failure:
      case stream_failure:
      case vanished:
      case data_timeout:
      case connect_timeout:
      case ssh_failure:
      case protocol_start:
        failure.retryable = !failure.access_needed && !failure.not_found;
        break;
      default:
        break;
    }
    return failure;
  }
};

}  // namespace

std::unique_ptr<Fetcher> make_rsync_tool(const ToolContext& context) {
  return std::make_unique<RsyncTool>(context);
}

}  // namespace sabath::fetch
