// Programs that documents describe: those of catalog/tools, and the user's own.

#include "builtin_tools.hpp"
#include "file_tool.hpp"
#include "http/answer.hpp"
#include "http/http_status.hpp"
#include "tool_values.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sabath::fetch {

namespace {

namespace fs = std::filesystem;
using Kind = spec::ToolFailureKind;

constexpr int most_tool_redirects = 10;
constexpr auto version_deadline = std::chrono::seconds(10);

ToolTraits traits_of(const spec::ToolDescription& tool) {
  return {.name = tool.name,
          .program = tool.command.front().texts.front(),
          .package = tool.package,
          .description = tool.description,
          .schemes = tool.protocols,
          .takes_mirrors = tool.mirrors,
          .resumes = tool.resume != spec::ToolResume::never,
          .resume_is_safe = tool.resume == spec::ToolResume::version,
          .has_holes = tool.holes};
}

bool finds(const std::string& pattern, const std::string& text) {
  return base::Regex(pattern).search(text) == base::Regex::Outcome::found;
}

fs::path beside(const ToolJob& job, const char* suffix) {
  return job.output.string() + suffix;
}

int number_of(std::string_view text) {
  return base::leading_number<int>(text).value_or(0);
}

/// The last of the answers that a program has written down.
struct HttpHeaders {
  int status = 0;                               ///< 0: there was no answer
  std::map<std::string, std::string> values{};  ///< names in lower case

  std::string value(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }

  Answer answer() const {
    Answer answer;
    answer.status = status;
    answer.validators = {value("etag"), value("last-modified")};
    constexpr int day = 24 * 3600;
    answer.retry_after = std::chrono::seconds(std::clamp(number_of(value("retry-after")), 0, day));
    return answer;
  }
};

/// Reads blocks of "HTTP/1.1 200 OK" and headers, as curl's --dump-header and wget write them.
HttpHeaders parse_http_headers(std::string_view text) {
  HttpHeaders headers;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("HTTP/")) {
      const auto blank = std::min(line.find(' '), line.size());
      headers = {.status = number_of(base::trimmed(line.substr(blank)))};
      continue;
    }
    const auto colon = line.find(':');
    if (headers.status == 0 || colon == std::string_view::npos) continue;
    const std::string name = base::lower_case(line.substr(0, colon));
    headers.values[name] = base::trimmed(line.substr(colon + 1));
  }
  return headers;
}

/// Returns the known validators of the partial.
Validators kept_version(const ToolJob& job) {
  // An attempt that was killed leaves the newer one, which counts once the body has begun.
  for (const char* suffix : {".headers-new", ".headers"}) {
    const auto text = base::read_file_if_exists(beside(job, suffix));
    const HttpHeaders headers = parse_http_headers(text.value_or(""));
    if (headers.status == 200 || headers.status == 206) return headers.answer().validators;
  }
  return {};
}

std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  while (!version.empty()) {
    const auto end = std::min(version.find('.'), version.size());
    numbers.push_back(number_of(version.substr(0, end)));
    version.remove_prefix(std::min(end + 1, version.size()));
  }
  return numbers;
}

class DescribedTool final : public FileTool {
 public:
  DescribedTool(spec::ToolDescription tool, const ToolContext& context)
      : FileTool(traits_of(tool), context), tool_(std::move(tool)) {}

 protected:
  std::optional<Failure> bring(const ToolJob& job) override {
    values_.emplace(tool_, job, context());
    headers_ = {};
    if (auto failure = refusal()) return failure;
    if (!tool_.redirect.empty() && values_->has("secrets")) {
      if (auto failure = follow_redirects(job)) return failure;
    }
    if (values_->has("partial") && tool_.resume == spec::ToolResume::version) {
      const Validators version = kept_version(job);
      values_->set("version", version.if_range());
      if (!version.can_prove()) start_again(job);
    }
    const bool was_partial = values_->has("partial");
    auto failure = download(job);
    if (failure && was_partial && is_other_version_) {
      if (headers_.status == 416 && job.size_bytes == job.partial_bytes) {
        failure.reset();
      } else {
        start_again(job);
        failure = download(job);
      }
    }
    folder_.reset();
    return failure;
  }

  Failure failure_of(const ToolEnd& end, const ToolJob& job) override {
    Failure failure = failure_by_words(traits().program, end);
    if (end.process.end != base::ProcessEnd::exited) return failure;
    read_headers(end, job);
    is_other_version_ = headers_.status == 416;
    const spec::ToolFailure* const row = row_for(end);
    const bool is_status = row != nullptr && row->kind == Kind::http_status;
    if (headers_.status >= 400 || (is_status && headers_.status >= 300)) {
      return status_failure_of(job);
    }
    if (row != nullptr) apply(*row, end, job, failure);
    if (failure.hint.empty()) failure.hint = hint_for(failure);
    return failure;
  }

 private:
  std::optional<Failure> refusal() const {
    for (const spec::ToolRefusal& each : tool_.refusals) {
      if (!values_->holds(each.when, each.unless)) continue;
      return Failure{.problem = each.problem, .hint = each.hint};
    }
    return std::nullopt;
  }

  ToolCall call_with(const std::vector<spec::ToolWords>& words) {
    if (!tool_.file.empty()) {
      if (!folder_) folder_.emplace(fs::temp_directory_path(), "sabath-tool-");
      const fs::path file = folder_->path() / "settings";
      base::write_file_atomically(
          file, values_->lines(tool_.file), base::Durability::ordered_only, 0600);
      values_->set("file", file.string());
    }
    ToolCall call;
    call.argv = values_->arguments(tool_.command);
    for (std::string& argument : values_->arguments(words))
      call.argv.push_back(std::move(argument));
    call.input = values_->lines(tool_.input);
    return call;
  }

  std::optional<Failure> follow_redirects(const ToolJob& job) {
    for (int hop = 0; hop < most_tool_redirects; ++hop) {
      ToolEnd end;
      if (auto failure = run(call_with(tool_.redirect), job, &end)) {
        return failure;
      }
      const std::string& next = end.process.output;
      if (next.empty()) return std::nullopt;
      const auto parsed = parse_tool_url(next);
      if (const auto* failure = std::get_if<Failure>(&parsed)) return *failure;
      const auto& url = std::get<ToolUrl>(parsed);
      const bool is_allowed =
          url.scheme == "https" || (url.scheme == "http" && job.url().scheme == "http");
      if (!is_allowed) {
        return Failure{.problem = "server redirects to a scheme that is not allowed"};
      }
      values_->set_source(url, credentials_of(url, context()));
    }
    return Failure{.problem = "server redirects without end"};
  }

  std::optional<Failure> download(const ToolJob& job) {
    std::error_code code;
    fs::remove(beside(job, ".headers-new"), code);
    headers_ = {};
    is_other_version_ = false;
    ToolEnd end;
    ToolCall call = call_with(tool_.download);
    call.grows = job.output;
    call.has_holes = tool_.holes;
    call.total_bytes = job.size_bytes;
    call.percentage = tool_.progress;
    auto failure = run(call, job, &end);
    read_headers(end, job);
    if (failure) return failure;
    if (headers_.status >= 300 && headers_.status < 400) {
      start_again(job);
      return status_failure(headers_.answer(), "");
    }
    const std::string encoding = headers_.value("content-encoding");
    if (!encoding.empty() && encoding != "identity") {
      start_again(job);
      return Failure{.problem = "server sent the file compressed (" + encoding +
                                "), although this was not requested"};
    }
    return std::nullopt;
  }

  void start_again(const ToolJob& job) {
    std::error_code code;
    drop_partial();
    values_->set("partial", "");
    values_->set("version", "");
    for (const char* suffix : {"", ".headers", ".headers-new"})
      fs::remove(beside(job, suffix), code);
  }

  void read_headers(const ToolEnd& end, const ToolJob& job) {
    if (tool_.headers == spec::ToolHeaders::errors) {
      headers_ = parse_http_headers(end.process.errors);
    }
    if (tool_.headers != spec::ToolHeaders::file) return;
    const fs::path fresh = beside(job, ".headers-new");
    const auto text = base::read_file_if_exists(fresh);
    if (!text) return;
    headers_ = parse_http_headers(*text);
    std::error_code code;
    if (headers_.status == 200 || headers_.status == 206) {
      fs::rename(fresh, beside(job, ".headers"), code);
    } else {
      fs::remove(fresh, code);
    }
  }

  Failure status_failure_of(const ToolJob& job) const {
    // The body of the refusal is not part of the file.
    if (job.partial_bytes == 0) base::remove_tree(job.output);
    Failure failure = status_failure(headers_.answer(), "");
    if (headers_.status < 400 && values_->has("secrets")) {
      failure.hint =
          traits().program + " would take the secret along to the other host: use another fetcher";
    }
    return failure;
  }

  const spec::ToolFailure* row_for(const ToolEnd& end) const {
    const std::string said = end.process.errors + end.process.output;
    for (const spec::ToolFailure& row : tool_.failures) {
      const bool is_exit = row.exits.empty() ||
                           std::ranges::find(row.exits, end.process.exit_code) != row.exits.end();
      if (is_exit && (row.says.empty() || finds(row.says, said))) return &row;
    }
    return nullptr;
  }

  void apply(const spec::ToolFailure& row, const ToolEnd& end, const ToolJob& job, Failure& to) {
    const std::string said = last_words(end);
    if (row.kind == Kind::disk_full) {
      throw base::Error(base::ErrorKind::storage, traits().program + ": " + said);
    }
    if (!row.problem.empty()) to.problem = row.problem + (said.empty() ? "" : ": " + said);
    is_other_version_ = is_other_version_ || row.kind == Kind::other_version;
    if (row.kind == Kind::server) {
      to.retryable = !to.access_needed && !to.not_found;
    } else if (row.kind != Kind::unclear && row.kind != Kind::http_status) {
      // The cause of a wrong digest is the partial; without one it is the source.
      to.retryable =
          row.kind == Kind::retry || (row.kind == Kind::corrupt && job.partial_bytes > 0);
      to.not_found = row.kind == Kind::not_found;
      to.access_needed = row.kind == Kind::access;
      to.hint.clear();
    }
    if (row.kind == Kind::corrupt) drop_output(job);
    if (!row.hint.empty()) to.hint = row.hint;
  }

  std::string hint_for(const Failure& failure) const {
    const auto hint = tool_.hints.find(failure.not_found ? Kind::not_found : Kind::access);
    if ((failure.not_found || failure.access_needed) && hint != tool_.hints.end()) {
      return values_->text(hint->second).value_or("");
    }
    if (failure.not_found) return std::string(moved_hint);
    return failure.access_needed || failure.retryable ? std::string() : version_hint();
  }

  /// Names the oldest version that works, where this one is older.
  std::string version_hint() const {
    const spec::ToolVersion& version = tool_.version;
    if (version.command.empty() || !base::find_program(version.command.front())) return {};
    base::Command command{.argv = version.command};
    command.deadline = version_deadline;
    const base::ProcessResult answer = context().options.processes.run(command);
    base::Regex pattern(version.find);
    const std::string text = answer.output + answer.errors;
    if (pattern.search(text) != base::Regex::Outcome::found) return {};
    const std::string found(pattern.group(1).value_or(""));
    if (numbers_of(found) >= numbers_of(version.least)) return {};
    return fmt::format("{} {} is too old: {} or newer is needed", tool_.name, found, version.least);
  }

  spec::ToolDescription tool_;
  std::optional<base::TempDir> folder_{};  ///< of "{file}"
  std::optional<ToolValues> values_{};
  HttpHeaders headers_{};
  bool is_other_version_ = false;
};

}  // namespace

std::unique_ptr<Fetcher> make_described_tool(const spec::ToolDescription& tool,
                                             const ToolContext& context) {
  return std::make_unique<DescribedTool>(tool, context);
}

std::unique_ptr<Fetcher> make_own_tool(const spec::ToolFetcher& own, const ToolContext& context) {
  spec::ToolDescription tool;
  tool.name = own.name;
  tool.description = "the user's own: " + own.command.front();
  tool.package = "what the configuration's \"fetchers\" name";
  tool.protocols = {own.scheme};
  tool.command = {spec::ToolWords{.texts = own.command}};
  tool.progress = own.progress;
  return std::make_unique<DescribedTool>(std::move(tool), context);
}

}  // namespace sabath::fetch
