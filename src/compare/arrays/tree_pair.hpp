#pragma once

#include "finding.hpp"
#include "tolerance.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/spec/output_trees.hpp>

#include <string>

namespace sabath::compare {

/// Compares two outputs whose values are gone by their trees of digests. Finds arrays that are
/// equal to the bit. Of others it lists the chunks that differ and says whether the tolerance still
/// holds. What digests cannot show is `undecided`.
Findings compare_trees(const std::string& name,
                       const spec::OutputTrees& a,
                       const spec::OutputTrees& b,
                       const SaidTolerance& recipe,
                       const spec::Tolerance& asked);

/// Chunks of an array that are equal, so that they need not be read.
class EqualChunks {
 public:
  /// Without a tree, or with trees of different kinds, no chunk is equal.
  EqualChunks() = default;
  EqualChunks(const spec::OutputTrees* a, const spec::OutputTrees* b, const base::ArrayInfo& array);

  /// Elements from `first`, where a chunk begins, that are equal; `nans` of them are NaN.
  struct Stretch {
    std::uint64_t elements = 0;
    std::uint64_t nans = 0;
  };
  Stretch from(std::uint64_t first) const;
  /// Elements from `first` to the begin of the next chunk; all without chunks.
  std::uint64_t to_boundary(std::uint64_t first) const;

 private:
  const spec::ArrayTree* a_ = nullptr;
  const spec::ArrayTree* b_ = nullptr;
  std::uint64_t elements_ = 0;
};

}  // namespace sabath::compare
