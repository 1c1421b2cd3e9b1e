#include "strided_file.hpp"

#include "file_bytes.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace sabath::arrays {
namespace {

using base::ArrayInfo;
using base::ArrayType;
using base::Error;
using base::ErrorKind;

/// Size of a read for picking elements, if at least one is in so many bytes.
constexpr std::uint64_t gather_bytes = 4U << 20U;
constexpr std::uint64_t gather_waste = 16;
constexpr std::uint64_t long_run_bytes = 64U << 10U;  ///< worth a read of its own
constexpr std::uint64_t spool_bytes = 1U << 20U;

auto key_of_array(const StridedArray& array) {
  return key_of(array.info);
}

/// Offset behind the last byte of the array; nothing where it overflows.
bool end_of(const StridedArray& array, std::uint64_t& end) {
  end = array.offset;
  for (std::size_t i = 0; i < array.info.shape.size(); ++i) {
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(array.info.shape[i] - 1, array.strides[i], &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      return false;
    }
  }
  return !__builtin_add_overflow(end, array.item, &end);
}

void append_utf8(std::string& text, std::uint32_t point) {
  const auto add = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
  if (point < 0x80) {
    add(point);
  } else if (point < 0x800) {
    add(0xC0U | point >> 6U);
    add(0x80U | (point & 0x3FU));
  } else if (point < 0x10000) {
    add(0xE0U | point >> 12U);
    add(0x80U | (point >> 6U & 0x3FU));
    add(0x80U | (point & 0x3FU));
  } else {
    add(0xF0U | (point >> 18U & 7U));
    add(0x80U | (point >> 12U & 0x3FU));
    add(0x80U | (point >> 6U & 0x3FU));
    add(0x80U | (point & 0x3FU));
  }
}

std::string decoded(const StridedArray& array, std::span<const std::byte> bytes) {
  if (array.encoding == Encoding::none) return hexadecimal(bytes);
  std::string text;
  if (array.encoding == Encoding::text) {
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else {
    std::vector<std::uint32_t> points(bytes.size() / 4);
    if (!points.empty()) std::memcpy(points.data(), bytes.data(), 4 * points.size());
    while (!points.empty() && points.back() == 0)
      points.pop_back();
    for (const std::uint32_t point : points)
      append_utf8(text, point);
    return text;
  }
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

void swap_bytes(const StridedArray& array, std::span<std::byte> bytes) {
  const std::size_t size = array.encoding == Encoding::ucs4 ? 4 : array.item;
  for (; bytes.size() >= size && size > 1; bytes = bytes.subspan(size))
    std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

constexpr std::uint64_t most_without_bytes = 1U << 20U;

class StridedFile final : public base::ArraySource {
 public:
  StridedFile(std::string place,
              std::vector<StridedArray> arrays,
              std::vector<std::unique_ptr<ByteSource>> sources)
      : place_(std::move(place)), arrays_(std::move(arrays)), sources_(std::move(sources)) {
    std::ranges::sort(arrays_, {}, key_of_array);
    const auto twice = std::ranges::adjacent_find(arrays_, {}, key_of_array);
    if (twice != arrays_.end())
      throw Error(ErrorKind::integrity, at(twice->info) + ": two arrays have this name");
    for (const StridedArray& array : arrays_)
      check(array);
  }

  std::vector<ArrayInfo> list() override {
    std::vector<ArrayInfo> infos;
    infos.reserve(arrays_.size());
    for (const StridedArray& array : arrays_)
      infos.push_back(array.info);
    return infos;
  }

  void read(const ArrayInfo& info,
            std::uint64_t first,
            std::uint64_t count,
            std::span<std::byte> out) override {
    const StridedArray& array = find(info);
    require_range(array, first, count);
    const std::uint64_t size = base::size_of(info.type);
    if (size == 0 || out.size() != count * size) {
      throw Error(ErrorKind::internal, at(info) + ": cannot read: the buffer does not fit");
    }
    if (array.floats8 == nullptr) return values(array, info.column_major, first, count, out);
    bytes_.resize(count);
    values(array, info.column_major, first, count, bytes_);
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      const float value = (*array.floats8)[std::to_integer<std::size_t>(bytes_[i])];
      std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
    }
  }

  std::vector<std::string> read_texts(const ArrayInfo& info,
                                      std::uint64_t first,
                                      std::uint64_t count) override {
    const StridedArray& array = find(info);
    require_range(array, first, count);
    std::vector<std::string> texts;
    std::uint64_t length = 0;
    for (std::uint64_t i = first; i < first + count && length < texts_at_once_bytes; ++i) {
      texts.push_back(text_at(array, info.column_major, i));
      length += texts.back().size();
    }
    return texts;
  }

 private:
  std::string at(const ArrayInfo& info) const { return place_ + ":/" + info.path; }

  std::string text_at(const StridedArray& array, bool column_major, std::uint64_t flat) {
    if (array.encoding == Encoding::pieces) {
      ByteSource& source = *sources_[array.source];
      const ByteRange& piece = array.pieces.at(flat);
      return piece.size() > longest_text ? digest_text(source, piece)
                                         : source.text(piece.begin, piece.size());
    }
    if (array.item == 0) return array.fixed;
    if (array.item > longest_text) return long_text(array, column_major, flat);
    bytes_.resize(array.item);
    values(array, column_major, flat, 1, bytes_);
    return decoded(array, bytes_);
  }

  /// Digest of an element without padding, independent of byte order.
  std::string long_text(const StridedArray& array, bool column_major, std::uint64_t flat) {
    ByteSource& source = seekable(array);
    ByteRange rest{order_of(array, column_major).offset(flat), 0};
    rest.end = rest.begin + array.item;
    const bool is_padded = array.encoding != Encoding::none;
    for (bool is_zero = is_padded; is_zero && rest.size() > 0;) {
      const std::uint64_t count = std::min(spool_bytes, rest.size());
      const std::string block = source.text(rest.end - count, count);
      const auto last = block.find_last_not_of('\0');
      is_zero = last == std::string::npos;
      rest.end -= is_zero ? count : 0;
      if (is_zero || array.encoding == Encoding::ucs4) continue;
      rest.end -= count - last - 1;
    }
    base::Hasher hasher;
    std::vector<std::byte> block;
    while (rest.size() > 0) {
      block.resize(std::min(spool_bytes, rest.size()));
      source.read(rest.begin, block);
      if (array.encoding == Encoding::ucs4 && array.swapped) swap_bytes(array, block);
      hasher.update(block);
      rest.begin += block.size();
    }
    return hasher.finish().text();
  }

  void check(const StridedArray& array) {
    if (!array.info.unreadable.empty()) return;
    if (array.encoding == Encoding::pieces) return require_all(array);
    if (array.item == 0) return require_few(array);
    std::uint64_t bytes = std::max<std::uint64_t>(16, array.item);  // so that no distance wraps
    bool fits = true;
    bool is_empty = false;
    for (const std::uint64_t extent : array.info.shape) {
      is_empty = is_empty || extent == 0;
      fits = fits && (extent == 0 || !__builtin_mul_overflow(bytes, extent, &bytes));
    }
    std::uint64_t end = 0;
    fits = fits && (is_empty || (end_of(array, end) && end <= sources_.at(array.source)->size()));
    if (fits) return;
    throw Error(
        ErrorKind::integrity,
        at(array.info) + ": its values are not all in the file: it is cut short or damaged");
  }

  /// Elements without bytes cost a file nothing, and a reader time.
  void require_few(const StridedArray& array) {
    if (array.info.shape.empty()) return;
    std::uint64_t count = 1;
    bool is_few = true;
    for (const std::uint64_t extent : array.info.shape)
      is_few = is_few && (extent == 0 || !__builtin_mul_overflow(count, extent, &count));
    is_few = is_few && !__builtin_add_overflow(without_bytes_, count, &without_bytes_);
    if (is_few && without_bytes_ <= most_without_bytes) return;
    throw Error(ErrorKind::integrity,
                at(array.info) + ": has more elements without bytes than can be meant");
  }

  void require_all(const StridedArray& array) const {
    if (product_of(1, array.info.shape) == array.pieces.size()) return;
    throw Error(ErrorKind::integrity,
                at(array.info) + ": has " + std::to_string(array.pieces.size()) +
                    " texts, its shape declares another number");
  }

  const StridedArray& find(const ArrayInfo& info) const {
    const auto found = std::ranges::lower_bound(arrays_, key_of(info), {}, key_of_array);
    if (found == arrays_.end() || key_of(found->info) != key_of(info) ||
        found->info.type != info.type || found->info.shape != info.shape) {
      throw Error(ErrorKind::internal, at(info) + ": cannot read: no such array");
    }
    if (!found->info.unreadable.empty()) {
      throw Error(ErrorKind::integrity, at(info) + ": cannot read: it " + found->info.unreadable);
    }
    return *found;
  }

  void require_range(const StridedArray& array, std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t elements = array.info.elements();
    if (first <= elements && count <= elements - first) return;
    throw Error(ErrorKind::internal, at(array.info) + ": cannot read: no such range");
  }

  /// Order of elements: extents and strides, the slowest first.
  struct Order {
    std::vector<std::uint64_t> shape{};
    std::vector<std::uint64_t> strides{};
    std::uint64_t run = 1;  ///< elements that lie one behind the other, without a gap
    std::uint64_t item = 0;
    std::uint64_t base = 0;

    std::uint64_t offset(std::uint64_t flat) const {
      std::uint64_t at = base;
      for (std::size_t i = shape.size(); i-- > 0; flat /= shape[i])
        at += flat % shape[i] * strides[i];
      return at;
    }
  };

  static Order order_of(const StridedArray& array, bool column_major) {
    Order order{array.info.shape, array.strides, 1, array.item, array.offset};
    if (column_major) {
      std::reverse(order.shape.begin(), order.shape.end());
      std::reverse(order.strides.begin(), order.strides.end());
    }
    for (std::size_t i = order.shape.size(); i-- > 0;) {
      if (order.strides[i] != order.run * order.item && order.shape[i] != 1) break;
      order.run *= order.shape[i];
    }
    return order;
  }

  void values(const StridedArray& array,
              bool column_major,
              std::uint64_t first,
              std::uint64_t count,
              std::span<std::byte> out) {
    if (count == 0) return;
    const Order order = order_of(array, column_major);
    ByteSource& source =
        order.run < array.info.elements() ? seekable(array) : *sources_[array.source];
    gather(source, order, first, count, out);
    if (array.swapped) swap_bytes(array, out);
  }

  void gather(ByteSource& source,
              const Order& order,
              std::uint64_t first,
              std::uint64_t count,
              std::span<std::byte> out) {
    while (count > 0) {
      const std::uint64_t in_run = std::min(count, order.run - first % order.run);
      const bool is_long = in_run == count || in_run * order.item >= long_run_bytes;
      std::uint64_t taken = is_long ? 0 : pick(source, order, first, count, out);
      if (taken == 0) {
        taken = in_run;
        source.read(order.offset(first), out.first(taken * order.item));
      }
      first += taken;
      count -= taken;
      out = out.subspan(taken * order.item);
    }
  }

  /// Reads a stretch of the source and picks elements out of it: how many, or none where they lie
  /// too far apart.
  std::uint64_t pick(ByteSource& source,
                     const Order& order,
                     std::uint64_t first,
                     std::uint64_t count,
                     std::span<std::byte> out) {
    const std::uint64_t from = order.offset(first);
    const std::uint64_t room = std::min(gather_bytes, source.size() - from);
    std::uint64_t end = from;
    offsets_.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = order.offset(first + i);
      if (at < from || at - from + order.item > room) break;
      offsets_.push_back(at - from);
      end = std::max(end, at + order.item);
    }
    if ((end - from) / gather_waste > offsets_.size() * order.item) return 0;
    stretch_.resize(end - from);
    source.read(from, stretch_);
    for (std::size_t i = 0; i < offsets_.size(); ++i)
      std::memcpy(out.data() + i * order.item, stretch_.data() + offsets_[i], order.item);
    return offsets_.size();
  }

  /// Source of the array, or a copy with random access.
  ByteSource& seekable(const StridedArray& array) {
    std::unique_ptr<ByteSource>& source = sources_[array.source];
    if (source->is_seekable()) return *source;
    auto copy = std::make_unique<SpooledBytes>();
    std::vector<std::byte> block(spool_bytes);
    for (std::uint64_t at = 0; at < source->size(); at += block.size()) {
      block.resize(std::min<std::uint64_t>(spool_bytes, source->size() - at));
      source->read(at, block);
      copy->write(at, block);
    }
    source = std::move(copy);
    return *source;
  }

  std::string place_;
  std::vector<StridedArray> arrays_;
  std::uint64_t without_bytes_ = 0;  ///< elements of all arrays that cost the file nothing
  std::vector<std::unique_ptr<ByteSource>> sources_;
  std::vector<std::uint64_t> offsets_{};
  std::vector<std::byte> stretch_{};
  std::vector<std::byte> bytes_{};
};

}  // namespace

StridedArray fixed_text(std::string path, std::string text, bool is_attribute) {
  StridedArray array;
  array.info = {std::move(path), ArrayType::text, {}, is_attribute};
  array.fixed = std::move(text);
  return array;
}

StridedArray type_text(const std::string& path,
                       const std::string& type,
                       const std::vector<std::uint64_t>& shape) {
  return fixed_text(path + "@(type)", fmt::format("{} [{}]", type, fmt::join(shape, ", ")), true);
}

std::array<StridedArray, 2> complex_parts(const StridedArray& array, std::uint64_t bytes) {
  std::array<StridedArray, 2> parts{array, array};
  parts[0].info.path += "/r";
  parts[1].info.path += "/i";
  parts[1].offset += bytes;
  for (StridedArray& part : parts)
    part.item = bytes;
  return parts;
}

void pack(StridedArray& array, std::uint64_t item, bool column_major) {
  const std::vector<std::uint64_t>& shape = array.info.shape;
  array.item = item;
  array.info.column_major = column_major && shape.size() > 1;
  array.strides.assign(shape.size(), 0);
  std::uint64_t distance = item;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = column_major ? i : shape.size() - 1 - i;
    array.strides[axis] = distance;
    // Where this wraps the whole does not fit either, and the check of the array says so.
    distance *= std::max<std::uint64_t>(1, shape[axis]);
  }
}

void pack_as_bytes(StridedArray& array, std::uint64_t bytes) {
  const std::uint64_t group = std::gcd(bytes, std::uint64_t{64});
  array.info.type = ArrayType::opaque;
  array.info.shape = {group == 0 ? 0 : bytes / group};
  array.swapped = false;
  pack(array, std::max<std::uint64_t>(1, group));
}

std::unique_ptr<base::ArraySource> open_strided(const std::string& place,
                                                std::vector<StridedArray> arrays,
                                                std::vector<std::unique_ptr<ByteSource>> sources) {
  return std::make_unique<StridedFile>(place, std::move(arrays), std::move(sources));
}

}  // namespace sabath::arrays
