#pragma once

#include <sabath/base/staged_file.hpp>
#include <sabath/cache/cache.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace sabath::assets {

/// Larger files of a set are objects, which are gone on with in the middle.
inline constexpr std::uint64_t large_bytes = 8U << 20U;

/// A file of a set whose size nobody knows before its source tells it: it is written into its tree,
/// and is an object instead once it was announced to be large. One whose source never tells stays
/// in its tree.
class UnsizedFile final : public base::StagedFile {
 public:
  using StageObject = std::function<std::unique_ptr<cache::Staging>()>;

  /// `small` outlives it; `stage` is called once at most.
  UnsizedFile(base::StagedFile& small, StageObject stage)
      : small_(small), stage_(std::move(stage)) {}

  /// The object that it has become; null where it is small.
  std::unique_ptr<cache::Staging> take_object() { return std::move(object_); }

  void reserve(std::uint64_t size_bytes) override;
  std::uint64_t piece_bytes() const override { return file().piece_bytes(); }
  unsigned number_of(const base::ByteSource& source) override { return file().number_of(source); }
  const std::vector<base::ByteSource>& sources() const override { return file().sources(); }
  void write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source) override {
    file().write_at(offset_bytes, bytes, source);
  }
  std::uint64_t contiguous_bytes() const override { return file().contiguous_bytes(); }
  std::uint64_t present_bytes() const override { return file().present_bytes(); }
  std::vector<base::SourcedRange> present() const override { return file().present(); }
  void drop(base::ByteRange range) override { file().drop(range); }
  void restart() override { file().restart(); }
  base::DigestMatch matches() override { return file().matches(); }
  std::vector<base::Digest> digests() override { return file().digests(); }
  std::filesystem::path lend(std::string_view borrower) override { return file().lend(borrower); }

 private:
  base::StagedFile& file() const { return object_ ? *object_ : small_; }

  base::StagedFile& small_;
  StageObject stage_;
  std::unique_ptr<cache::Staging> object_{};
};

}  // namespace sabath::assets
