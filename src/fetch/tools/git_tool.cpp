// git: one commit of a repository, with its submodules and LFS files, as a plain tree. The
// repository is not trusted: hooks, filters and other protocols are off.

#include "builtin_tools.hpp"
#include "tool_run.hpp"
#include "tree_tool.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/regex.hpp>

#include <algorithm>
#include <fstream>

namespace sabath::fetch {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view git_prefix = "git+";

/// "git+https://host/repo.git@<commit>" taken apart.
struct Repository {
  std::string url{};     ///< for git
  std::string scheme{};  ///< without "git+"
  std::string commit{};
};

std::variant<Repository, Failure> repository_of(const ToolUrl& url) {
  static const base::Form form("(.+)@([0-9a-f]{40})/?");
  const auto parts = form.parts(url.plain);
  if (!parts) {
    return Failure{.problem = "no commit is named",
                   .hint =
                       "end the URL with '@' and the commit's 40 hexadecimal digits: a branch "
                       "or a tag may change"};
  }
  Repository repository{
      parts->at(1).substr(git_prefix.size()), url.scheme.substr(git_prefix.size()), parts->at(2)};
  if (!url.user.empty() && repository.scheme == "ssh") {
    repository.url.insert(repository.url.find("://") + 3, url.user + "@");
  }
  return repository;
}

/// Settings of git, passed in its environment, which others cannot read.
void set_up(ToolCall& call, const std::vector<std::pair<std::string, std::string>>& settings) {
  call.variables["GIT_CONFIG_COUNT"] = std::to_string(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    call.variables["GIT_CONFIG_KEY_" + std::to_string(i)] = settings[i].first;
    call.variables["GIT_CONFIG_VALUE_" + std::to_string(i)] = settings[i].second;
  }
}

bool uses_lfs(const fs::path& folder) {
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code)) {
    if (at->path().filename() == ".git") at.disable_recursion_pending();
    if (at->path().filename() != ".gitattributes" || !at->is_regular_file(code)) continue;
    std::ifstream file(at->path());
    for (std::string line; std::getline(file, line);) {
      if (line.find("filter=lfs") != std::string::npos) return true;
    }
  }
  return false;
}

/// Removes the repository itself and the files that tie submodules to it.
void remove_repositories(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code)) {
    if (at->path().filename() != ".git") continue;
    at.disable_recursion_pending();
    found.push_back(at->path());
  }
  for (const fs::path& path : found)
    base::remove_tree(path);
}

void clear_folder(const fs::path& folder) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code))
    base::remove_tree(entry.path());
}

class GitTool final : public TreeTool {
 public:
  explicit GitTool(const ToolContext& context)
      : TreeTool({.name = "git",
                  .program = "git",
                  .package = "the package 'git'",
                  .description = "a commit of a git repository, with submodules and LFS",
                  .schemes = {"git+https", "git+ssh", "git+file"}},
                 context) {}

  bool names_many(const std::string&) const override { return true; }

 protected:
  std::optional<Failure> bring(const ToolJob&) override {
    return Failure{.problem = "is a repository, not a file"};
  }

  std::optional<Failure> bring_tree(const ToolJob& job) override {
    const auto repository = repository_of(job.url());
    if (const auto* failure = std::get_if<Failure>(&repository)) return *failure;
    const Work work{std::get<Repository>(repository), job};
    if (work.repository.scheme == "file" && !context().options.allow_file) {
      return Failure{.problem = "git+file: sources are not allowed here"};
    }
    clear_folder(job.output);
    auto failure = fetch_commit(work);
    if (!failure) failure = check_out(work);
    if (failure) {
      clear_folder(job.output);
      return failure;
    }
    remove_repositories(job.output);
    return std::nullopt;
  }

  Failure failure_of(const ToolEnd& end, const ToolJob&) override {
    Failure failure = failure_by_words("git", end);
    if (failure.access_needed) {
      failure.hint = "put a token for the host into credentials.json, or a key where ssh finds it";
    }
    return failure;
  }

 private:
  struct Work {
    Repository repository{};
    const ToolJob& job;
  };

  ToolCall call(const Work& work, const std::vector<std::string>& arguments, bool is_lfs) const {
    const std::string& scheme = work.repository.scheme;
    ToolCall call;
    call.argv = {"git"};
    call.argv.insert(call.argv.end(), arguments.begin(), arguments.end());
    call.working_directory = work.job.output;
    call.grows = work.job.output;
    std::vector<std::string> ssh{"ssh"};
    for (std::string& option : ssh_options(context()))
      ssh.push_back(std::move(option));
    call.variables = {{"GIT_ALLOW_PROTOCOL", scheme},
                      {"GIT_TERMINAL_PROMPT", "0"},
                      {"GIT_ASKPASS", "true"},
                      {"SSH_ASKPASS", "true"},
                      {"GIT_SSH_COMMAND", base::quote_command(ssh)},
                      {"GIT_CEILING_DIRECTORIES", work.job.output.parent_path().string()},
                      {"GIT_DIR", (work.job.output / ".git").string()},
                      {"GIT_WORK_TREE", work.job.output.string()},
                      {"GIT_LFS_SKIP_SMUDGE", "1"}};
    if (arguments.front() == "submodule") {
      call.variables.erase("GIT_DIR");  // git finds its own
      call.variables.erase("GIT_WORK_TREE");
    }
    if (arguments.front() == "checkout") {
      // Filters of the user's configuration do not apply to untrusted files.
      call.variables["GIT_CONFIG_GLOBAL"] = "/dev/null";
      call.variables["GIT_CONFIG_SYSTEM"] = "/dev/null";
    }
    std::vector<std::pair<std::string, std::string>> settings{
        {"core.hooksPath", "/dev/null"},
        {"core.fsmonitor", "false"},
        {"core.autocrlf", "false"},
        {"core.protectNTFS", "true"},
        {"protocol.allow", "never"},
        {"protocol." + scheme + ".allow", "always"},
        {"advice.detachedHead", "false"},
        {"gc.auto", "0"},
        {"transfer.fsckObjects", "true"},
        {"submodule.recurse", "false"},
        {"filter.lfs.clean", is_lfs ? "git-lfs clean -- %f" : ""},
        {"filter.lfs.smudge", is_lfs ? "git-lfs smudge -- %f" : ""},
        {"filter.lfs.process", is_lfs ? "git-lfs filter-process" : ""},
        {"filter.lfs.required", is_lfs ? "true" : "false"}};
    if (!context().options.ca_file.empty()) {
      settings.emplace_back("http.sslCAInfo", context().options.ca_file);
    }
    std::vector<std::string> headers = secret_headers(work.job.credentials);
    if (!work.job.credentials.password.empty()) {
      // RFC 7617
      headers.push_back("Authorization: Basic " + base::base64(work.job.credentials.user + ":" +
                                                               work.job.credentials.password));
    }
    const std::string host = "http.https://" + work.job.url().authority() + "/.";
    for (const std::string& header : headers)
      settings.emplace_back(host + "extraHeader", header);
    if (!headers.empty()) settings.emplace_back(host + "followRedirects", "false");
    set_up(call, settings);
    return call;
  }

  std::optional<Failure> git(const Work& work,
                             const std::vector<std::string>& arguments,
                             bool is_lfs = false,
                             ToolEnd* ended = nullptr) {
    return run(call(work, arguments, is_lfs), work.job, ended);
  }

  std::optional<Failure> fetch_commit(const Work& work) {
    const std::string& commit = work.repository.commit;
    if (auto failure = git(work, {"init", "-q"})) return failure;
    if (auto failure = git(work, {"remote", "add", "--", "origin", work.repository.url})) {
      return failure;
    }
    auto failure = git(work, {"fetch", "-q", "--depth=1", "--no-tags", "origin", commit});
    if (!failure) return failure;
    if (failure->access_needed || failure->retryable) return failure;
    // Some servers refuse a commit without branch or tag: then all branches are fetched.
    failure = git(work,
                  {"fetch",
                   "-q",
                   "origin",
                   "+refs/heads/*:refs/remotes/origin/*",
                   "+refs/tags/*:refs/tags/*"});
    if (failure) return failure;
    if (!git(work, {"cat-file", "-e", commit + "^{commit}"})) return std::nullopt;
    return Failure{.problem = "the repository has no commit " + commit,
                   .hint = "check the document: a commit that no branch has any more is lost",
                   .not_found = true};
  }

  std::optional<Failure> check_out(const Work& work) {
    const fs::path& folder = work.job.output;
    if (auto failure =
            git(work, {"checkout", "-q", "--detach", "--force", work.repository.commit})) {
      return failure;
    }
    std::error_code code;
    if (fs::exists(folder / ".gitmodules", code)) {
      auto failure =
          git(work, {"submodule", "--quiet", "update", "--init", "--recursive", "--depth", "1"});
      if (failure) {
        failure->problem = "a submodule could not be fetched: " + failure->problem;
        return failure;
      }
    }
    if (!uses_lfs(folder)) return std::nullopt;
    if (!base::find_program("git-lfs")) {
      return Failure{.problem = "the repository uses LFS, and program 'git-lfs' is not here",
                     .hint = "install the package 'git-lfs'"};
    }
    if (auto failure = git(work, {"lfs", "pull"}, true)) return failure;
    if (!fs::exists(folder / ".gitmodules", code)) return std::nullopt;
    return git(work, {"submodule", "--quiet", "foreach", "--recursive", "git lfs pull"}, true);
  }
};

}  // namespace

std::unique_ptr<Fetcher> make_git_tool(const ToolContext& context) {
  return std::make_unique<GitTool>(context);
}

}  // namespace sabath::fetch
