#include "layers/layer_variables.hpp"
#include "source_build.hpp"

#include <sabath/spec/recipe.hpp>

namespace sabath::env {

std::vector<std::string> expand_step(const std::vector<std::string>& step,
                                     const std::map<std::string, std::string>& values,
                                     const std::string& place) {
  std::vector<std::string> argv;
  for (const std::string& word : step)
    argv.push_back(spec::expand(word, values, place));
  return argv;
}

std::map<std::string, std::string> build_with_steps(const SourceBuild& build, BuildSteps& steps) {
  const LayerBuild& attempt = build.build;
  const std::map<std::string, std::string> values{{"prefix", attempt.prefix.string()},
                                                  {"source", build.source.string()},
                                                  {"jobs", jobs_of(attempt.limits)}};
  const auto& wanted = attempt.context.spec.steps;
  const std::string count = std::to_string(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string place = place_of(attempt.lock.name) + ": step " + std::to_string(i + 1);
    steps.run("running step " + std::to_string(i + 1) + " of " + count,
              expand_step(wanted[i], values, place),
              build.source);
  }
  return {};
}

}  // namespace sabath::env
