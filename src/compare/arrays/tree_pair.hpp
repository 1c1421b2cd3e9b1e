#pragma once

#include "finding.hpp"
#include "tolerance.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/spec/output_trees.hpp>

#include <string>

namespace sabath::compare {

/// Two outputs whose values are gone, by what their trees say: arrays that are equal to the bit,
/// and of others which chunks differ, and whether the tolerance holds all the same. What digests
/// cannot tell is `undecided`.
Findings compare_trees(const std::string& name,
                       const spec::OutputTrees& a,
                       const spec::OutputTrees& b,
                       const SaidTolerance& recipe,
                       const spec::Tolerance& asked);

/// Which chunks of an array are equal, so that they need not be read.
class EqualChunks {
 public:
  /// Nothing is equal where there is no tree, or they are not of one kind.
  EqualChunks() = default;
  EqualChunks(const spec::OutputTrees* a, const spec::OutputTrees* b, const base::ArrayInfo& array);

  /// How many elements from `first`, where a chunk begins, are known to be equal, and how many of
  /// them are NaN.
  struct Stretch {
    std::uint64_t elements = 0;
    std::uint64_t nans = 0;
  };
  Stretch from(std::uint64_t first) const;
  /// Elements from `first` to where the next chunk begins; all where there are none.
  std::uint64_t to_boundary(std::uint64_t first) const;

 private:
  const spec::ArrayTree* a_ = nullptr;
  const spec::ArrayTree* b_ = nullptr;
  std::uint64_t elements_ = 0;
};

}  // namespace sabath::compare
