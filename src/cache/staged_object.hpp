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
  std::uint64_t piece_bytes() const override;
  unsigned number_of(const base::ByteSource& source) override;
  const std::vector<base::ByteSource>& sources() const override { return sources_; }
  void write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source = 0) override;
  std::uint64_t contiguous_bytes() const override;
  std::uint64_t present_bytes() const override;
  std::vector<base::SourcedRange> present() const override;
  void drop(base::ByteRange range) override;
  void restart() override;
  base::DigestMatch matches() override;
  std::filesystem::path lend(std::string_view borrower) override;

  /// Takes over the content of a regular file; shares its blocks where the file system can.
  void copy_from(const std::filesystem::path& file);
  /// Ends the writing; nothing may be called afterwards. Throws Error{integrity} when bytes are
  /// missing between others, Error{storage}.
  SealedFile seal(const std::vector<base::Digest>& expected);

  const std::filesystem::path& root() const noexcept { return root_; }

 private:
  std::filesystem::path data_path() const;
  void hash_up_to(std::uint64_t end_bytes);
  void mark_unordered();

  std::filesystem::path root_;  ///< of the cache
  Attempt attempt_;
  base::UniqueFd fd_;
  std::vector<base::Digest> wanted_;
  Digester digester_;  ///< has seen the first digester_.bytes() bytes
  Extents extents_;
  bool is_sealed_ = false;
  std::vector<base::ByteSource> sources_{};
  bool is_unordered_ = false;  ///< the marker is there
  bool is_lent_ = false;       ///< somebody has the path and may have written
};

/// How much of an orphaned attempt's file can be adopted: 0 when it may have gaps.
std::uint64_t adoptable_bytes(const Attempt& attempt);

}  // namespace sabath::cache
