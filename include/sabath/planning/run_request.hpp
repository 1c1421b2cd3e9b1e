#pragma once

#include <sabath/base/file.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/script_recipe.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::planning {

/// Code of another run, which this run shares.
struct OriginalCode {
  spec::CodeState state{};
  std::filesystem::path run_directory{};
};

/// Where a run is executed, and with which variables of a session.
struct Placement {
  /// On other nodes: what fits here says nothing.
  bool elsewhere = false;
  /// Site whose scheduler executes it; empty: this machine does.
  std::string site{};
  std::string scheduler{};  ///< of that site
  std::string batch{};      ///< folder of its batch, from the run's own; or empty
  /// What the run has to itself.
  std::optional<spec::ResourceSlots> slots{};
  /// Variables that choose among ways to compute, instead of those of this process; nothing: those.
  std::optional<std::map<std::string, std::string>> variables{};
  /// Other variables of this process that the run does not inherit. No plan has them or values.
  std::set<std::string> left_out{};
};

/// The run that a run repeats.
struct Repetition {
  std::string run_id{};  ///< empty: it repeats none
  /// Inputs of that run: exactly these bytes. Empty: what the assets are now.
  std::vector<spec::PlannedInput> inputs{};
  std::optional<OriginalCode> original{};
  std::string environment_of{};  ///< run whose recipe and lock give the environment; empty: own
};

/// A run as one of a study.
struct StudyPart {
  std::string id{};  ///< empty: it belongs to none
  std::optional<std::uint64_t> point{};
  /// An earlier run of the same submission, planned a moment ago. While the recipe's folder is the
  /// same, the runs share its archive and what git said.
  std::optional<OriginalCode> sibling{};
  /// Called with the run's id before anything of the run can be found; or empty.
  std::function<void(const std::string& run_id)> announce_id{};
  /// Of what is written: a caller that plans many runs syncs them at once.
  base::Durability durability = base::Durability::durable;
};

/// What a user asked of one run.
struct RunRequest {
  spec::Recipe recipe{};
  /// Name or path that finds the recipe again from any folder. Empty: its name.
  std::string named{};
  std::map<std::string, std::string> set{};  ///< --set NAME=VALUE, as text
  std::optional<std::uint64_t> seed{};       ///< --seed; nothing: one is drawn
  std::vector<std::string> tags{};
  bool fresh = false;        ///< reuse no cached stage
  std::string only_stage{};  ///< this stage and what it needs
  std::string task{};        ///< of the recipe; empty: the stages without one
  /// Inputs that are not here are an error.
  bool offline = false;
  std::string variant{};  ///< of the environment; empty: the site's choice, else the first
  /// Folder of the finished run from which it must not diverge; empty: none.
  std::filesystem::path reference{};
  /// Words of the `sabath` command that asks for the run; empty: those of `run`.
  std::vector<std::string> again{};
  /// The recipe was made of this command; nothing: it is a user's.
  std::optional<spec::DirectCommand> command{};
  Placement placement{};
  Repetition repetition{};
  StudyPart study{};
};

}  // namespace sabath::planning
