#pragma once

#include <sabath/spec/events/hook.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// A fetcher of the user's own: a program that brings one file.
struct ToolFetcher {
  std::string scheme{};                ///< of the sources that it takes
  std::string name{};                  ///< for --fetcher and `prefer`; the scheme where not given
  std::vector<std::string> command{};  ///< with {url} {output} {host} {path} {user}
  /// A regular expression (ECMAScript) with one group: the percentage done, in what the program
  /// writes. Empty: progress is the growth of the file.
  std::string progress{};

  bool operator==(const ToolFetcher&) const = default;
};

/// How the files of this machine are seen by Globus.
struct GlobusSettings {
  std::string local_collection{};              ///< the UUID of a collection that holds the cache
  std::map<std::string, std::string> paths{};  ///< folder here -> the same folder in the collection
  int deadline_hours = 24;                     ///< a task that takes longer is given up by Globus

  bool operator==(const GlobusSettings&) const = default;
};

struct CacheSettings {
  std::vector<std::string> lower{};  ///< read-only caches beneath the own one, searched in order
  bool shared = false;               ///< may the group write?
  /// Outputs of runs up to this size become objects; 0: only those of cached stages.
  std::uint64_t largest_output = std::uint64_t{1} << 30U;

  bool operator==(const CacheSettings&) const = default;
};

/// What building an environment may take here; nothing: as each of its tools is known to need.
struct EnvironmentLimits {
  std::optional<std::chrono::seconds> wall{};     ///< for one layer
  std::optional<std::chrono::seconds> silence{};  ///< without a word of the program that runs
  int jobs = 0;  ///< parallel compilations; 0: as many as there are CPUs

  bool operator==(const EnvironmentLimits&) const = default;
};

/// How environments are used on this machine.
struct EnvironmentSettings {
  std::string variant{};  ///< of recipes that have it; the others take their first
  bool packed = false;    ///< do runs use the images of environments where there are some?
  /// A folder on this node's own disk, where images are unpacked; empty: the temporary folder.
  std::string local{};
  /// Users and groups, by name or number, whose environments are used.
  std::vector<std::string> trusted_owners{};
  std::vector<std::string> trusted_groups{};
  EnvironmentLimits limits{};

  bool operator==(const EnvironmentSettings&) const = default;
};

/// What runs may do on this machine.
struct RunSettings {
  /// Of what a stage writes to stdout or stderr; beyond it the stage is ended. 0: no limit.
  std::uint64_t largest_log = 0;

  bool operator==(const RunSettings&) const = default;
};

/// Base URLs of services, without a slash at the end.
struct Endpoints {
  std::string hf = "https://huggingface.co";
  std::string doi = "https://doi.org";
  std::string zenodo = "https://zenodo.org";

  bool operator==(const Endpoints&) const = default;
};

/// What the user, or who looks after the machine, has settled: config.json.
struct Configuration {
  std::vector<ToolFetcher> fetchers{};
  GlobusSettings globus{};
  CacheSettings cache{};
  EnvironmentSettings environments{};
  RunSettings runs{};
  std::string ssh_config{};                     ///< for ssh's -F; empty: the user's own
  int connections_per_host = 0;                 ///< at most; 0: as the engine finds best
  std::map<std::string, std::string> prefer{};  ///< scheme -> name of the fetcher that gets it
  Endpoints endpoints{};
  std::vector<Hook> hooks{};                    ///< on events of runs
  std::string sendmail = "/usr/sbin/sendmail";  ///< that hooks use for mails

  bool operator==(const Configuration&) const = default;
};

/// The placeholders that may stand in the command of a ToolFetcher.
std::vector<std::string> tool_placeholders();

/// Reads strictly. `origin` (a path) begins every message. Throws Error{usage} with all problems.
Configuration parse_configuration(std::string_view text, const std::string& origin);
nlohmann::ordered_json to_json(const Configuration& configuration);

}  // namespace sabath::spec
