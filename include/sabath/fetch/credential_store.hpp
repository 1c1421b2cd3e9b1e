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

/// credentials.json; none where there is no such file. Throws Error{access} when others than the
/// user can read it or it is not the user's, Error{usage} when it is malformed.
std::vector<spec::Secret> load_secrets(const std::filesystem::path& path);

/// Gives each host the secrets that are bound to it, and no others. Threads may share one.
class CredentialStore {
 public:
  /// `stop` ends a command that is asked for a token.
  CredentialStore(std::vector<spec::Secret> secrets,
                  base::ProcessRunner& processes,
                  std::stop_token stop = {})
      : secrets_(std::move(secrets)), processes_(processes), stop_(std::move(stop)) {}

  /// What may be sent to `host` ("data.example.org", "127.0.0.1:8080" where the URL names a port)
  /// over `scheme`: nothing where the way there is not encrypted, unless it stays on this machine.
  /// The first secret of the file that is bound to the host counts. A command is run once; throws
  /// Error{access} when it gives no token, Error{interrupted}.
  Credentials for_host(std::string_view scheme, std::string_view host);
  /// `text` with "***" in place of every secret that was given out or is known.
  std::string masked(std::string text) const;

 private:
  std::string token_of(const spec::Secret& secret);
  std::string ask(const spec::Secret& secret);
  std::optional<std::string> known_token(const spec::Secret& secret) const;

  std::vector<spec::Secret> secrets_;
  base::ProcessRunner& processes_;
  std::stop_token stop_;
  std::mutex asking_;         ///< held while a command runs, so that none runs twice
  mutable std::mutex mutex_;  ///< of the tokens; never held for long
  std::map<std::vector<std::string>, std::string> tokens_{};
};

}  // namespace sabath::fetch
