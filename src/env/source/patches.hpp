#pragma once

#include "build_steps.hpp"

#include <sabath/base/digest.hpp>

#include <filesystem>
#include <vector>

namespace sabath::env {

/// A change to a source, as `diff -u` or git writes it.
struct Patch {
  std::filesystem::path file{};
  base::Digest digest{};
};

/// Those that the layer names, which lie in the recipe's folder. Throws Error{not_found|usage}.
std::vector<Patch> read_patches(const LayerContext& context);

/// Applies all of `patches`, which lie in no repository of git, in their order beneath `source`.
/// Nothing is applied in part or nearby where the lines around do not fit. Throws
/// Error{environment} that names file and line of what does not.
void apply_patches(const LayerBuild& build,
                   const std::vector<Patch>& patches,
                   const std::filesystem::path& source,
                   base::ProcessRunner& processes);

}  // namespace sabath::env
