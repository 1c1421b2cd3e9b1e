#include "git.hpp"

#include "layers/layer_variables.hpp"
#include "source/build_steps.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/remote_commit.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>

#include <unistd.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* protocols = "https:http:ssh:git:file";
/// Longest a server may say nothing, and longest for a whole command.
constexpr auto silence = std::chrono::minutes(2);
constexpr auto git_deadline = std::chrono::hours(2);

/// Returns true for variables that say how hosts are reached and who the user is there.
bool is_for_git(const std::string& name) {
  static const base::Form form(
      "HOME|XDG_CONFIG_HOME|SSH_AUTH_SOCK|SSL_CERT_FILE|SSL_CERT_DIR|GIT_SSL_CAINFO|GIT_SSL_CAPATH|"
      "(?:http|https|all|no)_proxy|(?:HTTP|HTTPS|ALL|NO)_PROXY|GIT_PROXY_COMMAND|GIT_SSH_COMMAND");
  return form.matches(name);
}

/// What a tree is must not depend on the user, nor on what the repository says of its own files.
constexpr std::string_view plain_attributes =
    "* -text -eol -ident -filter -working-tree-encoding -export-ignore -export-subst\n";

constexpr std::array<std::pair<const char*, const char*>, 12> settings{
    {{"core.hooksPath", "/dev/null"},
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
     {"init.defaultBranch", "main"}}};

/// The file of certificates that the user's other programs trust; git knows only variables of its
/// own. Nothing where git has one, or where the file is not readable.
std::optional<std::string> trusted_certificates(const base::Environment& user) {
  const auto found = user.find("SSL_CERT_FILE");
  const bool is_usable = found != user.end() && ::access(found->second.c_str(), R_OK) == 0;
  if (!is_usable || user.contains("GIT_SSL_CAINFO") || user.contains("GIT_SSL_CAPATH"))
    return std::nullopt;
  return found->second;
}

base::Environment variables_of(const LockRequest& request, const base::Environment& user) {
  base::Environment variables = request.context.variables;
  for (const auto& [name, value] : user) {
    if (is_for_git(name)) variables[name] = value;
  }
  variables["GIT_ALLOW_PROTOCOL"] = protocols;
  variables["GIT_CONFIG_NOSYSTEM"] = "1";
  variables["GIT_TERMINAL_PROMPT"] = "0";
  variables["GIT_ASKPASS"] = "true";
  variables["SSH_ASKPASS"] = "true";
  variables["GIT_CEILING_DIRECTORIES"] = request.work.string();
  variables.insert({"GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=30"});
  int count = 0;
  const auto set = [&](const std::string& key, const std::string& value) {
    variables["GIT_CONFIG_KEY_" + std::to_string(count)] = key;
    variables["GIT_CONFIG_VALUE_" + std::to_string(count++)] = value;
  };
  for (const auto& [key, value] : settings)
    set(key, value);
  // The user's own setting for one host, http.<url>.sslCAInfo, still wins.
  if (const auto file = trusted_certificates(user)) set("http.sslCAInfo", *file);
  variables["GIT_CONFIG_COUNT"] = std::to_string(count);
  return variables;
}

std::string scheme_of(const std::string& url) {
  return url.substr(0, url.find("://"));
}

/// Leaves out progress, and hints for somebody who typed the command.
std::string explanation(const std::string& errors) {
  return last_lines_in(errors, 6, [](const std::string& line) {
    return !line.starts_with("hint: ") && line.find('\r') == std::string::npos;
  });
}

/// Name of a reference -> commit; of an annotated tag what it leads to.
std::map<std::string, std::string> read_references(const std::string& listing) {
  std::map<std::string, std::string> references;
  for (const std::string& line : base::split(listing, '\n')) {
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
  for (const std::string& item : base::split(listing, '\0')) {
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

/// Refuses other URLs than those of repositories, and one that holds a password.
/// Throws Error{usage}.
void require_repository_url(const std::string& url, const std::string& place) {
  static const base::Form form("(https?|ssh|git|file)://([^/]*)(/.*)");
  const auto parts = form.parts(url);
  const bool is_printable = base::printable(url) == url;
  if (!is_printable || !parts || parts->at(2).starts_with('-') ||
      parts->at(2).find("@-") != std::string::npos) {
    throw Error(ErrorKind::usage,
                place + ": '" + base::printable(url) + "' is not a URL of a git repository",
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

}  // namespace

std::string submodule_url(const std::string& parent, const std::string& url) {
  // Many repositories name their parts as those who can push to them do.
  static const base::Form as_url("ssh://[A-Za-z0-9_.-]+@([A-Za-z0-9.-]+)(?::22)?/([^:]+)");
  static const base::Form as_place("[A-Za-z0-9_.-]+@([A-Za-z0-9.-]+):/?([^:]+)");
  for (const base::Form* form : {&as_url, &as_place}) {
    const auto parts = form->parts(url);
    if (parts && parent.starts_with("https://"))
      return "https://" + parts->at(1) + "/" + parts->at(2);
  }
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

namespace {

constexpr std::uint64_t block_bytes = 512;
constexpr int deepest = 16;

/// Returns where the entries of a plain tar end and its closing zeros begin. Throws
/// Error{integrity}.
std::uint64_t end_of_tar(const fs::path& file) {
  std::ifstream tar(file, std::ios::binary);
  std::uint64_t at = 0;
  std::array<char, block_bytes> header{};
  while (tar.seekg(static_cast<std::streamoff>(at)) && tar.read(header.data(), header.size())) {
    if (std::ranges::all_of(header, [](char c) { return c == '\0'; })) return at;
    // Eleven octal digits; git writes larger sizes otherwise, which nobody has in a repository.
    std::uint64_t size = 0;
    for (std::size_t i = 124; i < 135; ++i) {
      if (header[i] < '0' || header[i] > '7') {
        throw base::Error(base::ErrorKind::integrity, file.string() + ": not a plain tar");
      }
      size = size * 8 + static_cast<std::uint64_t>(header[i] - '0');
    }
    at += block_bytes + (size + block_bytes - 1) / block_bytes * block_bytes;
  }
  throw base::Error(base::ErrorKind::integrity, file.string() + ": the tar has no end");
}

/// Appends the entries of `part` to those of `whole`.
void append_tar(const fs::path& whole, const fs::path& part) {
  std::error_code code;
  fs::resize_file(whole, end_of_tar(whole), code);
  if (code) base::throw_errno(whole.string(), "cannot write", code.value());
  std::ofstream out(whole, std::ios::binary | std::ios::app);
  std::ifstream in(part, std::ios::binary);
  out << in.rdbuf();
  out.close();
  if (!out || !in) base::throw_errno(whole.string(), "cannot write", EIO);
}

}  // namespace

Git::Git(const LockRequest& request, base::ProcessRunner& processes, const base::Environment& user)
    : request_(request),
      processes_(processes),
      variables_(variables_of(request, user)),
      place_(request.context.spec.name.empty() ? "git" : place_of(request.context.spec.name)) {
  const auto program = base::find_program("git", search_path(variables_));
  if (!program) {
    throw_environment(place_ + ": git not found on PATH",
                      "install it (Debian: apt install git) or load a module that has it");
  }
  program_ = program->string();
}

base::ProcessResult Git::run(std::vector<std::string> arguments, const fs::path& repository) {
  base::Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), program_);
  command.working_directory = request_.work;
  command.environment = variables_;
  if (!repository.empty()) (*command.environment)["GIT_DIR"] = repository.string();
  command.capture_limit = 64U << 20U;
  command.deadline = request_.limits.wall.value_or(git_deadline);
  // A server may be silent that long; git itself is where much is to be done.
  const std::string& doing = command.argv[1];
  if (doing == "fetch" || doing == "ls-remote")
    command.silence_deadline = request_.limits.silence.value_or(silence);
  return run_unless_stopped(processes_, command, request_.stop, place_ + ": stopped while git ran");
}

void Git::fail(const base::ProcessResult& result, const std::string& doing) const {
  refuse_full_disk(result, place_ + ": " + doing + " failed");
  const bool unreachable = result.end != base::ProcessEnd::exited || result.exit_code == 128;
  const std::string ended =
      result.end == base::ProcessEnd::exited ? "" : ": git " + result.describe();
  throw Error(ErrorKind::transfer,
              place_ + ": " + doing + " failed" + ended + explanation(result.errors),
              unreachable ? "check the URL, the network, and your right to read there; after "
                            "'sabath env fetch RECIPE' a build needs no network"
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
  static const base::Form commit_form("[0-9a-f]{40}");
  if (commit_form.matches(ref)) return ref;
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
    throw_environment(place_ + ": " + url + " has no branch and no tag '" + shown + "'",
                      "\"ref\" is a branch, a tag, or all 40 digits of a commit");
  }
  std::string commit = found.begin()->second;
  for (const auto& [name, other] : found) {
    if (other == commit) continue;
    throw_environment(
        place_ + ": '" + shown + "' is a branch and a tag of " + url + ", which differ",
        "write refs/heads/" + shown + " or refs/tags/" + shown);
  }
  return commit;
}

std::string remote_commit(const std::string& url,
                          const std::string& reference,
                          const fs::path& work,
                          base::ProcessRunner& processes,
                          base::Observer& observer,
                          std::stop_token stop) {
  const base::Environment user = base::current_environment();
  const spec::LayerSpec nameless;
  const std::vector<spec::BuiltLayer> none;
  LayerContext context{nameless, {}, none};
  if (const auto path = user.find("PATH"); path != user.end()) context.variables.insert(*path);
  LockRequest request{context, work, observer, std::move(stop)};
  request.limits = {std::chrono::seconds(60), std::chrono::seconds(20)};
  observer.note("asking " + base::printable(url) + " for its commit");
  return Git(request, processes, user).resolve(url, reference);
}

fs::path Git::fetch(const std::string& url, const std::string& commit) {
  require_repository_url(url, place_);
  fs::path repository = request_.work / ("git-" + std::to_string(repositories_++));
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
      "no branch or tag has this commit now; 'sabath env lock RECIPE' locks the present one");
}

std::vector<Git::Submodule> Git::submodules(const fs::path& repository,
                                            const std::string& url,
                                            const std::string& commit) {
  const std::string tree =
      must({"ls-tree", "-r", "-z", "--full-tree", commit}, repository, "reading " + url);
  std::vector<Submodule> found;
  for (const std::string& entry : base::split(tree, '\0')) {
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
      throw_environment(
          inside + " of " + url +
              (named == urls.end() ? ": no URL in .gitmodules" : ": leads out of its repository"),
          "the repository must be mended");
    }
    module.url = submodule_url(url, named->second);
    require_repository_url(module.url, inside);
    const std::string scheme = scheme_of(module.url);
    if (scheme != scheme_of(url) && scheme != "https") {
      throw_environment(inside + ": " + module.url + ": a repository of " + scheme_of(url) +
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

void Git::add_submodules(const fs::path& repository,
                         const std::string& url,
                         const std::string& commit,
                         const std::string& folder,
                         const fs::path& file,
                         int depth) {
  for (const Submodule& module : submodules(repository, url, commit)) {
    if (depth == deepest) {
      throw base::Error(base::ErrorKind::transfer,
                        module.url + ": submodules within submodules without end");
    }
    const fs::path inner = fetch(module.url, module.commit);
    const std::string path = folder + module.path + "/";
    const fs::path part = file.string() + ".part";
    archive(inner, module.commit, part, path);
    append_tar(file, part);
    fs::remove(part);
    add_submodules(inner, module.url, module.commit, path, file, depth + 1);
  }
}

void Git::write_tree(const std::string& url, const std::string& commit, const fs::path& file) {
  const fs::path repository = fetch(url, commit);
  archive(repository, commit, file);
  add_submodules(repository, url, commit, {}, file, 0);
}

}  // namespace sabath::env
