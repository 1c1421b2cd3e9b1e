#pragma once

#include <sabath/compare/compare_runs.hpp>
#include <sabath/spec/comparison.hpp>

#include <filesystem>

namespace sabath::app {

/// Reads two finished runs and compares them. Outputs are checked against their digests before they
/// are believed. Throws Error{not_found} when a run directory, a record or an output is gone,
/// Error{integrity} when one was changed.
spec::Comparison compare_pair(const std::filesystem::path& run_a,
                              const std::filesystem::path& run_b,
                              const compare::Options& options);

}  // namespace sabath::app
