#include "git.hpp"

#include "layers/layer_variables.hpp"
#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* protocols = "https:http:ssh:git:file";
/// Longest a server may say nothing, and longest for a whole command.
constexpr auto silence = std::chrono::minutes(2);
constexpr auto git_deadline = std::chrono::hours(2);

/// How hosts are reached and who the user is there.
constexpr std::array<const char*, 17> passed_on{"HOME",
                                                "XDG_CONFIG_HOME",
                                                "SSH_AUTH_SOCK",
                                                "SSL_CERT_FILE",
                                                "SSL_CERT_DIR",
                                                "GIT_SSL_CAINFO",
                                                "GIT_SSL_CAPATH",
                                                "http_proxy",
                                                "https_proxy",
                                                "all_proxy",
                                                "no_proxy",
                                                "HTTP_PROXY",
                                                "HTTPS_PROXY",
                                                "ALL_PROXY",
                                                "NO_PROXY",
                                                "GIT_PROXY_COMMAND",
                                                "GIT_SSH_COMMAND"};

/// What a tree is must not depend on the user, nor on what the repository says of its own files.
constexpr std::string_view plain_attributes =
    "* -text -eol -ident -filter -working-tree-encoding -export-ignore -export-subst\n";

const std::map<std::string, std::string>& settings() {
  static const std::map<std::string, std::string> all{{"core.hooksPath", "/dev/null"},
                                                      {"core.fsmonitor", "false"},
                                                      {"core.autocrlf", "false"},
                                                      {"core.attributesFile", "/dev/null"},
                                                      {"fetch.recurseSubmodules", "false"},
                                                      {"gc.auto", "0"},
                                                      {"maintenance.auto", "false"},
                                                      {"http.lowSpeedLimit", "1000"},
                                                      {"http.lowSpeedTime", "60"},
                                                      {"protocol.ext.allow", "never"},
                                                      {"tar.umask", "0022"},
                                                      {"init.defaultBranch", "main"}};
  return all;
}

base::Environment variables_of(const LayerErrand& errand, const base::Environment& user) {
  base::Environment variables = errand.context.variables;
  for (const char* name : passed_on) {
    const auto found = user.find(name);
    if (found != user.end()) variables[name] = found->second;
  }
  variables["GIT_ALLOW_PROTOCOL"] = protocols;
  variables["GIT_CONFIG_NOSYSTEM"] = "1";
  variables["GIT_TERMINAL_PROMPT"] = "0";
  variables["GIT_ASKPASS"] = "true";
  variables["SSH_ASKPASS"] = "true";
  variables["GIT_CEILING_DIRECTORIES"] = errand.work.string();
  variables.insert({"GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=30"});
  int count = 0;
  for (const auto& [key, value] : settings()) {
    variables["GIT_CONFIG_KEY_" + std::to_string(count)] = key;
    variables["GIT_CONFIG_VALUE_" + std::to_string(count++)] = value;
  }
  variables["GIT_CONFIG_COUNT"] = std::to_string(count);
  return variables;
}

bool is_commit(const std::string& text) {
  static const base::Form form("[0-9a-f]{40}");
  return form.matches(text);
}

std::string scheme_of(const std::string& url) {
  return url.substr(0, url.find("://"));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(std::move(part));
  return parts;
}

std::string explanation(const std::string& errors) {
  std::vector<std::string> lines = split(errors, '\n');
  std::erase_if(lines, [](const std::string& line) {
    // Progress, and hints for somebody who typed the command.
    return line.empty() || line.starts_with("hint: ") || line.find('\r') != std::string::npos;
  });
  return last_lines(lines, 6);
}

/// Name of a reference -> commit; of an annotated tag what it leads to.
std::map<std::string, std::string> read_references(const std::string& listing) {
  std::map<std::string, std::string> references;
  for (const std::string& line : split(listing, '\n')) {
    const auto tab = line.find('\t');
    if (tab == std::string::npos) continue;
    std::string name = line.substr(tab + 1);
    const bool peeled = name.ends_with("^{}");
    if (peeled) name.resize(name.size() - 3);
    if (peeled || !references.contains(name)) references[name] = line.substr(0, tab);
  }
  return references;
}

/// "submodule.NAME.path\nVALUE" of .gitmodules -> URL by path.
std::map<std::string, std::string> read_modules(const std::string& listing) {
  std::map<std::string, std::string> paths;
  std::map<std::string, std::string> urls;
  for (const std::string& item : split(listing, '\0')) {
    const auto line = item.find('\n');
    const auto dot = item.rfind('.', line);
    if (line == std::string::npos || dot == std::string::npos) continue;
    const std::string key = item.substr(dot + 1, line - dot - 1);
    (key == "path" ? paths : urls)[item.substr(0, dot)] = item.substr(line + 1);
  }
  std::map<std::string, std::string> by_path;
  for (const auto& [name, path] : paths) {
    const auto url = urls.find(name);
    if (url != urls.end()) by_path[path] = url->second;
  }
  return by_path;
}

}  // namespace

void require_repository_url(const std::string& url, const std::string& place) {
  static const base::Form form("(https?|ssh|git|file)://([^/]*)(/.*)");
  const auto parts = form.parts(url);
  const bool is_printable = base::printable(url) == url;
  if (!is_printable || !parts || parts->at(2).starts_with('-') ||
      parts->at(2).find("@-") != std::string::npos) {
    throw Error(ErrorKind::usage,
                place + ": '" + base::printable(url) + "' is no URL of a git repository",
                "it begins with https://, http://, ssh://, git:// or file://; for "
                "'git@host:path' write ssh://git@host/path");
  }
  const std::string authority = parts->at(2);
  const std::string user = authority.substr(0, authority.rfind('@') + 1);
  if (user.find(':') == std::string::npos && (user.empty() || parts->at(1) == "ssh")) return;
  throw Error(ErrorKind::usage,
              place + ": the URL of the repository holds a login",
              "recipes and locks are for others to read: use git's credential helper or ~/.netrc");
}

std::string submodule_url(const std::string& parent, const std::string& url) {
  if (!url.starts_with("./") && !url.starts_with("../")) return url;
  std::string base = parent;
  std::string rest = url;
  while (base.ends_with('/'))
    base.pop_back();
  const auto path = base.find('/', base.find("://") + 3);
  while (rest.starts_with("./") || rest.starts_with("../")) {
    const bool up = rest.starts_with("../");
    rest = rest.substr(up ? 3 : 2);
    if (!up) continue;
    const auto slash = base.rfind('/');
    if (slash == std::string::npos || slash < path) return url;
    base.resize(slash);
  }
  return base + "/" + rest;
}

Git::Git(const LayerErrand& errand, base::ProcessRunner& processes, const base::Environment& user)
    : errand_(errand),
      processes_(processes),
      variables_(variables_of(errand, user)),
      place_(place_of(errand.context.spec.name)) {
  const auto path = variables_.find("PATH");
  const auto program = base::find_program("git", path == variables_.end() ? "" : path->second);
  if (!program) {
    throw Error(ErrorKind::environment,
                place_ + ": git not found on PATH",
                "install it (Debian: apt install git) or load a module that has it");
  }
  program_ = program->string();
}

base::ProcessResult Git::run(std::vector<std::string> arguments, const fs::path& repository) {
  base::Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), program_);
  command.working_directory = errand_.work;
  command.environment = variables_;
  if (!repository.empty()) (*command.environment)["GIT_DIR"] = repository.string();
  command.capture_limit = 64U << 20U;
  command.deadline = errand_.limits.wall.value_or(git_deadline);
  // A server may be silent that long; git itself is where much is to be done.
  const std::string& doing = command.argv[1];
  if (doing == "fetch" || doing == "ls-remote")
    command.silence_deadline = errand_.limits.silence.value_or(silence);
  base::ProcessResult result = processes_.run(command, errand_.stop);
  if (result.end == base::ProcessEnd::stopped) {
    throw Error(ErrorKind::interrupted, place_ + ": stopped while git ran");
  }
  return result;
}

void Git::fail(const base::ProcessResult& result, const std::string& doing) const {
  refuse_full_disk(result, place_ + ": " + doing + " failed");
  const bool unreachable = result.end != base::ProcessEnd::exited || result.exit_code == 128;
  const std::string ended =
      result.end == base::ProcessEnd::exited ? "" : ": git " + result.describe();
  throw Error(ErrorKind::transfer,
              place_ + ": " + doing + " failed" + ended + explanation(result.errors),
              unreachable ? "is the URL right, is the host reachable, and may you read there? What "
                            "'sabath env fetch' brought once is built without a network"
                          : "");
}

std::string Git::must(std::vector<std::string> arguments,
                      const fs::path& repository,
                      const std::string& doing) {
  const base::ProcessResult result = run(std::move(arguments), repository);
  if (!result.ok()) fail(result, doing);
  return result.output;
}

std::string Git::version() {
  const std::string text = must({"--version"}, {}, "git --version");
  const auto number = text.find_first_of("0123456789");
  return number == std::string::npos
             ? "git"
             : "git " + text.substr(number, text.find_first_of(" \n", number) - number);
}

std::string Git::resolve(const std::string& url, const std::string& ref) {
  require_repository_url(url, place_);
  if (is_commit(ref)) return ref;
  const auto references =
      read_references(must({"ls-remote", "--quiet", "--", url}, {}, "asking " + url));
  std::map<std::string, std::string> found;
  for (const std::string& name :
       {ref.empty() ? "HEAD" : ref, "refs/tags/" + ref, "refs/heads/" + ref}) {
    const auto reference = references.find(name);
    if (reference != references.end()) found.insert(*reference);
  }
  const std::string shown = base::printable(ref.empty() ? "HEAD" : ref);
  if (found.empty()) {
    throw Error(ErrorKind::environment,
                place_ + ": " + url + " has no branch and no tag '" + shown + "'",
                "\"ref\" is a branch, a tag, or all 40 digits of a commit");
  }
  const std::string commit = found.begin()->second;
  for (const auto& [name, other] : found) {
    if (other == commit) continue;
    throw Error(ErrorKind::environment,
                place_ + ": '" + shown + "' is a branch and a tag of " + url + ", which differ",
                "write refs/heads/" + shown + " or refs/tags/" + shown);
  }
  return commit;
}

fs::path Git::fetch(const std::string& url, const std::string& commit) {
  require_repository_url(url, place_);
  const fs::path repository = errand_.work / ("git-" + std::to_string(repositories_++));
  base::remove_tree(repository);
  must({"init", "--quiet", "--bare", "--template=", "--", repository.string()}, {}, "git init");
  base::make_directories(repository / "info");
  base::write_file_atomically(
      repository / "info" / "attributes", plain_attributes, base::Durability::ordered_only);
  const std::string doing = "fetching " + url;
  const auto shallow =
      run({"fetch", "--progress", "--depth=1", "--no-tags", "--", url, commit}, repository);
  if (shallow.ok()) return repository;
  // Not every server gives what no branch points at, or only a part of the history.
  const auto whole = run(
      {"fetch", "--progress", "--", url, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"},
      repository);
  if (!whole.ok()) fail(whole, doing);
  if (run({"cat-file", "-e", commit + "^{commit}"}, repository).ok()) return repository;
  throw Error(
      ErrorKind::transfer,
      place_ + ": " + url + " has no commit " + base::printable(commit),
      "what no branch and no tag has any more is lost: 'sabath env lock' takes what is there");
}

std::vector<Submodule> Git::submodules(const fs::path& repository,
                                       const std::string& url,
                                       const std::string& commit) {
  const std::string tree =
      must({"ls-tree", "-r", "-z", "--full-tree", commit}, repository, "reading " + url);
  std::vector<Submodule> found;
  for (const std::string& entry : split(tree, '\0')) {
    const auto tab = entry.find('\t');
    if (!entry.starts_with("160000 commit ") || tab == std::string::npos) continue;
    found.push_back({entry.substr(tab + 1), {}, entry.substr(14, tab - 14)});
  }
  if (found.empty()) return found;
  const auto listing = run({"config",
                            "-z",
                            "--blob",
                            commit + ":.gitmodules",
                            "--get-regexp",
                            "^submodule\\..*\\.(path|url)$"},
                           repository);
  const auto urls = read_modules(listing.output);
  for (Submodule& module : found) {
    const std::string inside = place_ + ": submodule '" + base::printable(module.path) + "'";
    const auto named = urls.find(module.path);
    if (named == urls.end() || !base::is_safe_relative_path(module.path)) {
      throw Error(
          ErrorKind::environment,
          inside + " of " + url +
              (named == urls.end() ? ": no URL in .gitmodules" : ": leads out of its repository"),
          "the repository must be mended");
    }
    module.url = submodule_url(url, named->second);
    require_repository_url(module.url, inside);
    const std::string scheme = scheme_of(module.url);
    if (scheme != scheme_of(url) && scheme != "https") {
      throw Error(ErrorKind::environment,
                  inside + ": " + module.url + ": a repository of " + scheme_of(url) +
                      ":// may not lead to " + scheme + "://",
                  "its submodules are fetched from where it is, or by https");
    }
  }
  return found;
}

void Git::archive(const fs::path& repository,
                  const std::string& commit,
                  const fs::path& file,
                  const std::string& prefix) {
  must({"archive", "--format=tar", "--prefix=" + prefix, "--output=" + file.string(), commit},
       repository,
       "git archive");
}

}  // namespace sabath::env
