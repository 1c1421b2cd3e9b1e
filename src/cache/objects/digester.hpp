#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace sabath::cache {

/// Several digests of one stream, sha256 first. A copy has the same state.
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

/// Digests of the first `size_bytes` of an open file, sha256 first. `take` gets the same bytes with
/// their offset. Throws Error{storage}, also where the file is shorter.
std::vector<base::Digest> digests_of(
    int fd,
    const std::filesystem::path& path,
    std::uint64_t size_bytes,
    const std::vector<base::Digest>& wanted,
    const std::function<void(std::uint64_t, base::ByteView)>& take = {});

}  // namespace sabath::cache
