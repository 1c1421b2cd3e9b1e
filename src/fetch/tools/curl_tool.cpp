// curl(1). Its resume alone is unsafe: `-C -` appends to a file of the same name, whatever the
// server has there now. With If-Range a server that has another version answers with the whole
// file, which curl refuses with status 33 and leaves the partial alone.

#include "builtin_tools.hpp"
#include "file_tool.hpp"
#include "http/curl_failure.hpp"
#include "http/http_headers.hpp"
#include "http/http_status.hpp"
#include "source_url.hpp"

#include <sabath/base/file.hpp>

#include <fmt/format.h>

namespace sabath::fetch {

namespace {

namespace fs = std::filesystem;

constexpr int no_range = CURLE_RANGE_ERROR;
constexpr int http_error = CURLE_HTTP_RETURNED_ERROR;
constexpr int cannot_write = CURLE_WRITE_ERROR;
constexpr int max_redirects = 10;

/// A value in curl's configuration file.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"\n";
}

/// Options that nobody else may see: a URL may be signed.
std::string secret_options(const std::string& url, const Credentials& credentials) {
  std::string text = "url = " + quoted(url);
  for (const std::string& header : secret_headers(credentials))
    text += "header = " + quoted(header);
  if (!credentials.password.empty()) {
    text += "user = " + quoted(credentials.user + ":" + credentials.password);
  }
  return text;
}

fs::path beside(const ToolJob& job, const char* suffix) {
  return job.output.string() + suffix;
}

/// What is known of the version of the partial.
Validators kept_version(const ToolJob& job) {
  // The newer one is of an attempt that was killed; it counts once the body has begun.
  for (const char* suffix : {".headers-new", ".headers"}) {
    const auto text = base::read_file_if_exists(beside(job, suffix));
    const HttpHeaders headers = parse_http_headers(text.value_or(""));
    if (headers.status == 200 || headers.status == 206) {
      return {headers.value("etag"), headers.value("last-modified")};
    }
  }
  return {};
}

class CurlTool final : public FileTool {
 public:
  explicit CurlTool(const ToolContext& context)
      : FileTool({.name = "curl",
                  .program = "curl",
                  .package = "the package 'curl'",
                  .description = "http, https and ftp through the program curl, resumable",
                  .schemes = {"https", "http", "ftp"},
                  .resumes = true,
                  .resume_is_safe = true},
                 context) {}

 protected:
  std::variant<ToolCall, Failure> call_for(const ToolJob& job) override {
    return transfer(job, target_);
  }

  std::optional<Failure> bring(const ToolJob& job,
                               const std::string& task,
                               base::Observer& observer,
                               const std::stop_token& stop) override {
    target_ = {job.url().plain, job.credentials, false};
    if (has_secrets(job.credentials)) {
      if (auto failure = follow_redirects(job, task, observer, stop)) return failure;
    }
    if (job.partial_bytes > 0 && !kept_version(job).can_prove()) start_again(job);
    const bool was_partial = fs::exists(job.output);
    auto failure = transfer_once(job, task, observer, stop);
    const bool is_other_version =
        ended_.process.exit_code == no_range ||
        (ended_.process.exit_code == http_error && headers_.status == 416);
    if (!failure || !was_partial || !is_other_version) return failure;
    if (headers_.status == 416 && job.size_bytes == job.partial_bytes) return std::nullopt;
    start_again(job);
    return transfer_once(job, task, observer, stop);
  }

  Failure failure_of(const ToolEnd& end, const ToolJob&) override {
    throw_if_disk_is_full(traits().name, end);
    if (end.process.end != base::ProcessEnd::exited) return failure_by_words("curl", end);
    const int code = end.process.exit_code;
    if (code == http_error || (code != 0 && headers_.status >= 400)) {
      return status_failure(headers_.answer(), "");
    }
    if (code == cannot_write) return failure_by_words("curl", end);
    return curl_failure(static_cast<CURLcode>(code), last_words(end), 0);
  }

 private:
  /// Where the next request goes, and what may be shown there.
  struct Target {
    std::string url{};
    Credentials credentials{};
    bool is_last = false;  ///< redirects have been followed already
  };

  ToolCall basic_call(const Target& target) const {
    const std::string scheme = scheme_of(target.url);
    const std::string allowed = scheme == "http" ? "=http,https" : "=" + scheme;
    ToolCall call;
    // -q comes first: a ~/.curlrc could follow redirects with secrets, or trust any certificate.
    call.argv = {"curl",
                 "-q",
                 "--silent",
                 "--show-error",
                 "--globoff",
                 "--proto",
                 allowed,
                 "--proto-redir",
                 allowed,
                 "--connect-timeout",
                 "30",
                 "--netrc-optional",
                 "--config",
                 "-"};
    if (!context().options.ca_file.empty()) {
      call.argv.insert(call.argv.end(), {"--cacert", context().options.ca_file});
    }
    call.input = secret_options(target.url, target.credentials);
    return call;
  }

  ToolCall transfer(const ToolJob& job, const Target& target) const {
    ToolCall call = basic_call(target);
    const auto add = [&](std::initializer_list<std::string> words) {
      call.argv.insert(call.argv.end(), words);
    };
    add({"--fail", "--remote-time", "--output", job.output.string()});
    add({"--dump-header", beside(job, ".headers-new").string()});
    // Other headers than Authorization would be taken along to another host.
    if (!target.is_last) add({"--location", "--max-redirs", std::to_string(max_redirects)});
    std::error_code code;
    if (fs::exists(job.output, code) && fs::file_size(job.output, code) > 0) {
      add({"--continue-at", "-"});
      const Validators version = kept_version(job);
      if (scheme_of(target.url) != "ftp") add({"--header", "If-Range: " + version.if_range()});
    }
    call.grows = job.output;
    call.total_bytes = job.size_bytes;
    return call;
  }

  std::optional<Failure> transfer_once(const ToolJob& job,
                                       const std::string& task,
                                       base::Observer& observer,
                                       const std::stop_token& stop) {
    const ToolCall call = transfer(job, target_);
    std::error_code code;
    const fs::path fresh = beside(job, ".headers-new");
    fs::remove(fresh, code);
    // The answer must be known before its failure is judged.
    ended_ = run_tool(call, task, context(), observer, stop);
    const auto text = base::read_file_if_exists(fresh);
    headers_ = parse_http_headers(text.value_or(""));
    if (headers_.status == 200 || headers_.status == 206) {
      fs::rename(fresh, beside(job, ".headers"), code);
    } else {
      fs::remove(fresh, code);
    }
    if (ended_.missing) return missing_program();
    if (ended_.silent) return silent_program();
    if (!ended_.ok()) return failure_of(ended_, job);
    if (headers_.status >= 300 && headers_.status < 400) {
      start_again(job);
      return status_failure(headers_.answer(), "");
    }
    const std::string encoding = headers_.value("content-encoding");
    if (!encoding.empty() && encoding != "identity") {
      start_again(job);
      return Failure{.problem = "server sent the file compressed (" + encoding +
                                "), which nobody asked for"};
    }
    return std::nullopt;
  }

  void start_again(const ToolJob& job) {
    std::error_code code;
    drop_partial();
    for (const char* suffix : {"", ".headers", ".headers-new"})
      fs::remove(beside(job, suffix), code);
  }

  /// Asks for the headers alone until nobody redirects any more; each host sees its own secrets.
  std::optional<Failure> follow_redirects(const ToolJob& job,
                                          const std::string& task,
                                          base::Observer& observer,
                                          const std::stop_token& stop) {
    for (int hop = 0; hop < max_redirects; ++hop) {
      ToolCall call = basic_call(target_);
      call.argv.insert(call.argv.end(),
                       {"--head", "--output", "/dev/null", "--write-out", "%{redirect_url}"});
      const ToolEnd end = run_tool(call, task, context(), observer, stop);
      if (end.missing) return missing_program();
      if (end.silent) return silent_program();
      if (!end.ok()) return failure_of(end, job);
      const std::string next = end.process.output;
      if (next.empty()) {
        target_.is_last = true;
        return std::nullopt;
      }
      const auto parsed = parse_tool_url(next);
      if (const auto* failure = std::get_if<Failure>(&parsed)) return *failure;
      const auto& url = std::get<ToolUrl>(parsed);
      const bool is_allowed =
          url.scheme == "https" || (url.scheme == "http" && job.url().scheme == "http");
      if (!is_allowed) {
        return Failure{.problem = "server redirects to a scheme that is not allowed"};
      }
      target_ = {url.plain, credentials_of(url, context()), false};
    }
    return Failure{.problem = "server redirects without end"};
  }

  Target target_{};
  ToolEnd ended_{};
  HttpHeaders headers_{};
};

}  // namespace

std::unique_ptr<Fetcher> make_curl_tool(const ToolContext& context) {
  return std::make_unique<CurlTool>(context);
}

}  // namespace sabath::fetch
