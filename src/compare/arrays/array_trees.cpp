#include "statistics/number_format.hpp"
#include "statistics/rounding.hpp"
#include "tolerance.hpp"

#include <sabath/base/process/reader_ended.hpp>
#include <sabath/compare/array_trees.hpp>

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sabath::compare {
namespace {

constexpr std::uint64_t least_elements = 8192;
constexpr std::uint64_t most_chunks = 4096;
constexpr std::uint64_t tree_block_bytes = 1U << 20U;
constexpr std::uint64_t tree_texts_in_block = 256;

class Summer {
 public:
  Summer() : state_(XXH3_createState(), XXH3_freeState) { XXH3_128bits_reset(state_.get()); }
  void add(const void* bytes, std::size_t count) {
    XXH3_128bits_update(state_.get(), bytes, count);
  }
  std::string take() {
    const XXH128_hash_t sum = XXH3_128bits_digest(state_.get());
    XXH3_128bits_reset(state_.get());
    return fmt::format("{:016x}{:016x}", sum.high64, sum.low64);
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

class NumberChunks {
 public:
  NumberChunks(base::ArrayType type, const spec::Tolerance& tolerance)
      : type_(type), rounding_(tolerance) {}

  void add(std::span<const std::byte> values) {
    static_assert(std::endian::native == std::endian::little,
                  "digests are of little-endian values");
    exact_.add(values.data(), values.size());
    // A double does not hold all of 64 bits: only equal integers of these are in one cell.
    if (type_ == base::ArrayType::int64 || type_ == base::ArrayType::uint64)
      return rounded_.add(values.data(), values.size());
    with_format(type_, [&](auto format) { add_rounded<decltype(format)>(values); });
  }

  spec::ChunkDigest take() {
    spec::ChunkDigest digest{exact_.take(), {}, {}};
    std::string rounded = rounded_.take();
    if (!rounding_.is_exact()) digest.rounded = std::move(rounded);
    if (nans_ > 0) digest.nans = nans_;
    nans_ = 0;
    return digest;
  }

 private:
  template <class Format>
  void add_rounded(std::span<const std::byte> values) {
    using Bits = typename Format::Bits;
    if (rounding_.is_exact() && Format::has_whole_numbers) return;
    const std::size_t count = values.size() / sizeof(Bits);
    bits_.clear();
    kinds_.clear();
    bits_.reserve(count);
    kinds_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      Bits bits{};
      std::memcpy(&bits, values.data() + i * sizeof bits, sizeof bits);
      if (Format::is_nan(bits)) ++nans_;
      if (rounding_.is_exact()) continue;
      const Rounding::Cell cell = rounding_.cell(as_double<Format>(bits));
      bits_.push_back(cell.bits);
      kinds_.push_back(cell.is_absolute ? 1 : 0);
    }
    rounded_.add(bits_.data(), bits_.size() * sizeof(std::uint64_t));
    rounded_.add(kinds_.data(), kinds_.size());
  }

  base::ArrayType type_;
  Rounding rounding_;
  Summer exact_{};
  Summer rounded_{};
  std::uint64_t nans_ = 0;
  std::vector<std::uint64_t> bits_{};
  std::vector<unsigned char> kinds_{};
};

class TreeMaker {
 public:
  TreeMaker(base::ArraySource& source,
            const spec::Tolerance& recipe,
            const std::function<void()>& between)
      : source_(source), recipe_(recipe), between_(between) {}

  spec::ArrayTree make(const base::ArrayInfo& array) {
    const spec::Tolerance tolerance = applied_tolerance(array.type, recipe_, {});
    const std::uint64_t elements = array.elements();
    spec::ArrayTree tree;
    tree.path = array.path;
    tree.is_attribute = array.is_attribute;
    tree.type = base::to_string(array.type);
    tree.shape = array.shape;
    tree.column_major = array.column_major;
    tree.unreadable = array.unreadable;
    tree.chunk =
        std::bit_ceil(std::max(least_elements, (elements + most_chunks - 1) / most_chunks));
    tree.absolute = *tolerance.absolute;
    tree.relative = *tolerance.relative;
    if (!array.unreadable.empty()) return tree;
    try {
      if (base::size_of(array.type) > 0) {
        add_numbers(tree, array, tolerance);
      } else {
        add_texts(tree, array);
      }
    } catch (const base::ReaderEnded& ended) {
      tree.unreadable = ended.why();
      tree.chunks.clear();
      return tree;
    }
    Summer root;
    for (const spec::ChunkDigest& chunk : tree.chunks)
      root.add(chunk.exact.data(), chunk.exact.size());
    tree.root = root.take();
    return tree;
  }

 private:
  void add_numbers(spec::ArrayTree& tree,
                   const base::ArrayInfo& array,
                   const spec::Tolerance& tolerance) {
    NumberChunks chunks(array.type, tolerance);
    const std::uint64_t size = base::size_of(array.type);
    for (std::uint64_t first = 0; first < array.elements();) {
      const std::uint64_t left = tree.chunk - first % tree.chunk;
      const std::uint64_t count =
          std::min({left, tree_block_bytes / size, array.elements() - first});
      buffer_.resize(count * size);
      source_.read(array, first, count, buffer_);
      chunks.add(buffer_);
      if (between_) between_();
      first += count;
      if (first % tree.chunk == 0 || first == array.elements())
        tree.chunks.push_back(chunks.take());
    }
  }

  void add_texts(spec::ArrayTree& tree, const base::ArrayInfo& array) {
    Summer chunk;
    for (std::uint64_t first = 0; first < array.elements();) {
      const std::uint64_t left = tree.chunk - first % tree.chunk;
      const std::uint64_t count = std::min({left, tree_texts_in_block, array.elements() - first});
      const std::vector<std::string> texts = source_.read_texts(array, first, count);
      if (texts.empty())
        throw base::Error(base::ErrorKind::internal, array.path + ": has no texts");
      for (const std::string& text : texts) {
        const std::uint64_t length = text.size();
        chunk.add(&length, sizeof length);
        chunk.add(text.data(), text.size());
      }
      if (between_) between_();
      first += texts.size();
      if (first % tree.chunk == 0 || first == array.elements()) {
        tree.chunks.push_back({chunk.take(), {}, {}});
      }
    }
  }

  base::ArraySource& source_;
  const spec::Tolerance& recipe_;
  const std::function<void()>& between_;
  std::vector<std::byte> buffer_{};
};

}  // namespace

spec::OutputTrees make_trees(base::ArraySource& source,
                             const spec::Tolerance& recipe,
                             const std::function<void()>& between) {
  TreeMaker maker(source, recipe, between);
  spec::OutputTrees trees;
  for (const base::ArrayInfo& array : source.list())
    trees.arrays.push_back(maker.make(array));
  return trees;
}

}  // namespace sabath::compare
