#include "npy_header.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace sabath::arrays {
namespace {

using base::ArrayType;
using base::Error;
using base::ErrorKind;

/// A Python literal as NPY headers have it.
struct PythonLiteral {
  enum class Kind { none, boolean, integer, text, sequence, dictionary };
  Kind kind = Kind::none;
  std::uint64_t number = 0;  ///< of an integer (never negative here) or a boolean
  std::string text{};
  std::vector<PythonLiteral>
      items{};  ///< of a tuple, a list; keys and values in turn of a dictionary

  bool is(Kind wanted) const { return kind == wanted; }
  /// The value under a key of a dictionary, or null.
  const PythonLiteral* find(std::string_view key) const {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i].is(Kind::text) && items[i].text == key) return &items[i + 1];
    }
    return nullptr;
  }
};

using Kind = PythonLiteral::Kind;

constexpr int deepest = 32;
/// Limit, as each needs many times its size in the header.
constexpr int most_literals = 1'000'000;

class LiteralParser {
 public:
  LiteralParser(std::string_view text, const std::string& place) : rest_(text), place_(place) {}

  PythonLiteral whole() {
    PythonLiteral value = next(0);
    skip_blanks();
    if (!rest_.empty()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::integrity,
                place_ + ": cannot read: its header is damaged (no literal of Python)");
  }

  void skip_blanks() {
    const auto first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  PythonLiteral next(int depth) {
    if (depth > deepest || ++literals_ > most_literals) fail();
    if (take("{")) return items(Kind::dictionary, '}', depth);
    if (take("(")) return items(Kind::sequence, ')', depth);
    if (take("[")) return items(Kind::sequence, ']', depth);
    if (take("True")) return {Kind::boolean, 1, {}, {}};
    if (take("False")) return {Kind::boolean, 0, {}, {}};
    if (take("None")) return {};
    skip_blanks();
    if (rest_.starts_with('\'') || rest_.starts_with('"')) return text();
    return integer();
  }

  PythonLiteral items(Kind kind, char closing, int depth) {
    PythonLiteral list{kind, 0, {}, {}};
    const std::string_view end(&closing, 1);
    while (!take(end)) {
      list.items.push_back(next(depth + 1));
      if (kind == Kind::dictionary) {
        if (!take(":")) fail();
        list.items.push_back(next(depth + 1));
      }
      if (take(",")) continue;
      if (!take(end)) fail();
      break;
    }
    return list;
  }

  PythonLiteral integer() {
    PythonLiteral value{Kind::integer, 0, {}, {}};
    const auto [end, code] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.number);
    if (code != std::errc{}) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    take("L");  // of Python 2
    return value;
  }

  PythonLiteral text() {
    PythonLiteral value{Kind::text, 0, {}, {}};
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != quote) {
      if (rest_.front() == '\\') {
        rest_.remove_prefix(1);
        if (rest_.empty()) fail();
      }
      value.text += rest_.front();
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) fail();
    rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
  const std::string& place_;
  int literals_ = 0;
};

constexpr std::uint64_t longest_header = 16U << 20U;
constexpr std::size_t most_fields = 100'000;
constexpr std::size_t most_blocks = 100'000;

struct Field {
  std::string suffix{};                ///< "/name" within a structured type
  std::uint64_t offset = 0;            ///< within the element
  std::vector<std::uint64_t> shape{};  ///< of arrays within the element
  std::vector<std::uint64_t> strides{};
  ArrayType type = ArrayType::opaque;
  std::uint64_t item = 0;
  bool swapped = false;
  Encoding encoding = Encoding::none;
  bool is_object = false;
  std::string unsaid{};  ///< of its type, what `type` does not say: "M8[ns]"
  bool is_long_double = false;
};

struct NpyType {
  std::uint64_t size = 0;
  std::vector<Field> fields{};
};

class TypeReader {
 public:
  TypeReader(const std::string& place, NameBudget& names) : place_(place), names_(names) {}

  NpyType read(const PythonLiteral& descr) {
    if (descr.is(Kind::text)) return simple(descr.text);
    if (!descr.is(Kind::sequence)) fail();
    // ('<f8', (3,)) is an array of a type; a list has the fields of a structure.
    if (descr.items.size() == 2 && descr.items[0].is(Kind::text) &&
        descr.items[1].is(Kind::sequence)) {
      return array_of(read(descr.items[0]), descr.items[1]);
    }
    return structure(descr);
  }

  std::vector<std::uint64_t> shape(const PythonLiteral& literal) const {
    std::vector<std::uint64_t> extents;
    if (literal.is(Kind::integer)) return {literal.number};
    if (!literal.is(Kind::sequence) || literal.items.size() > 64) fail();
    for (const PythonLiteral& item : literal.items) {
      if (!item.is(Kind::integer)) fail();
      extents.push_back(item.number);
    }
    return extents;
  }

  [[noreturn]] void fail() const {
    throw Error(ErrorKind::integrity, place_ + ": cannot read: its header names no known type");
  }

 private:
  NpyType structure(const PythonLiteral& descr) {
    NpyType whole;
    for (const PythonLiteral& item : descr.items) {
      if (!item.is(Kind::sequence) || item.items.size() < 2 || item.items.size() > 3) fail();
      NpyType member = read(item.items[1]);
      if (item.items.size() == 3) member = array_of(std::move(member), item.items[2]);
      const std::string name = field_name(item.items[0]);
      for (Field& field : member.fields) {
        if (name.empty()) continue;  // padding
        names_.charge(name.size() + field.suffix.size());
        field.suffix = "/" + name + field.suffix;
        field.offset += whole.size;
        whole.fields.push_back(std::move(field));
        if (whole.fields.size() > most_fields) fail();
      }
      if (__builtin_add_overflow(whole.size, member.size, &whole.size)) fail();
    }
    return whole;
  }

  /// A name, or (title, name).
  std::string field_name(const PythonLiteral& literal) const {
    if (literal.is(Kind::text)) return literal.text;
    if (!literal.is(Kind::sequence) || literal.items.size() != 2) fail();
    if (!literal.items[1].is(Kind::text)) fail();
    return literal.items[1].text;
  }

  NpyType array_of(NpyType element, const PythonLiteral& literal) {
    const std::vector<std::uint64_t> extents = shape(literal);
    std::vector<std::uint64_t> strides(extents.size());
    for (std::size_t i = extents.size(); i-- > 0;) {
      strides[i] = element.size;
      if (__builtin_mul_overflow(element.size, extents[i], &element.size)) fail();
    }
    for (Field& field : element.fields) {
      names_.charge(2 * sizeof(std::uint64_t) * extents.size());
      field.shape.insert(field.shape.begin(), extents.begin(), extents.end());
      field.strides.insert(field.strides.begin(), strides.begin(), strides.end());
    }
    return element;
  }

  /// "<f8", "|S12", ">c16", "<M8[ns]"
  NpyType simple(const std::string& text) const {
    if (text.size() < 2) fail();
    const char order = text[0];
    const char kind = text[1];
    std::uint64_t count = 0;
    const auto [end, code] = std::from_chars(text.data() + 2, text.data() + text.size(), count);
    const bool has_unit = (kind == 'M' || kind == 'm') && end < text.data() + text.size();
    if (kind == 'O') return {8, {{{}, 0, {}, {}, ArrayType::opaque, 8, false, {}, true}}};
    if (code != std::errc{} || (end != text.data() + text.size() && !has_unit)) fail();
    if (std::string_view("<>|=").find(order) == std::string_view::npos) fail();
    const bool is_little = std::endian::native == std::endian::little;
    const bool swapped = order == (is_little ? '>' : '<');
    if (kind == 'c') return complex(count, swapped);
    Field field;
    field.item = count;
    field.swapped = swapped;
    if (kind == 'S' || kind == 'a') {
      field.type = ArrayType::text;
      field.encoding = Encoding::text;
      field.swapped = false;
    } else if (kind == 'U') {
      if (__builtin_mul_overflow(count, std::uint64_t{4}, &field.item)) fail();
      field.type = ArrayType::text;
      field.encoding = Encoding::ucs4;
    } else if (kind == 'V') {
      field.swapped = false;
    } else {
      field.type = number_type(kind, count);
      field.is_long_double = field.type == ArrayType::opaque;
      if (kind == 'M' || kind == 'm' || kind == 'b') field.unsaid = text.substr(1);
    }
    return {field.item, {field}};
  }

  NpyType complex(std::uint64_t size, bool swapped) const {
    if (size % 2 != 0 || size == 0) fail();
    const ArrayType type = number_type('f', size / 2);
    Field real{"/r", 0, {}, {}, type, size / 2, swapped, {}, false};
    real.is_long_double = type == ArrayType::opaque;
    Field imaginary = real;
    imaginary.suffix = "/i";
    imaginary.offset = size / 2;
    return {size, {real, imaginary}};
  }

  ArrayType number_type(char kind, std::uint64_t size) const {
    struct Known {
      char kind;
      std::uint8_t size;
      ArrayType type;
    };
    constexpr Known known[] = {{'f', 8, ArrayType::float64},
                               {'f', 4, ArrayType::float32},
                               {'f', 2, ArrayType::float16},
                               {'i', 8, ArrayType::int64},
                               {'i', 4, ArrayType::int32},
                               {'i', 2, ArrayType::int16},
                               {'i', 1, ArrayType::int8},
                               {'u', 8, ArrayType::uint64},
                               {'u', 4, ArrayType::uint32},
                               {'u', 2, ArrayType::uint16},
                               {'u', 1, ArrayType::uint8},
                               {'b', 1, ArrayType::uint8},
                               {'M', 8, ArrayType::int64},
                               {'m', 8, ArrayType::int64}};
    for (const Known& one : known) {
      if (one.kind == kind && one.size == size) return one.type;
    }
    if (kind == 'f' && (size == 12 || size == 16)) return ArrayType::opaque;  // long double
    fail();
  }

  const std::string& place_;
  NameBudget& names_;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return value;
}

struct Header {
  PythonLiteral literal{};
  std::uint64_t data_at = 0;
};

Header read_header(ByteSource& bytes, std::uint64_t at, const std::string& place) {
  const std::string start = bytes.text(at, 12);
  if (start.size() < 10 || !start.starts_with(npy_magic)) {
    throw Error(ErrorKind::integrity, place + ": cannot read: it is not an NPY file");
  }
  const auto version = static_cast<unsigned char>(start[6]);
  const auto minor = static_cast<unsigned char>(start[7]);
  if (version < 1 || version > 3 || minor != 0) {
    throw Error(ErrorKind::integrity,
                place + ": cannot read: version " + std::to_string(version) + "." +
                    std::to_string(minor) + " of NPY is not known");
  }
  const std::size_t digits = version == 1 ? 2 : 4;
  const std::uint64_t length = little_endian(std::string_view(start).substr(8, digits));
  const std::uint64_t data_at = at + 8 + digits + length;
  if (start.size() < 8 + digits || length > longest_header || data_at > bytes.size()) {
    throw Error(ErrorKind::integrity, place + ": cannot read: its header is cut short or damaged");
  }
  return {LiteralParser(bytes.text(at + 8 + digits, length), place).whole(), data_at};
}

/// The bytes that elements of a type and shape take; nothing where it overflows.
std::optional<std::uint64_t> bytes_of(const StridedArray& whole) {
  const auto& shape = whole.info.shape;
  if (std::ranges::find(shape, std::uint64_t{0}) != shape.end()) return 0;
  return product_of(whole.item, shape);
}

/// Whether `count` elements, one every `distance` bytes, are long doubles of x86: ten bytes count
/// and the others are padding. "<f12" always is. "<f16" is also the type of processors where all
/// sixteen count, and the file does not say which. Only the x87 keeps the first bit of its
/// mantissa, with an exponent right behind it, near the middle in all but odd numbers. Where only
/// zeros are seen, all bytes count.
bool is_x87(ByteSource& bytes,
            const StridedArray& array,
            std::uint64_t distance,
            std::uint64_t count) {
  constexpr std::uint64_t value_bytes = 10;
  constexpr std::uint64_t most_looked_at = 256;
  constexpr std::uint64_t middle = 0x3fff;
  constexpr std::uint64_t of_no_number = 0x7fff;  ///< infinities and NaN
  constexpr std::uint64_t usual = 1100;           ///< about what a double can have
  if (array.item == 12) return true;
  bool is_seen = false;
  for (std::uint64_t i = 0; i < std::min(most_looked_at, count); ++i) {
    const std::string value = bytes.text(array.offset + i * distance, value_bytes);
    if (value.size() < value_bytes) return false;
    const std::uint64_t mantissa = little_endian(std::string_view(value).substr(0, 8));
    const std::uint64_t exponent = little_endian(std::string_view(value).substr(8)) & of_no_number;
    if (mantissa == 0 && exponent == 0) continue;
    const bool is_usual = exponent + usual >= middle && exponent <= middle + usual;
    if (mantissa >> 63U == 0 || (!is_usual && exponent != of_no_number)) return false;
    is_seen = true;
  }
  return is_seen;
}

struct Block {
  std::vector<StridedArray> arrays{};
  std::optional<std::uint64_t> end{};  ///< nothing where only Python can tell (pickled objects)
};

Block read_block(ByteSource& bytes,
                 std::uint64_t at,
                 const std::string& name,
                 std::size_t source,
                 const std::string& place,
                 NameBudget& names) {
  const Header header = read_header(bytes, at, place);
  const PythonLiteral* const descr = header.literal.find("descr");
  const PythonLiteral* const order = header.literal.find("fortran_order");
  const PythonLiteral* const extents = header.literal.find("shape");
  TypeReader reader(place, names);
  if (header.literal.items.size() != 6) {
    throw Error(ErrorKind::integrity,
                place +
                    ": cannot read: its header has other keys than descr, fortran_order and "
                    "shape, or one of them twice");
  }
  if (!header.literal.is(Kind::dictionary) || descr == nullptr || order == nullptr ||
      extents == nullptr || !order->is(Kind::boolean)) {
    reader.fail();
  }
  const NpyType type = reader.read(*descr);
  StridedArray whole;
  whole.info.shape = reader.shape(*extents);
  pack(whole, type.size, order->number != 0);
  Block block;
  if (const auto data = bytes_of(whole); data && *data <= bytes.size() - header.data_at)
    block.end = header.data_at + *data;
  for (const Field& field : type.fields) {
    names.charge(name.size() + field.suffix.size());
    StridedArray array = whole;
    array.info.path = name + field.suffix;
    array.info.type = field.type;
    array.info.shape.insert(array.info.shape.end(), field.shape.begin(), field.shape.end());
    if (!field.shape.empty()) array.info.column_major = false;
    array.strides.insert(array.strides.end(), field.strides.begin(), field.strides.end());
    array.source = source;
    array.offset = header.data_at + field.offset;
    array.item = field.item;
    array.swapped = field.swapped;
    array.encoding = field.encoding;
    if (field.is_long_double && !field.swapped &&
        is_x87(bytes, array, type.size, whole.info.elements())) {
      array.item = 10;
    }
    if (field.is_object) {
      array.info.unreadable = "holds pickled objects of Python, which are never loaded";
      block.end.reset();
    }
    if (!field.unsaid.empty())
      block.arrays.push_back(type_text(array.info.path, field.unsaid, array.info.shape));
    block.arrays.push_back(std::move(array));
  }
  return block;
}

}  // namespace

std::vector<StridedArray> read_npy(ByteSource& bytes,
                                   const std::string& name,
                                   std::size_t source,
                                   const std::string& place,
                                   NameBudget& names) {
  std::vector<StridedArray> arrays;
  std::uint64_t at = 0;
  for (std::size_t number = 1; number <= most_blocks; ++number) {
    const std::string own = number == 1 ? name : name + " " + std::to_string(number);
    Block block = read_block(bytes, at, own, source, place, names);
    std::move(block.arrays.begin(), block.arrays.end(), std::back_inserter(arrays));
    if (!block.end || *block.end == bytes.size()) return arrays;
    at = *block.end;
    if (bytes.text(at, std::string_view(npy_magic).size()) != npy_magic) break;
  }
  arrays.push_back(fixed_text(name + " (rest)", digest_text(bytes, at)));
  return arrays;
}

}  // namespace sabath::arrays
