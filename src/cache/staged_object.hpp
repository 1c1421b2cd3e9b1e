#pragma once

#include "attempt.hpp"
#include "digester.hpp"
#include "extents.hpp"

#include <sabath/base/unique_fd.hpp>
#include <sabath/cache/cache.hpp>

#include <filesystem>
#include <vector>

namespace sabath::cache {

/// A staged file that is complete: read-only, durable, hashed.
struct SealedFile {
  std::filesystem::path path{};
  std::uint64_t size_bytes = 0;
  std::vector<base::Digest> digests{};  ///< sha256 first
};

/// The file `data` in an attempt's folder. Bytes that arrive in order are hashed at once. As long
/// as the file may have gaps, or a tool writes to it, a marker beside it keeps it from being
/// adopted.
class StagedObject final : public Staging {
 public:
  /// `wanted` are the digests that will be asked for. Adopts the bytes that the attempt's folder
  /// has, hashing them. Throws Error{storage}.
  StagedObject(std::filesystem::path root,
               Attempt attempt,
               const std::vector<base::Digest>& wanted);
  ~StagedObject() override;
  StagedObject(const StagedObject&) = delete;
  StagedObject& operator=(const StagedObject&) = delete;

  void reserve(std::uint64_t size_bytes) override;
  void write_at(std::uint64_t offset_bytes, base::ByteView bytes) override;
  std::uint64_t contiguous_bytes() const override;
  void restart() override;
  std::filesystem::path path() const override;

  /// Takes over the content of a regular file; shares its blocks where the file system can.
  void copy_from(const std::filesystem::path& file);
  /// Ends the writing; nothing may be called afterwards. Throws Error{integrity} when bytes are
  /// missing between others, Error{storage}.
  SealedFile seal(const std::vector<base::Digest>& expected);

  const std::filesystem::path& root() const noexcept { return root_; }

 private:
  std::filesystem::path data_path() const;
  void hash_up_to(std::uint64_t end_bytes);
  void mark_unordered() const;

  std::filesystem::path root_;  ///< of the cache
  Attempt attempt_;
  base::UniqueFd fd_;
  Digester digester_;  ///< has seen the first digester_.bytes() bytes
  Extents extents_;
  bool is_sealed_ = false;
  mutable bool is_unordered_ = false;  ///< the marker is there
  mutable bool is_lent_ = false;       ///< somebody has the path and may have written
};

/// How much of an orphaned attempt's file can be adopted: 0 when it may have gaps.
std::uint64_t adoptable_bytes(const Attempt& attempt);

}  // namespace sabath::cache
