#include "float8.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace sabath::arrays {
namespace {

struct Format {
  unsigned mantissa_bits = 0;
  int bias = 0;
  unsigned infinity = 0x100;   ///< the magnitude that is infinite; 0x100: none is
  unsigned first_nan = 0x100;  ///< smallest magnitude that is NaN
  bool has_negative_zero = true;
};

float not_a_number(unsigned byte) {
  constexpr std::uint32_t quiet = 0x7FC0'0000U;
  return std::bit_cast<float>(quiet | (byte & 0x80U) << 24U | (byte & 0x7FU));
}

float value_of(const Format& format, unsigned byte) {
  const unsigned magnitude = byte & 0x7FU;
  if (magnitude >= format.first_nan) return not_a_number(byte);
  if (byte == 0x80U && !format.has_negative_zero) return not_a_number(byte);
  const unsigned mantissa = magnitude & ((1U << format.mantissa_bits) - 1U);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const int scale = std::max(exponent, 1) - format.bias - static_cast<int>(format.mantissa_bits);
  const unsigned leading = exponent == 0 ? 0U : 1U << format.mantissa_bits;
  float value = std::ldexp(static_cast<float>(mantissa + leading), scale);
  if (magnitude == format.infinity) value = std::numeric_limits<float>::infinity();
  return (byte & 0x80U) != 0 ? -value : value;
}

Float8Table table_of(const Format& format) {
  Float8Table table{};
  for (unsigned byte = 0; byte < table.size(); ++byte)
    table[byte] = value_of(format, byte);
  return table;
}

Float8Table powers_of_two() {
  Float8Table table{};
  for (unsigned byte = 0; byte < table.size(); ++byte)
    table[byte] = std::ldexp(1.0F, static_cast<int>(byte) - 127);
  table[0xFF] = not_a_number(0xFF);
  return table;
}

}  // namespace

const Float8Table& float8_table(Float8 format) {
  static const std::map<Float8, Float8Table> tables{
      {Float8::e4m3fn, table_of({3, 7, 0x100, 0x7F, true})},
      {Float8::e4m3fnuz, table_of({3, 8, 0x100, 0x100, false})},
      {Float8::e5m2, table_of({2, 15, 0x7C, 0x7D, true})},
      {Float8::e5m2fnuz, table_of({2, 16, 0x100, 0x100, false})},
      {Float8::e8m0, powers_of_two()}};
  return tables.at(format);
}

}  // namespace sabath::arrays
