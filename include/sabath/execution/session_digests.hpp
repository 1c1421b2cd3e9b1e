#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <string>

namespace sabath::execution {

/// The variables of `environment` (that of `exec`) that reach a stage, with digests of their values
/// that are keyed by the home: not what sabath sets, not what layers and recipes replace, and
/// nothing of stages in containers. Without a key, names alone.
spec::Facet session_digests(const spec::RunPlan& plan, const base::Environment& environment);

/// The value of such a variable in the facet; empty where the home has no key.
std::string session_digest(const std::filesystem::path& state_directory,
                           const std::string& name,
                           const std::string& value);

}  // namespace sabath::execution
