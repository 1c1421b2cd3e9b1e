#pragma once

#include <sabath/base/process.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/secret.hpp>

#include <filesystem>
#include <map>
#include <mutex>
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
  CredentialStore(std::vector<spec::Secret> secrets, base::ProcessRunner& processes)
      : secrets_(std::move(secrets)), processes_(processes) {}

  /// What may be sent to `host` ("data.example.org", "127.0.0.1:8080" where the URL names a port)
  /// over `scheme`: nothing where the way there is not encrypted, unless it stays on this machine.
  /// The first secret of the file that is bound to the host counts. A command is run once; throws
  /// Error{access} when it gives no token.
  Credentials for_host(std::string_view scheme, std::string_view host);
  /// `text` with "***" in place of every secret that was given out or is known.
  std::string masked(std::string text) const;

 private:
  std::string token_of(const spec::Secret& secret);

  std::vector<spec::Secret> secrets_;
  base::ProcessRunner& processes_;
  mutable std::mutex mutex_;
  std::map<std::vector<std::string>, std::string> tokens_{};
};

}  // namespace sabath::fetch
