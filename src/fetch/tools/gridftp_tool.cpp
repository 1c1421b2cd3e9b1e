// gsiftp and ftp through globus-url-copy, with parallel streams.

#include "builtin_tools.hpp"
#include "file_tool.hpp"
#include "tree_tool.hpp"

#include <algorithm>

namespace sabath::fetch {

namespace {

constexpr int usual_streams = 4;

class GridftpTool final : public FileTool {
 public:
  explicit GridftpTool(const ToolContext& context)
      : FileTool({.name = "globus-url-copy",
                  .program = "globus-url-copy",
                  .package = "the package 'globus-gass-copy-progs'",
                  .description = "gsiftp and ftp through globus-url-copy, with parallel streams",
                  .schemes = {"gsiftp", "ftp"},
                  .has_holes = true},
                 context) {}

 protected:
  std::variant<ToolCall, Failure> call_for(const ToolJob& job) override {
    if (job.url().path.ends_with('/')) return Failure{.problem = "is a folder, not a file"};
    if (!job.credentials.password.empty()) {
      return Failure{.problem = "globus-url-copy would show the password to all",
                     .hint = "use the built-in engine, or a proxy certificate"};
    }
    const int configured = context().options.configuration.connections_per_host;
    const int streams = configured == 0 ? usual_streams : configured;
    ToolCall call;
    // -rst: restarts from its markers while it runs; they do not outlive it.
    call.argv = {"globus-url-copy", "-p", std::to_string(streams), "-rst", "-rst-retries", "2"};
    call.argv.push_back(job.url().plain);
    call.argv.push_back("file://" + encoded_path(job.output.string()));
    call.grows = job.output;
    call.has_holes = true;
    call.total_bytes = job.size_bytes;
    return call;
  }

  Failure failure_of(const ToolEnd& end, const ToolJob&) override {
    Failure failure = failure_by_words("globus-url-copy", end);
    if (end.process.errors.find("globus_gsi") != std::string::npos ||
        end.process.errors.find("GSS Major Status") != std::string::npos) {
      failure.access_needed = true;
      failure.hint = "a proxy certificate is needed: grid-proxy-init or voms-proxy-init";
    }
    return failure;
  }
};

}  // namespace

std::unique_ptr<Fetcher> make_gridftp_tool(const ToolContext& context) {
  return std::make_unique<GridftpTool>(context);
}

}  // namespace sabath::fetch
