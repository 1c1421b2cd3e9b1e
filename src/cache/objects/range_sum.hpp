#pragma once

#include <sabath/base/bytes.hpp>
#include <sabath/base/staged_file.hpp>

#include <xxhash.h>

#include <cstdint>
#include <memory>

namespace sabath::cache {

/// A part of a file with the fast checksum (XXH3, 64 bits) that tells whether the disk still has
/// it; against malice it proves nothing.
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

}  // namespace sabath::cache
