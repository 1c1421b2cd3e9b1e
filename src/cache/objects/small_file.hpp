#pragma once

#include "digester.hpp"
#include "extents.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/partial_file.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::cache {

/// A partial file of a tree. Up to a mebibyte it is in memory and costs one open, write and close;
/// beyond that it is written to its place. Bytes in order are hashed when they arrive, others at
/// the end. A later attempt cannot resume it.
class SmallFile final : public base::PartialFile {
 public:
  /// `path` is its place, in an existing folder. A tool gets a folder beneath `borrowed`, which
  /// outlives this, by `name`.
  SmallFile(base::Beneath beneath,
            std::filesystem::path path,
            std::string name,
            const std::filesystem::path& borrowed,
            std::vector<base::Digest> wanted);
  ~SmallFile() override;
  SmallFile(const SmallFile&) = delete;
  SmallFile& operator=(const SmallFile&) = delete;

  void reserve(std::uint64_t size_bytes) override;
  std::uint64_t piece_bytes() const override { return most_in_memory; }
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

  /// Ends the writing and returns the digests: sha256, then those that were wanted. Moves a tool's
  /// file to its place. Throws Error{integrity} when bytes are missing, Error{storage}.
  std::vector<base::Digest> finish();
  /// Writes a finished file to its place, read-only but not synced. Throws Error{storage}. Thread
  /// safety: any one thread.
  void put();
  std::uint64_t size_bytes() const noexcept { return final_bytes_; }

 private:
  static constexpr std::uint64_t most_in_memory = 1U << 20U;

  /// Called before bytes are written, and where any are forgotten.
  void hash(std::uint64_t offset_bytes, base::ByteView bytes);
  void forget_hashes();
  base::UniqueFd create(unsigned mode) const;
  void spill();
  std::vector<base::Digest> finish_borrowed();

  base::Beneath beneath_;
  std::filesystem::path path_;
  std::string name_;
  const std::filesystem::path& borrowed_folder_;
  std::filesystem::path borrowed_{};
  std::vector<base::Digest> wanted_;
  std::optional<std::uint64_t> size_bytes_{};
  std::vector<base::ByteSource> sources_{};
  Extents present_{};
  Digester prefix_;                      ///< of the bytes from the beginning that came in order
  std::vector<base::Digest> digests_{};  ///< of the whole; empty: not asked for yet
  std::vector<std::byte> buffer_{};
  base::UniqueFd fd_{};  ///< once it is on disk
  std::uint64_t final_bytes_ = 0;
  bool is_finished_ = false;
};

}  // namespace sabath::cache
