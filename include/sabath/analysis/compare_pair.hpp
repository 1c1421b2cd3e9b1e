#pragma once

#include <sabath/compare/compare_runs.hpp>
#include <sabath/spec/comparison.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace sabath::analysis {

/// A finished run, read once for all that it is compared with: its outputs are checked against
/// their digests before they are believed. Throws Error{not_found} when its directory, its record
/// or an output is gone, Error{integrity} when one was changed.
class CheckedRun {
 public:
  explicit CheckedRun(const std::filesystem::path& directory);

  struct Loaded;
  const Loaded& loaded() const noexcept { return *loaded_; }

 private:
  std::shared_ptr<const Loaded> loaded_;
};

/// Reads two finished runs and compares them. Outputs are checked against their digests before they
/// are believed. Throws Error{not_found} when a run directory, a record or an output is gone,
/// Error{integrity} when one was changed.
///
/// `perturbed` are reruns of one of the two, the reference: where `options.reference` does not say
/// which, it is the one in less of which the reruns differ. Throws Error{usage} where that is
/// neither, for a reference that is perturbed, for a rerun that is not perturbed or differs from
/// the reference in anything else, and for fewer than three perturbations.
spec::Comparison compare_pair(const std::filesystem::path& run_a,
                              const std::filesystem::path& run_b,
                              compare::Options options,
                              const std::vector<std::filesystem::path>& perturbed = {});
spec::Comparison compare_pair(const CheckedRun& run_a,
                              const CheckedRun& run_b,
                              compare::Options options,
                              const std::vector<std::filesystem::path>& perturbed = {});

}  // namespace sabath::analysis
