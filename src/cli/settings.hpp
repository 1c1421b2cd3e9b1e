#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/trust.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/home/folders.hpp>
#include <sabath/spec/configuration.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::cli {

/// What the global options say, and which command was named.
struct GlobalOptions {
  std::string command{};
  bool json = false;
  bool quiet = false;
  std::vector<std::string>
      catalogs{};  ///< --catalog: further folders with assets and recipes, searched first
};

/// Folders from SABATH_HOME, SABATH_CACHE, SABATH_CONFIG, XDG_DATA_HOME, XDG_CONFIG_HOME and HOME
/// (docs/commands/environment.md). The shipped catalog and recipes lie at ../share/sabath beside
/// the program. Without a place for it the configuration's is empty. Throws Error{usage} when no
/// home is set, and for places that are not UTF-8.
home::Folders read_folders(const base::Environment& environment,
                           const std::vector<std::string>& catalogs,
                           const std::filesystem::path& program);

/// config.json in the configuration folder; what stands there by itself where there is none. Throws
/// Error{usage}, also when others can write it and it defines fetchers, which are executed, or says
/// whose environments are.
spec::Configuration read_configuration(const std::filesystem::path& folder);

/// The users and groups that the configuration at `origin` names. The observer gets a note of one
/// that this machine does not know: a compute node may know fewer.
base::Trust read_trust(const spec::EnvironmentSettings& settings,
                       const std::filesystem::path& origin,
                       base::Observer& observer);

/// Which caches lie beneath the own one, and whether a new one is the group's: SABATH_LOWER_CACHES
/// (paths with ':' between) and SABATH_CACHE_SHARED ("1" or "0"), else what the configuration says.
/// Throws Error{usage}.
cache::CacheOptions read_cache_options(const base::Environment& environment,
                                       const spec::CacheSettings& settings);

/// What is shipped with a program: catalog/ and recipes/ lie there.
std::filesystem::path shipped_folder(const std::filesystem::path& program);

/// This program's own path.
std::filesystem::path program_path();

/// Secrets of credentials.json in a folder; none, with a warning, where it cannot be read.
std::vector<std::string> read_known_secrets(const std::filesystem::path& folder,
                                            base::Observer& observer);

}  // namespace sabath::cli
