#pragma once

#include <sabath/spec/enum_words.hpp>
#include <sabath/spec/run_state.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// Event of a run. The end of a run is one of `failed`, `lost` and `finished` (all other ends).
enum class HookEvent { started, failed, finished, lost, diverged };
constexpr auto words_of(HookEvent) {
  return std::to_array<std::string_view>({"started", "failed", "finished", "lost", "diverged"});
}

/// Who fires a hook: `exec` on the node, or the process that indexes the run.
enum class HookPlace { exec, submit };
constexpr auto words_of(HookPlace) {
  return std::to_array<std::string_view>({"exec", "submit"});
}

/// What to do on events of runs. Exactly one of `command`, `post` and `mail` is set.
struct Hook {
  std::vector<std::string> on{};       ///< words of HookEvent
  std::vector<std::string> command{};  ///< an argument vector, with the report on stdin
  std::string post{};                  ///< URL to which the report is posted
  std::string mail{};                  ///< address
  std::string where = "exec";          ///< a word of HookPlace
  std::chrono::seconds timeout{30};

  bool operator==(const Hook&) const = default;
  bool is_on(HookEvent event) const;
  bool is_at(HookPlace place) const { return where == to_string(place); }
  /// For messages: "command notify", "POST to HOST", "mail to ADDRESS". Shows no path of a URL,
  /// which may be a secret.
  std::string label() const;
};

/// What a hook gets about a run.
struct HookReport {
  HookEvent event = HookEvent::started;
  std::string run{};
  std::string recipe{};
  RunState state = RunState::running;
  std::string reason{};  ///< why it did not end well; may be empty
  std::string directory{};
  std::string host{};                      ///< that executes it; empty: not known
  std::optional<std::string> study{};      ///< nothing: it belongs to none
  std::string created{};                   ///< RFC 3339, as the next two
  std::optional<std::string> started{};    ///< nothing: not known
  std::optional<std::string> ended{};      ///< nothing: it has not ended, or when is not known
  std::optional<double> wall_s{};          ///< of an ended run
  std::optional<std::string> reproduce{};  ///< the command that repeats it
  std::string sabath_version{};

  bool operator==(const HookReport&) const = default;
};

/// The event of a run's state; nothing for a state that is none.
std::optional<HookEvent> event_of(RunState state);

nlohmann::ordered_json to_json(const HookReport& report);
HookReport parse_hook_report(std::string_view text, const std::string& origin);

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
