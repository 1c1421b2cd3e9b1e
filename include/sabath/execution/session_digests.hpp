#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/run_plan.hpp>

#include <filesystem>
#include <string>

namespace sabath::execution {

/// Returns the variables of `environment` (that of `exec`) that reach a stage, with digests of
/// their values keyed by the home. Without what sabath sets, what layers and recipes replace, and
/// stages in containers. Without a key, names alone.
spec::Facet session_digests(const spec::RunPlan& plan, const base::Environment& environment);

/// Returns the value of such a variable in the facet; empty where the home has no key.
std::string session_digest(const std::filesystem::path& state_directory,
                           const std::string& name,
                           const std::string& value);

}  // namespace sabath::execution
