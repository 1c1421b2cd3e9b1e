#pragma once

#include "digester.hpp"
#include "extents.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/staged_file.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::cache {

/// A file of a tree on its way: held in memory while it is small, so that it costs one open, write
/// and close; beyond a mebibyte written to its place. Bytes that come in order are hashed as they
/// come, others when it is complete. It is not gone on with by a later attempt.
class SmallFile final : public base::StagedFile {
 public:
  /// `path` is its place, in a folder that exists; a tool gets a folder beneath `lent`, which must
  /// outlive it, the same for the same `name`.
  SmallFile(base::Beneath beneath,
            std::filesystem::path path,
            std::string name,
            const std::filesystem::path& lent,
            std::vector<base::Digest> wanted);
  ~SmallFile() override;
  SmallFile(const SmallFile&) = delete;
  SmallFile& operator=(const SmallFile&) = delete;

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

  /// Ends the writing and gives the digests: sha256 first, then those that were wanted. What a tool
  /// has written is in its place then. Throws Error{integrity} when bytes are missing,
  /// Error{storage}.
  std::vector<base::Digest> finish();
  /// Puts a file that was finished in its place, read-only but not synced. Threads: any, when
  /// nobody else uses it. Throws Error{storage}.
  void put();
  std::uint64_t size_bytes() const noexcept { return final_bytes_; }

 private:
  bool is_complete() const;
  /// To be called before bytes are written, and where any are forgotten.
  void hash(std::uint64_t offset_bytes, base::ByteView bytes);
  void forget_hashes();
  base::UniqueFd create(unsigned mode) const;
  void spill();
  std::vector<base::Digest> digests_of(int fd, const std::filesystem::path& path);
  std::vector<base::Digest> finish_lent();

  base::Beneath beneath_;
  std::filesystem::path path_;
  std::string name_;
  const std::filesystem::path& lent_folder_;
  std::filesystem::path lent_{};
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
