// aria2c(1): several connections and several mirrors of one file in one call. It never asks for the
// version of what it goes on with; so that is done only where a digest will prove the result.

#include "builtin_tools.hpp"
#include "file_tool.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>

namespace sabath::fetch {

namespace {

// Of aria2's manual, EXIT STATUS.
constexpr int timed_out = 2;
constexpr int not_found = 3;
constexpr int too_slow = 5;
constexpr int network_problem = 6;
constexpr int no_space = 9;
constexpr int unresolved = 19;
constexpr int bad_response = 22;
constexpr int unauthorized = 24;
constexpr int overloaded = 29;
constexpr int wrong_checksum = 32;

constexpr int most_connections = 16;  // aria2 takes no more to one server

std::string aria2_name(base::DigestAlgorithm algorithm) {
  switch (algorithm) {
    case base::DigestAlgorithm::sha256:
      return "sha-256";
    case base::DigestAlgorithm::sha512:
      return "sha-512";
    case base::DigestAlgorithm::sha1:
      return "sha-1";
    case base::DigestAlgorithm::md5:
      return "md5";
  }
  return {};
}

class Aria2Tool final : public FileTool {
 public:
  explicit Aria2Tool(const ToolContext& context)
      : FileTool({.name = "aria2c",
                  .program = "aria2c",
                  .package = "the package 'aria2'",
                  .description = "http, https and ftp through aria2c: segments and mirrors",
                  .schemes = {"https", "http", "ftp"},
                  .takes_mirrors = true,
                  .resumes = true,
                  .has_holes = true},
                 context) {}

 protected:
  std::variant<ToolCall, Failure> call_for(const ToolJob& job) override {
    const bool any_secret = std::any_of(job.urls.begin(), job.urls.end(), [&](const ToolUrl& url) {
      return has_secrets(credentials_of(url, context()));
    });
    if (any_secret) {
      return Failure{.problem = "aria2c would send a secret on to where a server redirects",
                     .hint = "use the built-in engine or curl for this source"};
    }
    const int configured = context().options.configuration.connections_per_host;
    const int connections =
        configured == 0 ? most_connections : std::min(configured, most_connections);
    ToolCall call;
    call.argv = {"aria2c",
                 "--no-conf=true",
                 "--input-file=-",
                 "--dir=" + job.output.parent_path().string(),
                 "--max-connection-per-server=" + std::to_string(connections),
                 "--split=" + std::to_string(connections * static_cast<int>(job.urls.size())),
                 "--min-split-size=1M",
                 "--file-allocation=none",
                 "--auto-file-renaming=false",
                 "--allow-overwrite=true",
                 "--continue=true",
                 "--auto-save-interval=5",
                 "--follow-torrent=false",
                 "--follow-metalink=false",
                 "--enable-dht=false",
                 "--max-tries=2",
                 "--connect-timeout=30",
                 "--timeout=60",
                 "--summary-interval=0",
                 "--download-result=hide",
                 "--show-console-readout=false",
                 "--console-log-level=warn"};
    if (!job.digests.empty()) {
      const base::Digest& digest = job.digests.front();
      call.argv.push_back("--checksum=" + aria2_name(digest.algorithm) + "=" + digest.hex);
    }
    if (!context().options.ca_file.empty()) {
      call.argv.push_back("--ca-certificate=" + context().options.ca_file);
    }
    for (const ToolUrl& url : job.urls)
      call.input += (call.input.empty() ? "" : "\t") + url.plain;
    call.input += "\n out=" + job.output.filename().string() + "\n";
    call.grows = job.output;
    call.has_holes = true;
    call.total_bytes = job.size_bytes;
    return call;
  }

  Failure failure_of(const ToolEnd& end, const ToolJob& job) override {
    Failure failure = failure_by_words("aria2c", end);
    switch (end.process.end == base::ProcessEnd::exited ? end.process.exit_code : 0) {
      case timed_out:
      case too_slow:
      case network_problem:
      case unresolved:
      case overloaded:
        failure.retryable = true;
        break;
      case not_found:
        failure.not_found = true;
        failure.retryable = false;
        failure.hint = "check the document's sources: the file may have moved";
        break;
      case unauthorized:
        failure.access_needed = true;
        break;
      case bad_response:
        failure.retryable = !failure.access_needed && !failure.not_found;
        break;
      case no_space:
        throw base::Error(base::ErrorKind::storage, "aria2c: " + last_words(end));
      case wrong_checksum:
        // A partial of another version may be to blame; without it the source is.
        failure.retryable = job.partial_bytes > 0;
        drop(job);
        break;
      default:
        break;
    }
    return failure;
  }

 private:
  static void drop(const ToolJob& job) {
    base::remove_tree(job.output);
    base::remove_tree(job.output.string() + ".aria2");
  }
};

}  // namespace

std::unique_ptr<Fetcher> make_aria2_tool(const ToolContext& context) {
  return std::make_unique<Aria2Tool>(context);
}

}  // namespace sabath::fetch
