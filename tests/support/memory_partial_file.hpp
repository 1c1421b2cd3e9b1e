#pragma once

#include <sabath/base/error.hpp>
#include <sabath/base/partial_file.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace sabath::test {

/// A partial file in memory that remembers what was done to it.
class MemoryPartialFile : public base::PartialFile {
 public:
  MemoryPartialFile() = default;
  /// With a partial of an earlier attempt.
  explicit MemoryPartialFile(std::string partial) : content(std::move(partial)) {
    note({0, content.size()}, 0);
  }

  /// What an attempt that ended after `bytes` would have left of this one.
  MemoryPartialFile after(std::size_t bytes) const {
    MemoryPartialFile partial(content.substr(0, bytes));
    partial.known_sources = known_sources;
    return partial;
  }

  void reserve(std::uint64_t size_bytes) override { reserved.push_back(size_bytes); }
  std::uint64_t piece_bytes() const override { return piece; }
  unsigned number_of(const base::ByteSource& source) override {
    const auto known = std::find(known_sources.begin(), known_sources.end(), source);
    const auto number = static_cast<unsigned>(known - known_sources.begin());
    if (known != known_sources.end()) return number;
    for (const auto& part : present()) {
      const bool is_known = part.source < known_sources.size();
      if (is_known && known_sources[part.source].url == source.url) cut(part.range);
    }
    known_sources.push_back(source);
    return number;
  }
  const std::vector<base::ByteSource>& sources() const override { return known_sources; }
  void write_at(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source) override {
    const std::uint64_t end = offset_bytes + bytes.size();
    if (end > full_at_bytes) {
      throw base::Error(base::ErrorKind::storage, "memory: cannot write: no space left");
    }
    ++writes;
    if (content.size() < end) content.resize(static_cast<std::size_t>(end));
    content.replace(static_cast<std::size_t>(offset_bytes), bytes.size(), base::as_text(bytes));
    note({offset_bytes, end}, source);
  }
  std::uint64_t contiguous_bytes() const override {
    std::uint64_t end = 0;
    for (const auto& [begin, part] : parts_) {
      if (begin > end) break;
      end = part.end;
    }
    return end;
  }
  void restart() override {
    known_sources.clear();
    ++restarts;
    content.clear();
    parts_.clear();
  }
  std::uint64_t present_bytes() const override {
    std::uint64_t bytes = 0;
    for (const auto& [begin, part] : parts_)
      bytes += part.end - begin;
    return bytes;
  }
  std::vector<base::SourcedRange> present() const override {
    std::vector<base::SourcedRange> all;
    for (const auto& [begin, part] : parts_)
      all.push_back({{begin, part.end}, part.source});
    return all;
  }
  /// Whole pieces, as the contract says.
  void drop(base::ByteRange range) override {
    dropped.push_back(range);
    cut({range.begin / piece * piece, (range.end + piece - 1) / piece * piece});
  }
  base::DigestMatch matches() override {
    if (wanted.empty()) return base::DigestMatch::unknown;
    return content == wanted ? base::DigestMatch::right : base::DigestMatch::wrong;
  }
  std::filesystem::path lend(std::string_view) override { return {}; }

  std::string content{};
  std::string wanted{};  ///< the content that the expected digest stands for; empty: none
  std::uint64_t piece = 1U << 20U;
  std::vector<base::ByteSource> known_sources{};  ///< an earlier attempt's, too
  std::vector<std::uint64_t> reserved{};
  std::vector<base::ByteRange> dropped{};
  int writes = 0;
  int restarts = 0;
  std::uint64_t full_at_bytes = std::numeric_limits<std::uint64_t>::max();

 private:
  struct Part {
    std::uint64_t end = 0;
    unsigned source = 0;
  };

  void cut(base::ByteRange range) {
    std::map<std::uint64_t, Part> kept;
    for (const auto& [begin, part] : parts_) {
      if (begin < range.begin) kept[begin] = {std::min(part.end, range.begin), part.source};
      if (part.end > range.end) kept[std::max(begin, range.end)] = part;
    }
    parts_ = std::move(kept);
  }
  void note(base::ByteRange range, unsigned source) {
    if (range.size() == 0) return;
    cut(range);
    parts_[range.begin] = {range.end, source};
    const auto part = parts_.find(range.begin);
    if (part == parts_.begin()) return;
    const auto before = std::prev(part);
    if (before->second.end != range.begin || before->second.source != source) return;
    before->second.end = range.end;
    parts_.erase(part);
  }

  std::map<std::uint64_t, Part> parts_{};
};

}  // namespace sabath::test
