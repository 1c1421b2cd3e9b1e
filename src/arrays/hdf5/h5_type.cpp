#include "h5_type.hpp"

#include "byte_source.hpp"
#include "h5_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace sabath::arrays {
namespace {

using base::ArrayType;

constexpr const char* type_problem = "cannot understand its type";

H5Id copy_type(hid_t type, const std::string& place) {
  return checked(H5Tcopy(type), H5Tclose, place, type_problem);
}

Leaf leaf_of(ArrayType type, H5Id value, const std::string& place) {
  Leaf leaf;
  leaf.type = type;
  leaf.memory = copy_type(value.get(), place);
  leaf.value = std::move(value);
  return leaf;
}

/// The file's own format, in native byte order where it has one.
Leaf raw_leaf(hid_t type, const std::string& place) {
  H5Id value = copy_type(type, place);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_BITFIELD) {
    H5Tset_order(value.get(), H5Tget_order(H5T_NATIVE_INT));
  }
  return leaf_of(ArrayType::opaque, std::move(value), place);
}

/// A number that no native type holds.
Leaf wide_leaf(hid_t type, const std::string& place, const char* kind) {
  Leaf leaf = raw_leaf(type, place);
  leaf.unsaid = fmt::format("{} of {} bytes", kind, H5Tget_size(type));
  return leaf;
}

struct NativeInteger {
  std::size_t size = 0;
  ArrayType signed_type = ArrayType::int8;
  ArrayType unsigned_type = ArrayType::uint8;
  hid_t signed_id = -1;
  hid_t unsigned_id = -1;
  hid_t bitfield_id = -1;
};

/// The smallest native integer that holds `size` bytes.
std::optional<NativeInteger> native_integer(std::size_t size) {
  const std::array<NativeInteger, 4> natives{{
      {1, ArrayType::int8, ArrayType::uint8, H5T_NATIVE_INT8, H5T_NATIVE_UINT8, H5T_NATIVE_B8},
      {2, ArrayType::int16, ArrayType::uint16, H5T_NATIVE_INT16, H5T_NATIVE_UINT16, H5T_NATIVE_B16},
      {4, ArrayType::int32, ArrayType::uint32, H5T_NATIVE_INT32, H5T_NATIVE_UINT32, H5T_NATIVE_B32},
      {8, ArrayType::int64, ArrayType::uint64, H5T_NATIVE_INT64, H5T_NATIVE_UINT64, H5T_NATIVE_B64},
  }};
  for (const NativeInteger& native : natives) {
    if (size <= native.size) return native;
  }
  return std::nullopt;
}

Leaf integer_leaf(hid_t type, const std::string& place) {
  const auto native = native_integer(H5Tget_size(type));
  const bool has_sign = H5Tget_sign(type) != H5T_SGN_NONE;
  if (!native) return wide_leaf(type, place, has_sign ? "integer" : "unsigned integer");
  return leaf_of(has_sign ? native->signed_type : native->unsigned_type,
                 copy_type(has_sign ? native->signed_id : native->unsigned_id, place),
                 place);
}

Leaf bitfield_leaf(hid_t type, const std::string& place) {
  const auto native = native_integer(H5Tget_size(type));
  if (!native) return wide_leaf(type, place, "bit field");
  return leaf_of(native->unsigned_type, copy_type(native->bitfield_id, place), place);
}

struct FloatFields {
  std::size_t size = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa_bits = 0;
  bool usual = false;  ///< sign on top, exponent, implied leading bit, mantissa; no padding
};

FloatFields fields_of(hid_t type) {
  std::size_t sign_at = 0;
  std::size_t exponent_at = 0;
  std::size_t mantissa_at = 0;
  FloatFields f;
  f.size = H5Tget_size(type);
  H5Tget_fields(type, &sign_at, &exponent_at, &f.exponent_bits, &mantissa_at, &f.mantissa_bits);
  const std::size_t bias = (std::size_t{1} << (f.exponent_bits - 1)) - 1;
  f.usual = mantissa_at == 0 && exponent_at == f.mantissa_bits &&
            sign_at == f.mantissa_bits + f.exponent_bits && sign_at + 1 == 8 * f.size &&
            H5Tget_norm(type) == H5T_NORM_IMPLIED && H5Tget_ebias(type) == bias &&
            H5Tget_order(type) != H5T_ORDER_VAX;
  return f;
}

Leaf float_leaf(hid_t type, const std::string& place) {
  struct Known {
    std::size_t size;
    std::size_t exponent_bits;
    ArrayType type;
  };
  constexpr std::array<Known, 4> known{{{8, 11, ArrayType::float64},
                                        {4, 8, ArrayType::float32},
                                        {2, 5, ArrayType::float16},
                                        {2, 8, ArrayType::bfloat16}}};
  const FloatFields f = fields_of(type);
  for (const Known& k : known) {
    if (f.usual && f.size == k.size && f.exponent_bits == k.exponent_bits) {
      // Only the byte order changes, so that the payload of a NaN stays what it is.
      Leaf leaf = raw_leaf(type, place);
      leaf.type = k.type;
      return leaf;
    }
  }
  // A double holds every narrower format exactly (8-bit floats, say).
  if (f.exponent_bits <= 11 && f.mantissa_bits <= 52 && H5Tget_norm(type) == H5T_NORM_IMPLIED) {
    return leaf_of(ArrayType::float64, copy_type(H5T_NATIVE_DOUBLE, place), place);
  }
  return wide_leaf(type, place, "float");
}

using Hdf5Text = std::unique_ptr<char, void (*)(char*)>;

void free_hdf5_text(char* text) {
  H5free_memory(text);
}

Leaf sequence_leaf(hid_t type, const std::string& place) {
  Leaf leaf =
      leaf_of(ArrayType::opaque,
              checked(H5Tget_native_type(type, H5T_DIR_ASCEND), H5Tclose, place, type_problem),
              place);
  const H5Id element = checked(H5Tget_super(type), H5Tclose, place, type_problem);
  leaf.unsaid = "sequence of";
  for (const Leaf& part : leaves_of(element.get(), place)) {
    leaf.unsaid += fmt::format(" {}{}", part.suffix, to_string(part.type));
    if (!part.inner.empty()) leaf.unsaid += fmt::format(" [{}]", fmt::join(part.inner, ", "));
    if (!part.unsaid.empty()) leaf.unsaid += " " + part.unsaid;
  }
  return leaf;
}

/// Types with a tag, where h5py writes the unit of NumPy's times.
Leaf tagged_leaf(hid_t type, const std::string& place) {
  Leaf leaf = raw_leaf(type, place);
  const Hdf5Text tag(H5Tget_tag(type), free_hdf5_text);
  if (tag && *tag.get() != '\0') leaf.unsaid = "opaque '" + std::string(tag.get()) + "'";
  return leaf;
}

/// Bytes in memory as an integer of up to 64 bits; else as digits.
std::string digits_of(ArrayType type, const std::vector<std::byte>& bytes) {
  static_assert(std::endian::native == std::endian::little, "bytes behind a number are zero");
  const std::size_t size = base::size_of(type);
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), size);
  switch (type) {
    case ArrayType::int8:
    case ArrayType::int16:
    case ArrayType::int32:
    case ArrayType::int64: {
      const std::size_t unused = 64 - 8 * size;
      return std::to_string(static_cast<std::int64_t>(number << unused) >> unused);
    }
    case ArrayType::uint8:
    case ArrayType::uint16:
    case ArrayType::uint32:
    case ArrayType::uint64:
      return std::to_string(number);
    default:
      return "0x" + hexadecimal(bytes);
  }
}

/// "enum (no = 0, yes = 1)": by number, then by name.
std::string enumeration_text(hid_t type,
                             hid_t numbers,
                             const Leaf& leaf,
                             const std::string& place) {
  const int members = H5Tget_nmembers(type);
  const std::size_t size = H5Tget_size(type);
  std::vector<std::pair<std::string, std::string>> names;
  for (int i = 0; i < members; ++i) {
    const auto index = static_cast<unsigned>(i);
    const Hdf5Text name(H5Tget_member_name(type, index), free_hdf5_text);
    std::vector<std::byte> value(std::max(size, H5Tget_size(leaf.value.get())));
    if (!name || H5Tget_member_value(type, index, value.data()) < 0 ||
        H5Tconvert(numbers, leaf.value.get(), 1, value.data(), nullptr, H5P_DEFAULT) < 0) {
      throw_hdf5(place, type_problem);
    }
    names.emplace_back(digits_of(leaf.type, value), name.get());
  }
  std::ranges::sort(names);
  std::vector<std::string> texts;
  for (const auto& [number, name] : names)
    texts.push_back(name + " = " + number);
  return fmt::format("enum ({})", fmt::join(texts, ", "));
}

std::vector<Leaf> enumeration_leaves(hid_t type, const std::string& place) {
  const H5Id numbers = checked(H5Tget_super(type), H5Tclose, place, type_problem);
  std::vector<Leaf> leaves = leaves_of(numbers.get(), place);
  for (Leaf& leaf : leaves)
    leaf.unsaid = enumeration_text(type, numbers.get(), leaf, place);
  return leaves;
}

std::vector<Leaf> compound_leaves(hid_t type, const std::string& place) {
  std::vector<Leaf> leaves;
  const int members = H5Tget_nmembers(type);
  for (int i = 0; i < members; ++i) {
    const auto index = static_cast<unsigned>(i);
    const Hdf5Text name(H5Tget_member_name(type, index), free_hdf5_text);
    const H5Id member =
        checked(H5Tget_member_type(type, index), H5Tclose, place, "cannot read its type");
    if (!name) throw_hdf5(place, "cannot read its type");
    for (Leaf& leaf : leaves_of(member.get(), place)) {
      H5Id just_this = checked(
          H5Tcreate(H5T_COMPOUND, H5Tget_size(leaf.memory.get())), H5Tclose, place, type_problem);
      if (H5Tinsert(just_this.get(), name.get(), 0, leaf.memory.get()) < 0) {
        throw_hdf5(place, type_problem);
      }
      leaf.memory = std::move(just_this);
      leaf.suffix = "/" + std::string(name.get()) + leaf.suffix;
      leaves.push_back(std::move(leaf));
    }
  }
  return leaves;
}

std::vector<Leaf> array_leaves(hid_t type, const std::string& place) {
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = H5Tget_array_dims2(type, dims.data());
  if (rank <= 0) throw_hdf5(place, type_problem);
  const H5Id element = checked(H5Tget_super(type), H5Tclose, place, type_problem);
  std::vector<Leaf> leaves = leaves_of(element.get(), place);
  for (Leaf& leaf : leaves) {
    leaf.inner.insert(leaf.inner.begin(), dims.begin(), dims.begin() + rank);
    leaf.memory =
        checked(H5Tarray_create2(leaf.memory.get(), static_cast<unsigned>(rank), dims.data()),
                H5Tclose,
                place,
                type_problem);
  }
  return leaves;
}

std::vector<Leaf> only(Leaf leaf) {
  std::vector<Leaf> leaves;
  leaves.push_back(std::move(leaf));
  return leaves;
}

}  // namespace

std::uint64_t Leaf::values_per_element() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : inner)
    count *= extent;
  return count;
}

std::vector<Leaf> leaves_of(hid_t file_type, const std::string& place) {
  switch (H5Tget_class(file_type)) {
    case H5T_INTEGER:
      return only(integer_leaf(file_type, place));
    case H5T_FLOAT:
      return only(float_leaf(file_type, place));
    case H5T_BITFIELD:
      return only(bitfield_leaf(file_type, place));
    case H5T_ENUM:
      return enumeration_leaves(file_type, place);
    case H5T_OPAQUE:
      return only(tagged_leaf(file_type, place));
    case H5T_STRING:
      return only(leaf_of(ArrayType::text, copy_type(file_type, place), place));
    case H5T_COMPOUND:
      return compound_leaves(file_type, place);
    case H5T_ARRAY:
      return array_leaves(file_type, place);
    case H5T_VLEN:
      return only(sequence_leaf(file_type, place));
    case H5T_NO_CLASS:
      throw_hdf5(place, type_problem);
    default:
      return only(raw_leaf(file_type, place));
  }
}

}  // namespace sabath::arrays
