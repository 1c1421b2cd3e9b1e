#include "source_url.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/fetch/credential_store.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::fetch {

namespace {

using base::Error;
using base::ErrorKind;

constexpr auto command_deadline = std::chrono::minutes(2);
constexpr std::size_t longest_token = std::size_t{64} * 1024;
/// Shorter secrets would occur in texts by chance.
constexpr std::size_t shortest_masked = 4;

/// Schemes whose connection is encrypted, by TLS or by the tool.
bool is_encrypted(std::string_view scheme) {
  constexpr std::array<std::string_view, 4> encrypted{"https", "s3", "git+https", "sftp"};
  return std::ranges::find(encrypted, scheme) != encrypted.end();
}

void mask(std::string& text, const std::string& secret) {
  if (secret.size() < shortest_masked) return;
  for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), "***");
  }
}

}  // namespace

std::vector<spec::Secret> load_secrets(const std::filesystem::path& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) return {};
  if (!file) base::throw_errno(path.string(), "cannot read", errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) base::throw_errno(path.string(), "cannot read", errno);
  const auto refuse = [&](const std::string& problem, const std::string& hint) {
    throw Error(ErrorKind::access, path.string() + ": " + problem, hint);
  };
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file", "");
  if (status.st_uid != ::geteuid()) {
    refuse("belongs to user " + std::to_string(status.st_uid),
           "a file with secrets must belong to you");
  }
  if ((status.st_mode & 0077U) != 0) {
    refuse("others can read it, and it has secrets", "chmod 600 " + path.string());
  }
  // Reads through the descriptor that was checked.
  const std::string text = base::read_file("/proc/self/fd/" + std::to_string(file.get()));
  return spec::parse_secrets(text, path.string());
}

std::optional<std::string> CredentialStore::known_token(const spec::Secret& secret) const {
  const std::lock_guard lock(mutex_);
  const auto known = tokens_.find(secret.command);
  return known == tokens_.end() ? std::nullopt : std::optional(known->second);
}

std::string CredentialStore::token_of(const spec::Secret& secret) {
  if (const auto known = known_token(secret)) return *known;
  const std::lock_guard one_at_a_time(asking_);
  if (const auto known = known_token(secret)) return *known;
  std::string token = ask(secret);
  const std::lock_guard lock(mutex_);
  tokens_[secret.command] = token;
  return token;
}

std::string CredentialStore::ask(const spec::Secret& secret) {
  base::Command command;
  command.argv = secret.command;
  command.deadline = command_deadline;
  command.capture_limit = longest_token;
  const auto refuse = [&](const std::string& cause) {
    throw Error(ErrorKind::access,
                "credentials for " + base::printable(secret.host) + ": command '" +
                    base::printable(secret.command.front()) + "' gave no token: " + cause);
  };
  base::ProcessResult result;
  try {
    result = processes_.run(command, stop_);
  } catch (const Error& error) {
    refuse(error.what());
  }
  if (result.end == base::ProcessEnd::stopped) throw Error(ErrorKind::interrupted, "interrupted");
  if (!result.ok()) refuse(result.describe());
  std::string token = result.output.substr(0, result.output.find_first_of("\r\n"));
  const auto is_plain = [](char c) { return c > 0x20 && c < 0x7f; };
  if (token.empty() || !std::ranges::all_of(token, is_plain)) {
    refuse("the first line of its output is not a token");
  }
  return token;
}

Credentials CredentialStore::for_host(std::string_view scheme, std::string_view host) {
  if (!is_encrypted(scheme) && !is_loopback(host)) return {};
  const auto bound = std::ranges::find_if(
      secrets_, [&](const spec::Secret& each) { return spec::is_bound_to(each.host, host); });
  if (bound == secrets_.end()) return {};
  Credentials credentials;
  credentials.user = bound->user;
  credentials.password = bound->password;
  credentials.bearer = bound->command.empty() ? bound->bearer : token_of(*bound);
  if (!bound->header.first.empty()) {
    credentials.headers.push_back(bound->header.first + ": " + bound->header.second);
  }
  return credentials;
}

std::string CredentialStore::masked(std::string text) const {
  for (const spec::Secret& secret : secrets_) {
    mask(text, secret.bearer);
    mask(text, secret.header.second);
    mask(text, secret.password);
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [command, token] : tokens_)
    mask(text, token);
  return text;
}

}  // namespace sabath::fetch
