#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/secret.hpp>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

/// Reads credentials.json. Returns nothing without the file. Throws Error{access} when another user
/// owns or can read it, Error{usage} when it is malformed.
std::vector<spec::Secret> load_secrets(const std::filesystem::path& path);

/// Secrets by host. A host gets only its own. Thread safety: threads may share a store.
class CredentialStore {
 public:
  /// `stop` ends a command that is run for a token.
  CredentialStore(std::vector<spec::Secret> secrets,
                  base::ProcessRunner& processes,
                  std::stop_token stop = {})
      : secrets_(std::move(secrets)), processes_(processes), stop_(std::move(stop)) {}

  /// Returns the secrets for `host` ("data.example.org", or "127.0.0.1:8080" where the URL names a
  /// port). Returns nothing for an unencrypted `scheme`, except to this machine. The first entry
  /// for the host counts. A command is run once. Throws Error{access} when it gives no token,
  /// Error{interrupted}.
  Credentials for_host(std::string_view scheme, std::string_view host);
  /// Returns `text` with "***" for every known secret.
  std::string masked(std::string text) const;

 private:
  std::string token_of(const spec::Secret& secret);
  std::string ask(const spec::Secret& secret);
  std::optional<std::string> known_token(const spec::Secret& secret) const;

  std::vector<spec::Secret> secrets_;
  base::ProcessRunner& processes_;
  std::stop_token stop_;
  std::mutex asking_;         ///< held while a command runs, so that it runs once
  mutable std::mutex mutex_;  ///< protects the tokens
  std::map<std::vector<std::string>, std::string> tokens_{};
};

}  // namespace sabath::fetch
