#include "file_tool.hpp"

#include "attempt.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include <sys/stat.h>

namespace sabath::fetch {

namespace {

namespace fs = std::filesystem;

enum class Meaning { storage, not_found, access, passing };

struct Words {
  std::string_view text;
  Meaning meaning;
};

// In lower case; the first that is found counts.
constexpr std::array words{
    Words{"no space left on device", Meaning::storage},
    Words{"disk quota exceeded", Meaning::storage},
    Words{"no such identity", Meaning::access},
    Words{"permission denied (publickey", Meaning::access},
    Words{"no such file", Meaning::not_found},
    Words{"does not exist", Meaning::not_found},
    Words{"does not appear to be a git repository", Meaning::not_found},
    Words{"not found", Meaning::not_found},
    Words{"unknown module", Meaning::not_found},
    Words{"host key verification failed", Meaning::access},
    Words{"permission denied", Meaning::access},
    Words{"access denied", Meaning::access},
    Words{"auth failed", Meaning::access},
    Words{"authentication failed", Meaning::access},
    Words{"authentication required", Meaning::access},
    Words{"could not read username", Meaning::access},
    Words{"unable to locate credentials", Meaning::access},
    Words{"unauthorized", Meaning::access},
    Words{"forbidden", Meaning::access},
    Words{"could not resolve", Meaning::passing},
    Words{"name or service not known", Meaning::passing},
    Words{"temporary failure in name resolution", Meaning::passing},
    Words{"could not connect", Meaning::passing},
    Words{"connection refused", Meaning::passing},
    Words{"connection reset", Meaning::passing},
    Words{"connection closed", Meaning::passing},
    Words{"connection unexpectedly closed", Meaning::passing},
    Words{"connection timed out", Meaning::passing},
    Words{"timed out", Meaning::passing},
    Words{"timeout", Meaning::passing},
    Words{"network is unreachable", Meaning::passing},
    Words{"no route to host", Meaning::passing},
    Words{"max connections", Meaning::passing},
    Words{"slow down", Meaning::passing},
    Words{"broken pipe", Meaning::passing},
    Words{"early eof", Meaning::passing},
    Words{"hung up unexpectedly", Meaning::passing},
};

const Words* meaning_of(const ToolEnd& end) {
  std::string text = end.process.errors + end.process.output;
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  const auto* const found = std::find_if(words.begin(), words.end(), [&](const Words& each) {
    return text.find(each.text) != std::string::npos;
  });
  return found == words.end() ? nullptr : found;
}

std::optional<std::uint64_t> size_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

/// Everything that lies where the program writes, control files too.
void clear(const fs::path& output) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(output.parent_path(), code))
    base::remove_tree(entry.path());
}

Failure wrong_size(const std::string& name, std::uint64_t is, std::uint64_t wanted) {
  return {.problem = fmt::format("{} left {} bytes where {} are expected", name, is, wanted),
          .hint = "the file has changed, or the document's size is wrong",
          .retryable = is < wanted};
}

}  // namespace

FileTool::FileTool(ToolTraits traits, const ToolContext& context)
    : traits_(std::move(traits)), context_(context) {}

std::vector<std::string_view> FileTool::schemes() const {
  return {traits_.schemes.begin(), traits_.schemes.end()};
}

Failure FileTool::missing_program() const {
  return {.problem = fmt::format("program '{}' is not here", traits_.program),
          .hint = fmt::format("install {}, or use another fetcher", traits_.package)};
}

Failure FileTool::silent_program() const {
  return {.problem = fmt::format("{} brought nothing for {} and was ended",
                                 traits_.program,
                                 base::format_duration(context_.options.silence)),
          .retryable = true};
}

std::variant<ToolJob, Failure> FileTool::job_for(const std::vector<std::string>& urls,
                                                 const Request& request,
                                                 base::StagedFile& to) {
  ToolJob job;
  for (const std::string& url : urls) {
    auto parsed = parse_tool_url(url);
    if (auto* failure = std::get_if<Failure>(&parsed)) return std::move(*failure);
    job.urls.push_back(std::get<ToolUrl>(std::move(parsed)));
    if (!traits_.takes_mirrors) break;
  }
  job.size_bytes = request.size_bytes;
  job.digests = request.digests;
  job.credentials = credentials_of(job.url(), context_);
  job.output = to.lend(traits_.name);
  const auto there = size_of(job.output);
  const bool is_proved = traits_.resume_is_safe || !job.digests.empty();
  const bool is_too_long = job.size_bytes && there > job.size_bytes;
  if ((!there && !traits_.has_journal) || !traits_.resumes || !is_proved || is_too_long) {
    clear(job.output);
  } else if (there) {
    job.partial_bytes = bytes_at(job.output, traits_.has_holes);
  }
  return job;
}

std::optional<Failure> FileTool::run(const ToolCall& call,
                                     const ToolJob& job,
                                     const std::string& task,
                                     base::Observer& observer,
                                     const std::stop_token& stop,
                                     ToolEnd* ended) {
  const ToolEnd end = run_tool(call, task, context_, observer, stop);
  if (ended != nullptr) *ended = end;
  if (end.ok()) return std::nullopt;
  if (end.missing) return missing_program();
  if (end.silent) return silent_program();
  return failure_of(end, job);
}

std::optional<Failure> FileTool::bring(const ToolJob& job,
                                       const std::string& task,
                                       base::Observer& observer,
                                       const std::stop_token& stop) {
  const auto call = call_for(job);
  if (const auto* failure = std::get_if<Failure>(&call)) return *failure;
  return run(std::get<ToolCall>(call), job, task, observer, stop);
}

Outcome FileTool::fetch(const std::vector<std::string>& urls,
                        const Request& request,
                        base::StagedFile& to,
                        base::Observer& observer,
                        std::stop_token stop) {
  const auto prepared = job_for(urls, request, to);
  if (const auto* failure = std::get_if<Failure>(&prepared)) {
    return failed_outcome(urls.front(), *failure);
  }
  const auto& job = std::get<ToolJob>(prepared);
  const std::string& task = request.label.empty() ? job.url().displayed : request.label;
  dropped_ = false;
  auto failure = bring(job, task, observer, stop);
  const auto there = size_of(job.output);
  if (!failure && !there) {
    failure = Failure{.problem = traits_.program + " ended well but left no file"};
  }
  if (!failure && request.size_bytes && *there != *request.size_bytes) {
    failure = wrong_size(traits_.program, *there, *request.size_bytes);
    if (!failure->retryable) clear(job.output);
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

void throw_if_disk_is_full(const std::string& name, const ToolEnd& end) {
  const Words* const found = meaning_of(end);
  if (found == nullptr || found->meaning != Meaning::storage) return;
  throw base::Error(base::ErrorKind::storage, name + ": " + last_words(end));
}

Failure failure_by_words(const std::string& name, const ToolEnd& end) {
  throw_if_disk_is_full(name, end);
  const std::string said = last_words(end);
  Failure failure;
  failure.problem = fmt::format("{} {}", name, end.process.describe());
  if (!said.empty()) failure.problem += ": " + said;
  if (end.process.end == base::ProcessEnd::signaled) failure.retryable = true;
  if (const Words* const found = meaning_of(end)) {
    failure.not_found = found->meaning == Meaning::not_found;
    failure.access_needed = found->meaning == Meaning::access;
    failure.retryable = found->meaning == Meaning::passing;
  }
  if (failure.not_found) failure.hint = "check the document's sources: the file may have moved";
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
