#include "digester.hpp"

#include "read_range.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>

namespace sabath::cache {

Digester::Digester(const std::vector<base::Digest>& wanted)
    : algorithms_{base::DigestAlgorithm::sha256} {
  for (const base::Digest& digest : wanted) {
    if (!computes(digest.algorithm)) algorithms_.push_back(digest.algorithm);
  }
  restart();
}

Digester::Digester(const Digester& other) : algorithms_(other.algorithms_), bytes_(other.bytes_) {
  for (const base::Hasher& hasher : other.hashers_)
    hashers_.push_back(hasher.copy());
}

Digester& Digester::operator=(const Digester& other) {
  if (this != &other) *this = Digester(other);
  return *this;
}

bool Digester::computes(base::DigestAlgorithm algorithm) const {
  return std::ranges::find(algorithms_, algorithm) != algorithms_.end();
}

void Digester::update(base::ByteView bytes) {
  for (base::Hasher& hasher : hashers_)
    hasher.update(bytes);
  bytes_ += bytes.size();
}

void Digester::restart() {
  hashers_.clear();
  for (const base::DigestAlgorithm algorithm : algorithms_)
    hashers_.emplace_back(algorithm);
  bytes_ = 0;
}

std::vector<base::Digest> Digester::finish() {
  std::vector<base::Digest> digests;
  for (base::Hasher& hasher : hashers_)
    digests.push_back(hasher.finish());
  return digests;
}

std::vector<base::Digest> digests_of(
    int fd,
    const std::filesystem::path& path,
    std::uint64_t size_bytes,
    const std::vector<base::Digest>& wanted,
    const std::function<void(std::uint64_t, base::ByteView)>& take) {
  Digester digester(wanted);
  std::vector<std::byte> buffer;
  read_range(fd, path, {0, size_bytes}, buffer, [&](base::ByteView bytes) {
    if (take) take(digester.bytes(), bytes);
    digester.update(bytes);
  });
  if (digester.bytes() != size_bytes) {
    throw base::Error(base::ErrorKind::storage, path.string() + ": changes while it is read");
  }
  return digester.finish();
}

}  // namespace sabath::cache
