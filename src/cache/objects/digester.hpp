#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <vector>

namespace sabath::cache {

/// Several digests of one stream; sha256 is always the first. A copy has seen the same bytes.
class Digester {
 public:
  explicit Digester(const std::vector<base::Digest>& wanted);
  ~Digester() = default;
  Digester(const Digester& other);
  Digester& operator=(const Digester& other);
  Digester(Digester&&) noexcept = default;
  Digester& operator=(Digester&&) noexcept = default;

  bool computes(base::DigestAlgorithm algorithm) const;
  void update(base::ByteView bytes);
  std::uint64_t bytes() const noexcept { return bytes_; }
  /// Begins the stream again.
  void restart();
  /// Ends the stream; only `restart` may follow.
  std::vector<base::Digest> finish();

 private:
  std::vector<base::DigestAlgorithm> algorithms_;
  std::vector<base::Hasher> hashers_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sabath::cache
