#pragma once

#include <sabath/base/file.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>

namespace sabath::planning {

/// Turns the stages of a recipe into planned ones: replaces placeholders, and decides each
/// environment.
class StageTemplate {
 public:
  /// `plan` has everything but its stages. `run_directory` is where the run will be. A stop request
  /// ends the digest of the recipe's folder with Error{interrupted}.
  StageTemplate(const spec::Recipe& recipe,
                const spec::RunPlan& plan,
                const std::filesystem::path& run_directory,
                std::stop_token stop = {});

  spec::PlannedStage resolve(const spec::Stage& stage) const;
  /// Returns what identifies the code of a run: the definition of the benchmark and the files
  /// beside it.
  const std::map<std::string, std::string>& code_items() const { return code_; }

 private:
  const std::string& recipe_digest() const;
  std::map<std::string, std::string> values_for(const spec::Stage& stage,
                                                const spec::PlannedStage& planned) const;
  std::map<std::string, std::string> variables_for(const spec::Stage& stage) const;
  std::map<std::string, std::string> key_items_for(const spec::Stage& stage,
                                                   const spec::PlannedStage& planned) const;

  const spec::Recipe& recipe_;
  const spec::RunPlan& plan_;
  std::filesystem::path run_directory_;
  std::stop_token stop_;
  std::map<std::string, std::string> code_;
  mutable std::string recipe_digest_{};  ///< of its folder, once it was asked for
};

/// Variables that the recipe sets for a stage in place of the session's; placeholders stay.
std::map<std::string, std::string> recipe_variables(const spec::Recipe& recipe,
                                                    const spec::Stage& stage);

void write_plan(const std::filesystem::path& file,
                const spec::RunPlan& plan,
                base::Durability durability = base::Durability::durable);
/// Writes the parameters that a stage may see as a JSON object.
void write_parameters(const std::filesystem::path& file, const spec::ParameterValues& parameters);
/// Returns one line for an argument vector in a digest.
std::string canonical_list(const std::vector<std::string>& items);

}  // namespace sabath::planning
