#include "layers/layer_variables.hpp"
#include "layers/locked_layer.hpp"

#include <sabath/env/environment.hpp>
#include <sabath/env/lock_check.hpp>

#include <algorithm>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Why the locks of one variant do not answer; each problem once.
void add_problems(const spec::EnvironmentSpec& variant,
                  const fs::path& recipe_directory,
                  const std::vector<std::unique_ptr<EnvironmentLayer>>& kinds,
                  std::vector<std::string>& problems) {
  const fs::path& folder = variant.lock_folder.empty() ? recipe_directory : variant.lock_folder;
  const std::vector<spec::BuiltLayer> before;
  for (const spec::LayerSpec& wanted : variant.layers) {
    const auto kind =
        std::ranges::find_if(kinds, [&](const auto& one) { return one->kind() == wanted.kind; });
    if (kind == kinds.end() || !(*kind)->is_locked(wanted)) continue;
    const LayerContext context{wanted, recipe_directory, before};
    std::string problem = lock_problem(read_lock_file(folder),
                                       wanted.name,
                                       (*kind)->request_digest(context),
                                       lock_file_of(folder));
    if (problem.empty()) continue;
    problem.insert(0, place_of(wanted.name) + ": ");
    if (std::ranges::find(problems, problem) == problems.end())
      problems.push_back(std::move(problem));
  }
}

}  // namespace

std::vector<std::string> lock_problems(const spec::EnvironmentSpec& spec,
                                       const fs::path& recipe_directory) {
  base::SystemProcessRunner processes;
  const base::SystemClock clock;
  const auto kinds = builtin_layers(processes, clock);
  std::vector<std::string> problems;
  std::vector<std::string> variants = spec.variants;
  if (variants.empty()) variants.emplace_back();
  for (const std::string& variant : variants)
    add_problems(spec.select(variant), recipe_directory, kinds, problems);
  return problems;
}

}  // namespace sabath::env
