// wget(1). It appends to whatever partial there is without asking for the version, and calls that a
// success; so a partial is gone on with only where a digest will prove the result.

#include "builtin_tools.hpp"
#include "file_tool.hpp"
#include "http/http_headers.hpp"
#include "http/http_status.hpp"

#include <sabath/base/file.hpp>

#include <optional>

namespace sabath::fetch {

namespace {

// Of wget's manual, EXIT STATUS.
constexpr int network_failure = 4;
constexpr int tls_failure = 5;
constexpr int authentication_failure = 6;
constexpr int server_error = 8;

class WgetTool final : public FileTool {
 public:
  explicit WgetTool(const ToolContext& context)
      : FileTool({.name = "wget",
                  .program = "wget",
                  .package = "the package 'wget'",
                  .description = "http, https and ftp through the program wget",
                  .schemes = {"https", "http", "ftp"},
                  .resumes = true},
                 context) {}

 protected:
  std::variant<ToolCall, Failure> call_for(const ToolJob& job) override {
    ToolCall call;
    call.argv = {"wget",
                 "--no-verbose",
                 "--server-response",
                 "--tries=1",
                 "--timeout=60",
                 "--input-file=-",
                 "--no-glob",
                 "--output-document",
                 job.output.string()};
    if (job.partial_bytes > 0) call.argv.emplace_back("--continue");
    if (!context().options.ca_file.empty()) {
      call.argv.push_back("--ca-certificate=" + context().options.ca_file);
    }
    // Either keeps a ~/.wgetrc out, which could trust any certificate or send headers along.
    call.argv.push_back(has_secrets(job.credentials) ? "--config=" + write_settings(job)
                                                     : "--no-config");
    if (has_secrets(job.credentials)) {
      call.argv.emplace_back("--max-redirect=0");  // it would take headers along to any host
    }
    call.input = job.url().plain + "\n";  // a URL may be signed: not for everybody's eyes
    call.grows = job.output;
    call.total_bytes = job.size_bytes;
    return call;
  }

  std::optional<Failure> bring(const ToolJob& job,
                               const std::string& task,
                               base::Observer& observer,
                               const std::stop_token& stop) override {
    settings_.emplace(std::filesystem::temp_directory_path(), "sabath-wget-");
    auto failure = FileTool::bring(job, task, observer, stop);
    settings_.reset();
    return failure;
  }

  Failure failure_of(const ToolEnd& end, const ToolJob& job) override {
    const HttpHeaders headers = parse_http_headers(end.process.errors);
    if (end.process.exit_code == server_error && headers.status >= 300) {
      // What came with the refusal is no part of the file.
      if (job.partial_bytes == 0) base::remove_tree(job.output);
      Failure failure = status_failure(headers.answer(), "");
      if (headers.status < 400 && has_secrets(job.credentials)) {
        failure.hint = "wget would take the secret along to the other host: use another fetcher";
      }
      return failure;
    }
    Failure failure = failure_by_words("wget", end);
    const int code = end.process.exit_code;
    if (code == network_failure) failure.retryable = true;
    if (code == tls_failure) failure.problem = "cannot trust the server: " + failure.problem;
    if (code == authentication_failure) failure.access_needed = true;
    return failure;
  }

 private:
  std::string write_settings(const ToolJob& job) const {
    std::string text;
    for (const std::string& header : secret_headers(job.credentials))
      text += "header = " + header + "\n";
    if (!job.credentials.password.empty()) {
      text += "user = " + job.credentials.user + "\npassword = " + job.credentials.password + "\n";
    }
    const auto path = settings_->path() / "wgetrc";
    base::write_file_atomically(path, text, base::Durability::ordered_only, 0600);
    return path.string();
  }

  std::optional<base::TempDir> settings_{};
};

}  // namespace

std::unique_ptr<Fetcher> make_wget_tool(const ToolContext& context) {
  return std::make_unique<WgetTool>(context);
}

}  // namespace sabath::fetch
