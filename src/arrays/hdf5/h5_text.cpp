#include "byte_source.hpp"
#include "h5_type.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace sabath::arrays {
namespace {

template <class T>
T load(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Bytes of a number without the padding of a long double.
std::size_t significant_bytes(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_class(type) != H5T_FLOAT || H5Tget_order(type) != H5T_ORDER_LE) return size;
  return std::min(size, (H5Tget_precision(type) + 7) / 8);
}

std::string string_text(hid_t type, const std::byte* value) {
  if (H5Tis_variable_str(type) > 0) {
    const auto* text = load<const char*>(value);
    return text == nullptr ? std::string{} : std::string(text);
  }
  std::string text(reinterpret_cast<const char*>(value), H5Tget_size(type));
  const H5T_str_t padding = H5Tget_strpad(type);
  if (padding == H5T_STR_NULLTERM) text.resize(std::min(text.size(), text.find('\0')));
  const char filler = padding == H5T_STR_SPACEPAD ? ' ' : '\0';
  text.resize(text.find_last_not_of(filler) + 1);
  return text;
}

std::string name_of_target(H5R_type_t kind, const std::byte* value, hid_t file) {
  const ssize_t length = H5Rget_name(file, kind, value, nullptr, 0);
  if (length < 0) return "dangling reference";
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Rget_name(file, kind, value, name.data(), name.size());
  name.pop_back();
  return "reference to " + name;
}

std::string region_text(const std::byte* value, hid_t file) {
  const H5Id region(H5Rget_region(file, H5R_DATASET_REGION, value), H5Sclose);
  if (!region) return "dangling region";
  std::string text = name_of_target(H5R_DATASET_REGION, value, file) + ", " +
                     std::to_string(H5Sget_select_npoints(region.get())) + " points";
  const int rank = H5Sget_simple_extent_ndims(region.get());
  std::array<hsize_t, H5S_MAX_RANK> from{};
  std::array<hsize_t, H5S_MAX_RANK> to{};
  if (rank <= 0 || H5Sget_select_bounds(region.get(), from.data(), to.data()) < 0) return text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
    text += " " + std::to_string(from[i]) + "-" + std::to_string(to[i]);
  }
  return text;
}

std::string reference_text(hid_t type, const std::byte* value, hid_t file) {
  const std::size_t size = H5Tget_size(type);
  if (std::all_of(value, value + size, [](std::byte b) { return b == std::byte{0}; })) {
    return "null reference";
  }
  if (H5Tequal(type, H5T_STD_REF_OBJ) > 0) return name_of_target(H5R_OBJECT, value, file);
  if (H5Tequal(type, H5T_STD_REF_DSETREG) > 0) return region_text(value, file);
  return hexadecimal({value, size});
}

std::string joined(
    hid_t type, const std::byte* values, std::size_t count, std::string_view brackets, hid_t file) {
  const std::size_t size = H5Tget_size(type);
  std::string text(1, brackets[0]);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    text += text_of(type, values + i * size, file);
  }
  return text + brackets[1];
}

std::string compound_text(hid_t type, const std::byte* value, hid_t file) {
  std::string text = "{";
  const int members = H5Tget_nmembers(type);
  for (int i = 0; i < members; ++i) {
    const auto index = static_cast<unsigned>(i);
    const H5Id member(H5Tget_member_type(type, index), H5Tclose);
    if (i > 0) text += ' ';
    text += text_of(member.get(), value + H5Tget_member_offset(type, index), file);
  }
  return text + "}";
}

}  // namespace

std::string text_of(hid_t type, const std::byte* value, hid_t file) {
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      return string_text(type, value);
    case H5T_REFERENCE:
      return reference_text(type, value, file);
    case H5T_COMPOUND:
      return compound_text(type, value, file);
    case H5T_VLEN: {
      const auto sequence = load<hvl_t>(value);
      const H5Id element(H5Tget_super(type), H5Tclose);
      return joined(
          element.get(), static_cast<const std::byte*>(sequence.p), sequence.len, "()", file);
    }
    case H5T_ARRAY: {
      const H5Id element(H5Tget_super(type), H5Tclose);
      return joined(
          element.get(), value, H5Tget_size(type) / H5Tget_size(element.get()), "[]", file);
    }
    default:
      return hexadecimal({value, significant_bytes(type)});
  }
}

}  // namespace sabath::arrays
