#pragma once

#include "attempt_folder.hpp"
#include "journal.hpp"
#include "objects/extents.hpp"
#include "objects/file_status.hpp"
#include "objects/prefix_hasher.hpp"
#include "objects/write_blocks.hpp"

#include <sabath/base/unique_fd.hpp>
#include <sabath/cache/partial.hpp>

#include <filesystem>
#include <vector>

namespace sabath::cache {

/// A complete partial file: read-only, durable, hashed.
struct SealedFile {
  std::filesystem::path path{};
  std::uint64_t size_bytes = 0;
  std::vector<base::Digest> digests{};  ///< sha256 first
  FileStatus status{};                  ///< after the last change
  JournalContent parts{};               ///< sums and sources of all its parts
};

/// A partial object in an attempt's folder: the file `data`, its `journal`, and a folder for each
/// borrower. Only `seal` syncs; an adopting attempt keeps only parts that match their checksum.
class PartialObjectFile final : public PartialObject {
 public:
  /// Adopts the content of the attempt's folder. `wanted` are the digests to compute while bytes
  /// arrive. Throws Error{storage}.
  PartialObjectFile(std::filesystem::path root,
                    Attempt attempt,
                    const std::vector<base::Digest>& wanted);
  ~PartialObjectFile() override;
  PartialObjectFile(const PartialObjectFile&) = delete;
  PartialObjectFile& operator=(const PartialObjectFile&) = delete;

  void reserve(std::uint64_t size_bytes) override;
  std::uint64_t piece_bytes() const override { return journal_.piece_bytes(); }
  unsigned number_of(const base::ByteSource& source) override;
  const std::vector<base::ByteSource>& sources() const override { return journal_.sources(); }
  void write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source = 0) override;
  std::uint64_t contiguous_bytes() const override { return present_.prefix(); }
  std::uint64_t present_bytes() const override { return present_.bytes(); }
  std::vector<base::SourcedRange> present() const override { return present_.list(); }
  void drop(base::ByteRange range) override;
  void restart() override;
  base::DigestMatch matches() override;
  std::vector<base::Digest> digests() override;
  std::filesystem::path lend(std::string_view borrower) override;

  /// Copies the content of a regular file; shares its blocks where the file system can.
  void copy_from(const std::filesystem::path& file);
  /// Copies the parts of `file` that are intact and not present here.
  void take_intact(const std::filesystem::path& file, const JournalContent& parts);
  /// Ends the writing; only `discard` may follow. Throws Error{integrity} when bytes are missing,
  /// Error{storage}; what is there stays for a later attempt.
  SealedFile seal(const std::vector<base::Digest>& expected);
  /// Leaves nothing to a later attempt: it was published, or is useless.
  void discard() noexcept { is_discarded_ = true; }
  const std::filesystem::path& root() const noexcept { return root_; }
  const base::Beneath& beneath() const noexcept { return attempt_.beneath(); }

 private:
  std::filesystem::path data_path() const { return attempt_.folder() / attempt_data; }
  void allocate(std::uint64_t size_bytes);
  /// Runs `write`. When it fails, bytes that did not reach the file are not present.
  template <class Write>
  void writing(Write&& write);
  void store(Block&& block);
  /// Writes all present bytes to the file.
  void flush();
  void forget_bytes(bool forgets_sources);
  void forget(base::ByteRange range);
  void leave();

  std::filesystem::path root_;  ///< of the cache
  Attempt attempt_;
  base::UniqueFd fd_;
  std::vector<base::Digest> wanted_;
  PartJournal journal_;
  Extents present_{};                 ///< in the file or in a block
  Extents written_{};                 ///< in the file
  std::filesystem::path borrowed_{};  ///< where a tool writes; empty: nowhere
  bool is_discarded_ = false;
  BlockPool& pool_ = BlockPool::shared();
  WriteBlocks blocks_;
  PrefixHasher hasher_;  // last: its thread uses the file
};

}  // namespace sabath::cache
