#pragma once

#include <sabath/base/process/process.hpp>

#include <string>
#include <vector>

namespace sabath::env {

/// Settings of the user's pip for reaching packages.
struct PipSettings {
  base::Environment variables{};        ///< PIP_INDEX_URL and the like; may hold passwords
  std::vector<std::string> left_out{};  ///< names of settings that would change what is installed
};

/// Asks pip for its configuration (system and user files, PIP_ variables) and keeps indexes,
/// certificates and proxies. `pip` is a command of pip, `user` the user's whole environment.
PipSettings read_pip_settings(const std::vector<std::string>& pip,
                              const base::Environment& user,
                              base::ProcessRunner& processes);

/// Returns the user's variables for reaching a network: proxies, certificates, and files of logins.
base::Environment network_settings(const base::Environment& user);

/// Reads the output of `pip config list`.
PipSettings parse_pip_settings(const std::string& text);

}  // namespace sabath::env
