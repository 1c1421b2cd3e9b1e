#pragma once

#include <sabath/compare/compare_runs.hpp>
#include <sabath/spec/comparison.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace sabath::analysis {

/// A finished run, read once for several comparisons. Its outputs are checked against their
/// digests. Throws Error{not_found} when its directory, its record or an output is gone,
/// Error{integrity} when one was changed.
class CheckedRun {
 public:
  explicit CheckedRun(const std::filesystem::path& directory);

  struct Loaded;
  const Loaded& loaded() const noexcept { return *loaded_; }

 private:
  std::shared_ptr<const Loaded> loaded_;
};

/// Reads and compares two finished runs. Outputs are checked against their digests. Throws
/// Error{not_found} when a run directory, a record or an output is gone, Error{integrity} when one
/// was changed.
///
/// `perturbed` are reruns of the reference. Without `options.reference` the reference is the run
/// from which the reruns differ less. Throws Error{usage} where neither run is the reference, where
/// the reference is perturbed, and for fewer than three perturbations. Also for a rerun that is not
/// perturbed, or differs from the reference in anything else.
spec::Comparison compare_pair(const std::filesystem::path& run_a,
                              const std::filesystem::path& run_b,
                              compare::Options options,
                              const std::vector<std::filesystem::path>& perturbed = {});
spec::Comparison compare_pair(const CheckedRun& run_a,
                              const CheckedRun& run_b,
                              compare::Options options,
                              const std::vector<std::filesystem::path>& perturbed = {});

}  // namespace sabath::analysis
