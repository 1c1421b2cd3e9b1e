#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/events/stop_condition.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/output_rule.hpp>
#include <sabath/spec/parameter.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

struct RunRecord;

/// What a stage wants of a machine. Zero cores or bytes mean "not said"; that it wants one node,
/// one task or no GPU can be said, and is then not a site's to decide.
struct Resources {
  std::optional<int> nodes{};  ///< unsaid: one
  std::optional<int> tasks{};  ///< unsaid: one
  int cpus = 0;                ///< of a task
  std::optional<int> gpus{};   ///< on each node; unsaid: none
  std::uint64_t memory_bytes = 0;
  std::optional<std::chrono::seconds> time{};     ///< wall limit of the stage
  std::optional<std::chrono::seconds> silence{};  ///< limit of wall time without any output
  std::optional<std::chrono::seconds> grace{};    ///< from SIGTERM to SIGKILL; unsaid: as it comes

  bool operator==(const Resources&) const = default;
};

/// Values by the name of their parameter.
using ValueLists = std::map<std::string, std::vector<ParameterValue>>;

/// Which failures of a stage may pass by themselves. What is not named here is not tried again.
struct Retry {
  int times = 0;                       ///< more tries, at most
  std::chrono::seconds pause{};        ///< before each of them
  std::vector<int> exit_codes{};       ///< 1 to 255
  std::vector<std::string> signals{};  ///< "SIGBUS"
  std::vector<std::string> limits{};   ///< "time", "silence": that it ran past
  std::vector<std::string> logs{};     ///< patterns (base::Regex), over the ends of both logs

  bool operator==(const Retry&) const = default;
};

struct Stage {
  std::string name{};
  std::vector<std::string> needs{};
  std::string task{};  ///< "infer": runs only when that is asked for, or needed; empty: always
  bool cache = false;
  std::vector<std::string>
      run{};           ///< argument vector with placeholders; {"/bin/sh","-c",text} for `shell`
  bool shell = false;  ///< the document said {"shell": "..."}
  std::vector<std::string> outputs{};  ///< relative to the stage's output folder
  Resources resources{};
  bool copy_code = false;  ///< "code": "copy": {code} is a private copy that may be edited
  /// The stage is due where each of these parameters has one of its values; empty: always.
  ValueLists when{};
  std::optional<Retry> retry{};
  std::string variant{};  ///< of the recipe's environment; empty: the run's own
  std::map<std::string, std::string> variables{};  ///< for this stage alone, with placeholders
  std::string parallel{};  ///< what starts its ranks: "auto", "srun" ...; empty: nothing, it is one
  bool checkpoint = false;  ///< another attempt continues with the outputs of the one before

  bool operator==(const Stage&) const = default;
};

/// Which runs belong together: every combination of the matrix with every tuple of `zip`, without
/// what is excluded, each with every seed and so often.
struct Study {
  ValueLists matrix{};
  ValueLists zip{};                    ///< lists of one length: the first of each, the second ...
  std::vector<ValueLists> exclude{};   ///< points that have one of the values of each name
  std::vector<std::uint64_t> seeds{};  ///< empty: as the command says, else each run draws its own
  int repeat = 1;

  bool operator==(const Study&) const = default;
};

/// An asset that a role has where each of these parameters has one of its values; empty: always.
struct DatasetChoice {
  std::string asset{};
  ValueLists when{};

  bool operator==(const DatasetChoice&) const = default;
};

/// The file from which the benchmark itself reads its parameters.
struct ParameterFile {
  std::string file{};                         ///< in the recipe's folder, with usual values
  std::string format{};                       ///< "ini", "yaml" or "json"
  std::map<std::string, std::string> keys{};  ///< parameter -> "section/key"

  bool operator==(const ParameterFile&) const = default;
};

/// A runnable benchmark, as its document says.
struct Recipe {
  std::string name{};
  std::string description{};
  std::string model{};
  std::map<std::string, std::vector<DatasetChoice>> datasets{};  ///< role -> the first that fits
  EnvironmentSpec environment{};
  std::vector<Parameter> parameters{};  ///< in document order
  std::optional<ParameterFile> parameter_file{};
  std::vector<std::string> fixed{};
  std::vector<std::string> seed_environment{};  ///< variables that carry the seed
  bool deterministic = false;
  std::vector<Stage> stages{};  ///< in document order
  std::vector<MetricSpec> metrics{};
  std::optional<Rung> require{};
  std::map<std::string, OutputRule> compare{};  ///< output path -> rule
  std::map<std::string, Study> studies{};
  std::map<std::string, StopCondition> stop_if{};  ///< by metric; all are declared

  std::string text{};                 ///< the document as it was read
  std::filesystem::path directory{};  ///< where it lies; set when it is loaded

  bool operator==(const Recipe&) const = default;
  const Parameter* parameter(std::string_view name) const;
  const Stage* stage(std::string_view name) const;
  /// Digest of the document's bytes.
  base::Digest digest() const;
  /// Digest of what defines the benchmark: name, model, data sets, fixed parts (parameters with
  /// default), parameters' names and types, stages without resources. Texts, tolerances, other
  /// defaults, ranges and studies are left out (docs/formats/recipe.md). Runs compare only within
  /// one definition. A role counts with the asset that it has for `values`.
  base::Digest definition_digest(const ParameterValues& values) const;
  /// The same of the document alone, with all choices of data sets.
  base::Digest definition_digest() const;
  /// Role -> asset for these values; a role without a choice that fits is left out.
  std::map<std::string, std::string> datasets_for(const ParameterValues& values) const;
};

/// The definition of the document that a run kept, whatever data sets the run chose of it; that of
/// the record where the document cannot be read.
base::Digest document_definition(const RunRecord& record);

/// Reads a recipe document strictly: problems of shape, references between its parts (needs,
/// outputs, studies), cycles, and unknown placeholders are all reported at once as Error{usage}.
Recipe parse_recipe(std::string_view text, const std::string& origin);

/// Stages in an order in which every stage comes after those it needs; only `wanted` and its needs
/// when given. Throws Error{not_found} for an unknown name.
std::vector<const Stage*> ordered_stages(const Recipe& recipe, std::string_view wanted = {});

/// The tasks of a recipe's stages, in document order, each once; "" is none of them.
std::vector<std::string> tasks_of(const Recipe& recipe);
/// The same order for the stages of a task and what they need; of those without a task where it is
/// empty. Throws Error{not_found} for an unknown task, Error{usage} where all stages have one and
/// none is asked for.
std::vector<const Stage*> stages_of_task(const Recipe& recipe, std::string_view task);

/// Why a stage has nothing to do where the parameters have these values; nothing: it is due.
std::optional<std::string> why_not_due(const Stage& stage, const ParameterValues& values);
/// Variables that stages set, by their variant ("": the run's), as known before a run:
/// `{param.NAME}` is the default. Of several stages the first counts.
std::map<std::string, std::map<std::string, std::string>> known_stage_variables(
    const Recipe& recipe);
/// The placeholders that a stage names, in its arguments and its variables.
std::vector<std::string> names_in(const Stage& stage);
/// Throws Error{usage} where one of `stages` that is due uses the outputs of one that is not, where
/// none is due, or not the one that is `wanted`.
void check_due(const Recipe& recipe,
               const std::vector<const Stage*>& stages,
               const ParameterValues& values,
               std::string_view wanted = {});

/// A placeholder that stands in a template: "param.epochs" of "--n={param.epochs}".
std::vector<std::string> placeholders_of(std::string_view text);
/// Replaces placeholders by `values`; "{{" and "}}" become braces. Throws Error{usage} for an
/// unknown one, with the nearest known one as hint; `place` begins the message.
std::string expand(std::string_view text,
                   const std::map<std::string, std::string>& values,
                   const std::string& place);

}  // namespace sabath::spec
