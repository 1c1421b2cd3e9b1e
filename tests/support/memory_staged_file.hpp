#pragma once

#include <sabath/base/error.hpp>
#include <sabath/base/staged_file.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace sabath::test {

/// A staged file in memory that remembers what was done to it.
class MemoryStagedFile final : public base::StagedFile {
 public:
  MemoryStagedFile() = default;
  /// With a partial of an earlier attempt.
  explicit MemoryStagedFile(std::string partial)
      : content(std::move(partial)), contiguous_bytes_(content.size()) {}

  /// What an attempt that ended after `bytes` would have left of this one.
  MemoryStagedFile after(std::size_t bytes) const {
    MemoryStagedFile partial(content.substr(0, bytes));
    partial.known_sources = known_sources;
    return partial;
  }

  void reserve(std::uint64_t size_bytes) override { reserved.push_back(size_bytes); }
  std::uint64_t piece_bytes() const override { return 1U << 20U; }
  unsigned number_of(const base::ByteSource& source) override {
    const auto known = std::find(known_sources.begin(), known_sources.end(), source);
    const auto number = static_cast<unsigned>(known - known_sources.begin());
    if (known == known_sources.end()) known_sources.push_back(source);
    return number;
  }
  const std::vector<base::ByteSource>& sources() const override { return known_sources; }
  void write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned) override {
    const std::uint64_t end = offset_bytes + bytes.size();
    if (end > full_at_bytes) {
      throw base::Error(base::ErrorKind::storage, "memory: cannot write: no space left");
    }
    ++writes;
    if (content.size() < end) content.resize(static_cast<std::size_t>(end));
    content.replace(static_cast<std::size_t>(offset_bytes), bytes.size(), base::as_text(bytes));
    if (offset_bytes <= contiguous_bytes_) contiguous_bytes_ = std::max(contiguous_bytes_, end);
  }
  std::uint64_t contiguous_bytes() const override { return contiguous_bytes_; }
  void restart() override {
    known_sources.clear();
    ++restarts;
    content.clear();
    contiguous_bytes_ = 0;
  }
  std::uint64_t present_bytes() const override { return contiguous_bytes_; }
  std::vector<base::SourcedRange> present() const override {
    if (contiguous_bytes_ == 0) return {};
    return {{{0, contiguous_bytes_}, 0}};
  }
  void drop(base::ByteRange) override { restart(); }
  base::DigestMatch matches() override { return base::DigestMatch::unknown; }
  std::filesystem::path lend(std::string_view) override { return {}; }

  std::string content{};
  std::vector<base::ByteSource> known_sources{};  ///< an earlier attempt's, too
  std::vector<std::uint64_t> reserved{};
  int writes = 0;
  int restarts = 0;
  std::uint64_t full_at_bytes = std::numeric_limits<std::uint64_t>::max();

 private:
  std::uint64_t contiguous_bytes_ = 0;
};

}  // namespace sabath::test
