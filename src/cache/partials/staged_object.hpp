#pragma once

#include "attempt.hpp"
#include "journal.hpp"
#include "objects/extents.hpp"
#include "objects/file_status.hpp"
#include "objects/prefix_hasher.hpp"
#include "objects/run_sums.hpp"
#include "objects/write_blocks.hpp"

#include <sabath/base/unique_fd.hpp>
#include <sabath/cache/cache.hpp>

#include <filesystem>
#include <optional>
#include <vector>

namespace sabath::cache {

/// A staged file that is complete: read-only, durable, hashed.
struct SealedFile {
  std::filesystem::path path{};
  std::uint64_t size_bytes = 0;
  std::vector<base::Digest> digests{};  ///< sha256 first
  FileStatus status{};                  ///< after the last change
  JournalContent parts{};               ///< sums of all its parts and where they came from
};

/// In an attempt's folder: the file `data`, with a `journal` of what it has, and a folder for each
/// borrower. Nothing is synced before the end; who adopts the folder believes only what has its
/// checksum.
class StagedObject final : public Staging {
 public:
  /// `wanted` are the digests that will be asked for. Adopts what the attempt's folder has. Throws
  /// Error{storage}.
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
  std::uint64_t contiguous_bytes() const override { return present_.prefix(); }
  std::uint64_t present_bytes() const override { return present_.bytes(); }
  std::vector<base::SourcedRange> present() const override { return present_.list(); }
  void drop(base::ByteRange range) override;
  void restart() override;
  base::DigestMatch matches() override;
  std::vector<base::Digest> digests() override;
  std::filesystem::path lend(std::string_view borrower) override;

  /// Takes over the content of a regular file; shares its blocks where the file system can.
  void copy_from(const std::filesystem::path& file);
  /// Takes what `file` still has of these parts and this does not have yet.
  void take_intact(const std::filesystem::path& file, const JournalContent& parts);
  /// Ends the writing; only `discard` may be called afterwards. Throws Error{integrity} when bytes
  /// are missing, Error{storage}; what is there stays for a later attempt.
  SealedFile seal(const std::vector<base::Digest>& expected);
  /// It was published, or is worth nothing: nothing stays for a later attempt.
  void discard() noexcept { is_discarded_ = true; }

  const std::filesystem::path& root() const noexcept { return root_; }
  const base::Beneath& beneath() const noexcept { return attempt_.beneath(); }

 private:
  StagedObject(std::filesystem::path root,
               Attempt&& attempt,
               const std::vector<base::Digest>& wanted,
               const JournalContent& adopted);

  std::filesystem::path data_path() const;
  void allocate(std::uint64_t size_bytes);
  /// Runs `write`; when it fails, what did not get into the file was never present.
  template <class Write>
  void writing(Write&& write);
  void store(Block&& block);
  void put(std::uint64_t offset_bytes, base::ByteView bytes);
  /// From here on all that is present is in the file.
  void flush();
  /// Keeps the sources and their numbers.
  void forget_bytes();
  /// Forgets parts, in the journal too.
  void forget(base::ByteRange range);
  /// Journals the sums of all that is present, reading again what did not arrive in order.
  void sum_all();
  void leave();
  SealedFile seal_lent(const std::vector<base::Digest>& expected);
  bool is_complete() const;

  std::filesystem::path root_;  ///< of the cache
  Attempt attempt_;
  base::UniqueFd fd_;
  std::vector<base::Digest> wanted_;
  std::optional<std::uint64_t> size_bytes_;
  std::vector<base::ByteSource> sources_;
  Extents present_{};  ///< in the file or in a block
  Extents written_{};  ///< in the file
  RunSums sums_{};
  Journal journal_;
  std::filesystem::path lent_{};  ///< where a tool writes; empty: nobody does
  bool is_discarded_ = false;
  BlockPool& pool_ = BlockPool::shared();
  WriteBlocks blocks_;
  PrefixHasher hasher_;  // last: its thread uses the file
};

/// How much of an orphaned attempt's folder may be worth going on with.
std::uint64_t adoptable_bytes(const Attempt& attempt);

}  // namespace sabath::cache
