#pragma once

#include <sabath/base/process/process.hpp>

#include <string>
#include <vector>

namespace sabath::env {

/// What a user's configuration of pip says about how packages are reached.
struct PipSettings {
  base::Environment variables{};        ///< PIP_INDEX_URL and the like: may hold passwords
  std::vector<std::string> used{};      ///< names of settings, without values: fit to be recorded
  std::vector<std::string> left_out{};  ///< names of those that would change what is installed
};

/// Asks pip for its configuration (files of the system and of the user, PIP_ variables) and keeps
/// what leads to packages: indexes, certificates, proxies. `pip` is a command of pip, `user` the
/// user's whole environment.
PipSettings read_pip_settings(const std::vector<std::string>& pip,
                              const base::Environment& user,
                              base::ProcessRunner& processes);

/// Of the user's environment what leads to a network: proxies, certificates, and where logins are.
base::Environment network_settings(const base::Environment& user);

/// Reads what `pip config list` prints.
PipSettings parse_pip_settings(const std::string& text);

}  // namespace sabath::env
