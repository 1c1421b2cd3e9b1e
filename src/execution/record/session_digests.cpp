#include <sabath/base/keyed_digest.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/execution/session_digests.hpp>
#include <sabath/planning/stage_surroundings.hpp>
#include <sabath/spec/session_variables.hpp>

namespace sabath::execution {
namespace {

using base::KeyedDigest;

std::optional<KeyedDigest> digests_of_home(const std::filesystem::path& state_directory) {
  return KeyedDigest::with_key_in(state_directory / "session-key");
}

/// As long as a SHA-256, which nobody takes for a secret.
std::string keyed_value(const KeyedDigest& digests,
                        const std::string& name,
                        const std::string& value) {
  const std::string digest = digests.of(name + "=" + value);
  return digests.key_name().substr(0, spec::key_name_digits) + digest.substr(spec::key_name_digits);
}

}  // namespace

spec::Facet session_digests(const spec::RunPlan& plan, const base::Environment& environment) {
  spec::Facet facet{std::string(spec::session_facet), {}};
  const auto digests = digests_of_home(plan.state_directory);
  for (const spec::PlannedStage& stage : plan.stages) {
    const spec::BuiltEnvironment& own = plan.environment_of(stage);
    if (stage.not_due || env::container_of(own) != nullptr) continue;
    const base::Environment inherited = planning::inherited_by(stage, environment);
    const base::Environment seen = env::run_variables(own, inherited);
    for (const auto& [name, value] : inherited) {
      const auto found = seen.find(name);
      // A layer may put something before the value, or replace it.
      if (found == seen.end() || found->second.find(value) == std::string::npos) continue;
      if (stage.environment.contains(name)) continue;
      const auto [item, is_new] = facet.items.try_emplace(base::printable(name));
      if (is_new && digests) item->second = keyed_value(*digests, name, value);
    }
  }
  return facet;
}

std::string session_digest(const std::filesystem::path& state_directory,
                           const std::string& name,
                           const std::string& value) {
  const auto digests = digests_of_home(state_directory);
  return digests ? keyed_value(*digests, name, value) : std::string();
}

}  // namespace sabath::execution
