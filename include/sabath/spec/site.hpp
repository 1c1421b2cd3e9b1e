#pragma once

#include <sabath/spec/recipe.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// Which files a job copies to the node's own disk before its first stage.
struct Staging {
  std::string folder{};  ///< on the node's own disk; may name variables ("$TMPDIR"). Empty: none
  bool inputs = false;   ///< the data sets of the run
  bool environments = false;  ///< the images that `sabath env pack` made

  bool operator==(const Staging&) const = default;
};

/// A place where runs execute: `sites/<name>.json` in the configuration folder.
struct Site {
  std::string name{};  ///< of the file
  std::string description{};
  std::string scheduler{};  ///< the name of a SchedulerDescription: "slurm", "pbs" ...
  /// What the scheduler is asked for by name: partition, account, qos, reservation, constraint.
  std::map<std::string, std::string> request{};
  std::vector<std::string>
      options{};              ///< further options, each a line as in the scheduler's manual
  Resources resources{};      ///< what a stage that says less gets; `time` limits the whole job
  int at_once = 0;            ///< tasks of an array that may run at the same time; 0: no limit
  int largest_array = 0;      ///< tasks in one array; 0: what the scheduler says, else 1000
  bool build_in_job = false;  ///< environments and inputs are made ready in a job of their own
  /// Resources, by their keys, that its jobs have without being asked for. Absent: none.
  std::optional<std::vector<std::string>> implied{};
  std::vector<std::string> setup{};                ///< lines of shell before `sabath exec`
  std::map<std::string, std::string> variables{};  ///< for the job
  std::string variant{};                           ///< of environments that have it
  std::string cache{};                             ///< the cache to use there; empty: the usual one
  std::string scratch{};  ///< folder for the work folders of stages; may name variables
  Staging staging{};
  std::string prefix{};  ///< words that start the ranks of a parallel stage; empty: the scheduler's
  std::string program{};             ///< sabath as compute nodes see it; empty: this one
  std::chrono::seconds warning{60};  ///< SIGTERM comes so long before the job's time is over
  std::chrono::seconds grace{60};    ///< for files that the file system shows late

  bool operator==(const Site&) const = default;
};

/// Reads strictly. `origin` (a path) begins every message; its stem is the name. Throws
/// Error{usage} with all problems.
Site parse_site(std::string_view text, const std::string& origin);
nlohmann::ordered_json to_json(const Site& site);

}  // namespace sabath::spec
