// S3 and compatible services, through aws-cli. It continues a prefix file by file; an incomplete
// file starts again.

#include "builtin_tools.hpp"
#include "tool_answers_json.hpp"
#include "tree_tool.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/variables.hpp>

#include <algorithm>
#include <array>

namespace sabath::fetch {

namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  return base::variable_of(base::current_environment(), name);
}

bool is_there(const std::string& path) {
  std::error_code code;
  return !path.empty() && fs::exists(path, code);
}

/// Can aws find credentials of the user? Its order: environment, files, the machine's role.
bool user_has_credentials() {
  constexpr std::array names{"AWS_ACCESS_KEY_ID",
                             "AWS_PROFILE",
                             "AWS_ROLE_ARN",
                             "AWS_WEB_IDENTITY_TOKEN_FILE",
                             "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                             "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                             "AWS_SHARED_CREDENTIALS_FILE",
                             "AWS_CONFIG_FILE"};
  for (const char* name : names) {
    if (!variable(name).empty()) return true;
  }
  const std::string home = variable("HOME");
  return is_there(home + "/.aws/credentials") || is_there(home + "/.aws/config");
}

std::string key_of(const ToolUrl& url) {
  return url.path.empty() ? std::string() : url.path.substr(1);
}

ToolCall basic_call(const Credentials& credentials,
                    std::initializer_list<std::string> command,
                    const ToolContext& context) {
  ToolCall call;
  call.argv = {"aws"};
  // aws-cli knows the variables itself only since 1.29 and 2.13.
  std::string endpoint = variable("AWS_ENDPOINT_URL_S3");
  if (endpoint.empty()) endpoint = variable("AWS_ENDPOINT_URL");
  if (!endpoint.empty()) call.argv.insert(call.argv.end(), {"--endpoint-url", endpoint});
  if (!context.options.ca_file.empty()) {
    call.argv.insert(call.argv.end(), {"--ca-bundle", context.options.ca_file});
  }
  call.variables["AWS_PAGER"] = "";
  if (!credentials.password.empty()) {
    call.variables["AWS_ACCESS_KEY_ID"] = credentials.user;
    call.variables["AWS_SECRET_ACCESS_KEY"] = credentials.password;
    call.variables["AWS_SESSION_TOKEN"] = "";
  } else if (!user_has_credentials()) {
    call.argv.emplace_back("--no-sign-request");
  }
  call.argv.insert(call.argv.end(), command);
  return call;
}

std::optional<Failure> bucket_problem(const ToolUrl& url) {
  if (url.host.empty()) return Failure{.problem = "malformed URL: it names no bucket"};
  return std::nullopt;
}

class S3Tool final : public TreeTool {
 public:
  explicit S3Tool(const ToolContext& context)
      : TreeTool({.name = "s3",
                  .program = "aws",
                  .package = "aws-cli (the package 'awscli', or 'pip install awscli')",
                  .description = "objects and prefixes of S3 through aws-cli",
                  .schemes = {"s3"}},
                 context) {}

  bool names_many(const std::string& url) const override {
    const auto slash = url.find('/', std::string("s3://").size());
    return slash == std::string::npos || url.ends_with('/');
  }

 protected:
  std::optional<Failure> bring(const ToolJob& job) override {
    if (auto failure = bucket_problem(job.url())) return failure;
    const std::string key = key_of(job.url());
    if (key.empty() || key.ends_with('/')) return Failure{.problem = "is a prefix, not an object"};
    ToolCall call = basic_call(job.credentials,
                               {"s3",
                                "cp",
                                "--only-show-errors",
                                "s3://" + job.url().host + "/" + key,
                                job.output.string()},
                               context());
    call.grows = job.output;
    call.total_bytes = job.size_bytes;
    return run(call, job);
  }

  Listing listed(const ToolJob& job, std::optional<std::uint64_t> limit) override {
    const ToolUrl& source = job.url();
    if (auto failure = bucket_problem(source)) return *std::move(failure);
    std::string prefix = key_of(source);
    if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
    const base::TempDir folder(fs::temp_directory_path(), "sabath-list-");
    ToolCall call = basic_call(job.credentials,
                               {"s3api",
                                "list-objects-v2",
                                "--output",
                                "json",
                                "--query",
                                "Contents[].{k:Key,s:Size}",
                                "--bucket=" + source.host,
                                "--prefix=" + prefix},
                               context());
    if (limit) {
      // Markers of folders are listed too.
      call.argv.push_back("--max-items=" + std::to_string(*limit + *limit / 4 + 16));
    }
    call.output = folder.path() / "listing";
    if (auto failure = run(call, job)) {
      return *std::move(failure);
    }
    const std::string text = base::read_file(call.output, 1ULL << 30U);
    std::vector<ListedFile> files;
    for (const S3Object& object : parse_s3_listing(text, source.displayed)) {
      if (object.key.ends_with('/') || object.key.size() <= prefix.size()) continue;
      ListedFile& file = files.emplace_back();
      file.path = object.key.substr(prefix.size());
      file.url = "s3://" + source.host + "/" + encoded_path(object.key);
      file.size_bytes = object.size_bytes;
    }
    return files;
  }

  /// Lists first: the listing has the size, and paths that would leave the folder.
  std::optional<Failure> bring_tree(const ToolJob& job) override {
    const Listing listing = job.listed ? *job.listed : ordered(job, std::nullopt);
    if (const auto* failure = std::get_if<Failure>(&listing)) return *failure;
    const auto& files = std::get<std::vector<ListedFile>>(listing);
    std::uint64_t total = 0;
    for (const ListedFile& file : files)
      total += file.size_bytes.value_or(0);
    if (files.empty()) {
      return Failure{.problem = "nothing is beneath this prefix", .not_found = true};
    }
    // A file of an earlier attempt stays if it has the size and date of the object. The program aws
    // sets the date of what it downloads, so clocks of two machines are not compared.
    ToolCall call = basic_call(job.credentials,
                               {"s3",
                                "sync",
                                "--exact-timestamps",
                                "--delete",
                                "--only-show-errors",
                                "s3://" + job.url().host + "/" + key_of(job.url()),
                                job.output.string()},
                               context());
    call.grows = job.output;
    call.total_bytes = total;
    return run(call, job);
  }

  Failure failure_of(const ToolEnd& end, const ToolJob&) override {
    Failure failure = failure_by_words("aws", end);
    const auto says = [&](const char* text) {
      return end.process.errors.find(text) != std::string::npos;
    };
    if (says("(404)") || says("NoSuchKey") || says("NoSuchBucket")) {
      failure.not_found = true;
      failure.access_needed = false;
      failure.hint = moved_hint;
    } else if (says("(403)") || says("AccessDenied") || says("InvalidAccessKeyId") ||
               says("SignatureDoesNotMatch") || says("ExpiredToken")) {
      failure.access_needed = true;
      failure.hint = "see 'aws configure', or put the bucket's keys into credentials.json";
    } else if (says("SlowDown") || says("(500)") || says("(503)") || says("Could not connect")) {
      failure.retryable = true;
    }
    if (failure.not_found || failure.access_needed) failure.retryable = false;
    return failure;
  }
};

}  // namespace

std::unique_ptr<Fetcher> make_s3_tool(const ToolContext& context) {
  return std::make_unique<S3Tool>(context);
}

}  // namespace sabath::fetch
