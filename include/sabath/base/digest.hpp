#pragma once

#include <sabath/base/bytes.hpp>

#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

enum class DigestAlgorithm { sha256, sha512, sha1, md5 };

std::string_view to_string(DigestAlgorithm algorithm);
std::optional<DigestAlgorithm> digest_algorithm(std::string_view name);

/// A digest as lower-case hexadecimal text of the algorithm's length.
struct Digest {
  DigestAlgorithm algorithm = DigestAlgorithm::sha256;
  std::string hex{};

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 behind <=> for a pointer
  auto operator<=>(const Digest&) const = default;
  /// "sha256:<hex>", the form that files and messages use.
  std::string text() const;
};

/// Reads "sha256:<hex>" or bare hex of 64 digits (sha256), in lower or upper case. Returns nothing
/// if malformed.
std::optional<Digest> parse_digest(std::string_view text);

/// The same for a known algorithm and bare hexadecimal digits.
std::optional<Digest> parse_digest(DigestAlgorithm algorithm, std::string_view hex);

/// Computes the digest of one stream. Thread safety: one thread at a time.
class Hasher {  // NOLINT: move-only, copies are deleted implicitly
 public:
  explicit Hasher(DigestAlgorithm algorithm = DigestAlgorithm::sha256);
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void update(ByteView bytes);
  void update(std::string_view text) { update(as_bytes(text)); }
  /// Returns a hasher that has seen the same bytes.
  Hasher copy() const;
  /// Ends the stream; the object may then only be destroyed or assigned to.
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest sha256_of(std::string_view text);

/// Reads the whole file and calls `report`, if set, after each mebibyte with the bytes read so far.
/// Throws Error{not_found|storage}, and what `report` throws.
Digest digest_file(const std::filesystem::path& path,
                   DigestAlgorithm algorithm = DigestAlgorithm::sha256,
                   const std::function<void(std::uint64_t bytes)>& report = {});

}  // namespace sabath::base
