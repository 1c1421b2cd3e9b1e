// scp(1) and sftp(1) of OpenSSH. Both speak SFTP, so no shell of the other side reads the path; scp
// does only with -s, which OpenSSH has since 8.7.

#include "builtin_tools.hpp"
#include "file_tool.hpp"
#include "ssh_options.hpp"

namespace sabath::fetch {

namespace {

/// Both expand wildcards themselves; a backslash takes their meaning away.
std::string without_wildcards(const std::string& path) {
  std::string result;
  for (const char c : path) {
    if (std::string_view("*?[]{}\\\"' ").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// The path on the other side: "/~/data" is beneath the home folder there.
std::string remote_path(const ToolUrl& url) {
  return url.path.starts_with("/~/") ? url.path.substr(3) : url.path;
}

std::string remote_host(const ToolUrl& url) {
  const std::string host =
      url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  return url.user.empty() ? host : url.user + "@" + host;
}

class SshTool : public FileTool {
 public:
  using FileTool::FileTool;

 protected:
  ToolCall basic_call(const ToolJob& job) const {
    ToolCall call;
    call.argv = {traits().program};
    for (std::string& option : ssh_options(context()))
      call.argv.push_back(std::move(option));
    if (!job.url().port.empty()) {
      call.argv.emplace_back("-P");
      call.argv.push_back(job.url().port);
    }
    call.grows = job.output;
    call.total_bytes = job.size_bytes;
    return call;
  }

  std::optional<Failure> refusal(const ToolJob& job) const {
    if (job.url().host.empty()) return Failure{.problem = "malformed URL: it names no host"};
    if (job.url().path.ends_with('/')) return Failure{.problem = "is a folder, not a file"};
    if (!job.credentials.password.empty()) {
      return Failure{.problem = "ssh takes no password from a program",
                     .hint = "use a key: ssh-keygen, ssh-copy-id, ssh-agent"};
    }
    return std::nullopt;
  }

  Failure failure_of(const ToolEnd& end, const ToolJob& job) override {
    Failure failure = failure_by_words(traits().program, end);
    if (failure.access_needed) {
      failure.hint = "is 'ssh " + remote_host(job.url()) +
                     "' possible without a question? the key and the host must be known";
    }
    return failure;
  }
};

class ScpTool final : public SshTool {
 public:
  explicit ScpTool(const ToolContext& context)
      : SshTool({.name = "scp",
                 .program = "scp",
                 .package = "the package 'openssh-client'",
                 .description = "files of hosts that ssh reaches",
                 .schemes = {"scp"}},
                context) {}

 protected:
  std::variant<ToolCall, Failure> call_for(const ToolJob& job) override {
    if (auto failure = refusal(job)) return *failure;
    ToolCall call = basic_call(job);
    const std::string from =
        remote_host(job.url()) + ":" + without_wildcards(remote_path(job.url()));
    call.argv.insert(call.argv.end(), {"-s", "-p", "--", from, job.output.string()});
    return call;
  }
};

class SftpTool final : public SshTool {
 public:
  explicit SftpTool(const ToolContext& context)
      : SshTool({.name = "sftp",
                 .program = "sftp",
                 .package = "the package 'openssh-client'",
                 .description = "files of SFTP servers, resumable",
                 .schemes = {"sftp"},
                 .resumes = true},
                context) {}

 protected:
  std::variant<ToolCall, Failure> call_for(const ToolJob& job) override {
    if (auto failure = refusal(job)) return *failure;
    ToolCall call = basic_call(job);
    call.argv.insert(call.argv.end(), {"-b", "-", "--", remote_host(job.url())});
    // `reget` goes on after what is there, without asking which version it was.
    call.input = std::string(job.partial_bytes > 0 ? "reget" : "get") + " -p " +
                 without_wildcards(remote_path(job.url())) + " " +
                 without_wildcards(job.output.string()) + "\n";
    return call;
  }
};

}  // namespace

std::vector<std::string> ssh_options(const ToolContext& context) {
  std::vector<std::string> options;
  const std::string& file = context.options.configuration.ssh_config;
  if (!file.empty()) options = {"-F", file};
  for (const char* option : {"BatchMode=yes",
                             "ConnectTimeout=30",
                             "ServerAliveInterval=15",
                             "ServerAliveCountMax=4",
                             "PermitLocalCommand=no",
                             "ForwardAgent=no",
                             "ForwardX11=no",
                             "ClearAllForwardings=yes"}) {
    options.emplace_back("-o");
    options.emplace_back(option);
  }
  return options;
}

std::unique_ptr<Fetcher> make_scp_tool(const ToolContext& context) {
  return std::make_unique<ScpTool>(context);
}

std::unique_ptr<Fetcher> make_sftp_tool(const ToolContext& context) {
  return std::make_unique<SftpTool>(context);
}

}  // namespace sabath::fetch
