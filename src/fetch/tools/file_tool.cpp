#include "file_tool.hpp"

#include "attempt.hpp"
#include "source_url.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/regex.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <sys/stat.h>

namespace sabath::fetch {
namespace {

namespace fs = std::filesystem;

bool has_control(const std::string& text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

enum class Meaning { unknown, storage, not_found, access, passing };

/// Returns the meaning of usual words in the output.
Meaning meaning_of(const ToolEnd& end) {
  // The first match counts: "permission denied (publickey" before "permission denied".
  constexpr std::array<std::pair<Meaning, const char*>, 5> rows{{
      {Meaning::storage, "no space left on device|disk quota exceeded"},
      {Meaning::access, "no such identity|permission denied \\(publickey"},
      {Meaning::not_found,
       "no such file|does not exist|does not appear to be a git repository|not found|"
       "unknown module"},
      {Meaning::access,
       "host key verification failed|permission denied|access denied|auth failed|"
       "authentication failed|authentication required|could not read username|"
       "unable to locate credentials|unauthorized|forbidden"},
      {Meaning::passing,
       "could not resolve|name or service not known|temporary failure in name resolution|"
       "could not connect|connection refused|connection reset|connection closed|"
       "connection unexpectedly closed|timed out|timeout|network is unreachable|"
       "no route to host|max connections|slow down|broken pipe|early eof|hung up unexpectedly"},
  }};
  const std::string text = end.process.errors + end.process.output;
  for (const auto& [meaning, words] : rows) {
    base::Regex regex("(?i)" + std::string(words));
    if (regex.search(text) == base::Regex::Outcome::found) return meaning;
  }
  return Meaning::unknown;
}

std::optional<std::uint64_t> size_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

Failure wrong_size(const std::string& name, std::uint64_t is, std::uint64_t wanted) {
  return {.problem = fmt::format("{} left {} bytes where {} are expected", name, is, wanted),
          .hint = "the file has changed, or the document's size is wrong",
          .retryable = is < wanted};
}

}  // namespace

std::string ToolUrl::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port.empty() ? name : name + ":" + port;
}

std::variant<ToolUrl, Failure> parse_tool_url(const std::string& url) {
  // libcurl corrects an empty host, except in "file", and removes a slash.
  constexpr std::string_view local_git = "git+file:";
  const bool is_local_git = url.starts_with(local_git);
  auto parsed = parse_source_url(is_local_git ? url.substr(4) : url);
  if (auto* failure = std::get_if<Failure>(&parsed)) return std::move(*failure);
  const auto& source = std::get<SourceUrl>(parsed);
  CURLU* const handle = source.handle.get();
  ToolUrl parts;
  parts.scheme = source.scheme;
  parts.user = url_part(handle, CURLUPART_USER, CURLU_URLDECODE);
  parts.password = url_part(handle, CURLUPART_PASSWORD, CURLU_URLDECODE);
  parts.host = url_part(handle, CURLUPART_HOST);
  if (parts.host.starts_with('[') && parts.host.ends_with(']')) {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  }
  parts.port = url_part(handle, CURLUPART_PORT);
  parts.path = source.path;
  parts.query = url_part(handle, CURLUPART_QUERY);
  parts.plain = source.plain;
  parts.displayed = source.displayed;
  if (is_local_git) {
    for (std::string* text : {&parts.scheme, &parts.plain, &parts.displayed})
      text->insert(0, "git+");
  }
  // libcurl refuses to decode a NUL or a newline: then the path is empty.
  const bool lost = parts.path.empty() && !url_part(handle, CURLUPART_PATH).empty();
  if (lost || has_control(parts.path) || has_control(parts.user) || has_control(parts.host)) {
    return Failure{.problem = "malformed URL: it holds control characters"};
  }
  if (parts.user.starts_with('-') || parts.host.starts_with('-')) {
    return Failure{.problem = "malformed URL: a host or a user may not begin with '-'"};
  }
  return parts;
}

std::string encoded_path(const std::string& path) {
  return base::percent_encoded(path, "/-._~");
}

FileTool::FileTool(ToolTraits traits, const ToolContext& context)
    : traits_(std::move(traits)), context_(context) {}

std::vector<std::string_view> FileTool::schemes() const {
  return {traits_.schemes.begin(), traits_.schemes.end()};
}

void FileTool::drop_output(const ToolJob& job) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(job.output.parent_path(), code))
    base::remove_tree(entry.path());
}

std::variant<ToolJob, Failure> FileTool::job_for(const std::vector<std::string>& urls,
                                                 const Request& request,
                                                 base::PartialFile& to,
                                                 base::Observer& observer,
                                                 std::stop_token stop) {
  ToolJob job{observer, std::move(stop), request.label};
  for (const std::string& url : urls) {
    auto parsed = parse_tool_url(url);
    if (auto* failure = std::get_if<Failure>(&parsed)) return std::move(*failure);
    job.urls.push_back(std::get<ToolUrl>(std::move(parsed)));
    if (!traits_.takes_mirrors) break;
  }
  if (job.task.empty()) job.task = job.url().displayed;
  job.size_bytes = request.size_bytes;
  job.digests = request.digests;
  job.credentials = credentials_of(job.url(), context_);
  job.output = to.lend(traits_.name);
  const auto there = size_of(job.output);
  const bool is_proved = traits_.resume_is_safe || !job.digests.empty();
  const bool is_too_long = job.size_bytes && there > job.size_bytes;
  if ((!there && !traits_.has_journal) || !traits_.resumes || !is_proved || is_too_long) {
    drop_output(job);
  } else if (there) {
    job.partial_bytes = bytes_at(job.output, traits_.has_holes);
  }
  return job;
}

std::optional<Failure> FileTool::run(const ToolCall& call, const ToolJob& job, ToolEnd* ended) {
  const ToolEnd end = run_tool(call, job.task, context_, job.observer, job.stop);
  if (ended != nullptr) *ended = end;
  if (end.ok()) return std::nullopt;
  if (end.missing) {
    return Failure{.problem = fmt::format("program '{}' is not here", traits_.program),
                   .hint = fmt::format("install {}, or use another fetcher", traits_.package)};
  }
  if (end.silent) {
    return Failure{.problem = fmt::format("{} brought nothing for {} and was ended",
                                          traits_.program,
                                          base::format_duration(context_.options.silence)),
                   .retryable = true};
  }
  return failure_of(end, job);
}

Outcome FileTool::fetch(const std::vector<std::string>& urls,
                        const Request& request,
                        base::PartialFile& to,
                        base::Observer& observer,
                        std::stop_token stop) {
  const auto prepared = job_for(urls, request, to, observer, std::move(stop));
  if (const auto* failure = std::get_if<Failure>(&prepared)) {
    return failed_outcome(urls.front(), *failure);
  }
  const auto& job = std::get<ToolJob>(prepared);
  dropped_ = false;
  auto failure = bring(job);
  const auto there = size_of(job.output);
  if (!failure && !there) {
    failure = Failure{.problem = traits_.program + " ended well but left no file"};
  }
  if (!failure && request.size_bytes && *there != *request.size_bytes) {
    failure = wrong_size(traits_.program, *there, *request.size_bytes);
    if (!failure->retryable) drop_output(job);
  }
  Outcome outcome = failure ? failed_outcome(urls.front(), *failure) : Outcome{};
  outcome.ok = !failure;
  outcome.url = job.url().plain;
  outcome.effective_url = job.url().displayed;
  const std::uint64_t bytes = there.value_or(0);
  outcome.transferred = bytes - (dropped_ ? 0 : std::min(bytes, job.partial_bytes));
  if (outcome.ok) outcome.bytes = bytes;
  return outcome;
}

Failure failure_by_words(const std::string& name, const ToolEnd& end) {
  const std::string said = last_words(end);
  const Meaning meaning = meaning_of(end);
  if (meaning == Meaning::storage) {
    throw base::Error(base::ErrorKind::storage, name + ": " + said);
  }
  Failure failure;
  failure.problem = fmt::format("{} {}", name, end.process.describe());
  if (!said.empty()) failure.problem += ": " + said;
  if (end.process.end == base::ProcessEnd::signaled) failure.retryable = true;
  failure.not_found = meaning == Meaning::not_found;
  failure.access_needed = meaning == Meaning::access;
  if (meaning != Meaning::unknown) failure.retryable = meaning == Meaning::passing;
  if (failure.not_found) failure.hint = moved_hint;
  return failure;
}

Credentials credentials_of(const ToolUrl& url, const ToolContext& context) {
  if (!url.password.empty()) return {.user = url.user, .password = url.password};
  return context.options.credentials.for_host(url.scheme, url.authority());
}

bool has_secrets(const Credentials& credentials) {
  return !credentials.password.empty() || !credentials.bearer.empty() ||
         !credentials.headers.empty();
}

std::vector<std::string> secret_headers(const Credentials& credentials) {
  std::vector<std::string> headers = credentials.headers;
  if (!credentials.bearer.empty()) headers.push_back("Authorization: Bearer " + credentials.bearer);
  return headers;
}

}  // namespace sabath::fetch
