#include "stage_key.hpp"

#include "keep_outputs.hpp"
#include "stage_reads.hpp"

#include <sabath/planning/stage_surroundings.hpp>
#include <sabath/planning/stage_template.hpp>

#include <map>
#include <vector>

namespace sabath::execution {

namespace fs = std::filesystem;

StageKey stage_key(const StageContext& context, const StageTry& one) {
  const spec::PlannedStage& stage = one.stage;
  const MadeOutputs& made = one.made;
  spec::Facet preimage{"stage", stage.key_items};
  preimage.items["form"] = "sabath-stage/3";
  const base::Environment inherited = planning::inherited_by(stage, base::current_environment());
  planning::StageSurroundings surroundings(
      context.plan, context.files.directory(), inherited, context.observer);
  for (const auto& [need, sees_folder] : used_by(stage, made)) {
    const auto outputs = made.find(need);
    if (outputs == made.end()) continue;
    std::vector<std::string> declared;
    for (const spec::OutputRecord& output : outputs->second) {
      const fs::path file = context.files.outputs(need) / output.path;
      declared.push_back(output.path);
      // A later stage may have written to it.
      const bool is_as_made = !output.is_outdated() && !is_changed(file, context.stamps);
      preimage.items["stage." + need + "/" + output.path] =
          is_as_made ? output.digest.text() : surroundings.digest_of(file, one.stop);
    }
    const std::string others =
        sees_folder ? undeclared_in(context.files.outputs(need), declared) : std::string();
    if (!others.empty())
      return {{}, "it may read what stage " + need + " leaves but does not declare: " + others};
  }
  preimage.items.merge(surroundings.key_items(stage, one.stop));
  return {preimage.digest().hex, {}};
}

}  // namespace sabath::execution
