#pragma once

#include "range_sum.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace sabath::cache {

/// Checksums of what is being written. Bytes that arrive in order, from one source and within one
/// piece, are one run, summed as it grows; a run is finished when it reaches the end of its piece
/// or is closed.
class RunSums {
 public:
  /// Appends the runs that were finished by this to `finished`. No byte of it may be in a run.
  void add(std::uint64_t offset_bytes,
           base::ByteView bytes,
           unsigned source,
           std::uint64_t piece_bytes,
           std::vector<RangeSum>& finished);
  /// A run that is finished already.
  void add_finished(const RangeSum& run) { finished_[run.range.begin] = run; }
  /// Finishes the run that ends there, if there is one.
  void close_at(std::uint64_t end_bytes, std::vector<RangeSum>& finished);
  void close_all(std::vector<RangeSum>& finished);
  /// Forgets every run that has a byte of the range.
  void forget(base::ByteRange range);
  /// All that are finished, sorted.
  std::vector<RangeSum> finished() const;
  /// What no finished run has of `present`, in parts of one source within one piece.
  std::vector<base::SourcedRange> lacking(const std::vector<base::SourcedRange>& present,
                                          std::uint64_t piece_bytes) const;

 private:
  struct Run {
    std::uint64_t begin = 0;
    unsigned source = 0;
    Summer summer{};
  };
  using OpenRuns = std::map<std::uint64_t, Run>;

  void close(OpenRuns::iterator run, std::vector<RangeSum>& finished);

  OpenRuns open_{};                               ///< by end
  std::map<std::uint64_t, RangeSum> finished_{};  ///< by begin
};

}  // namespace sabath::cache
