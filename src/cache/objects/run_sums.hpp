#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/partial_file.hpp>

#include <xxhash.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace sabath::cache {

/// A part of a file with a fast checksum (XXH3, 64 bits), which detects disk faults but not malice.
struct RangeSum {
  base::ByteRange range{};
  unsigned source = 0;
  std::uint64_t sum = 0;

  bool operator==(const RangeSum&) const = default;
};

/// The checksum of a stream.
class Summer {
 public:
  Summer() : state_(XXH3_createState(), XXH3_freeState) { XXH3_64bits_reset(state_.get()); }

  void update(base::ByteView bytes) {
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  }
  std::uint64_t sum() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

/// Checksums of bytes that are being written. A run is bytes in order, from one source, within one
/// piece; its sum grows with it. It is finished at the end of its piece, or when it is closed.
class RunSums {
 public:
  /// Adds bytes that are in no run yet. Appends runs that this finishes to `finished`.
  void add(std::uint64_t offset_bytes,
           base::ByteView bytes,
           unsigned source,
           std::uint64_t piece_bytes,
           std::vector<RangeSum>& finished);
  void add_finished(const RangeSum& run) { finished_[run.range.begin] = run; }
  /// Finishes the run that ends there, if there is one.
  void close_at(std::uint64_t end_bytes, std::vector<RangeSum>& finished);
  void close_all(std::vector<RangeSum>& finished);
  /// Forgets every run with a byte of the range.
  void forget(base::ByteRange range);
  /// Returns the finished runs, sorted.
  std::vector<RangeSum> finished() const;
  /// Returns the ranges of `present` outside finished runs, in parts of one source and one piece.
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
