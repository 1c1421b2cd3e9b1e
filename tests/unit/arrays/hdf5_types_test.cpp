#include "h5_maker.hpp"
#include "support/temp_home.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

using namespace sabath;
using namespace sabath::test;
using arrays::open_hdf5;
using base::ArrayType;
using Texts = std::vector<std::string>;

namespace {

template <class T>
void check_integer(base::ArraySource& source, const std::string& name, ArrayType type) {
  INFO(name);
  CHECK(info_of(source, name).type == type);
  CHECK(read_all<T>(source, name) ==
        std::vector<T>{std::numeric_limits<T>::min(), 1, std::numeric_limits<T>::max()});
}

template <class T>
void put_limits(hid_t file, const std::string& name, hid_t file_type, hid_t memory_type) {
  const std::array<T, 3> values{std::numeric_limits<T>::min(), 1, std::numeric_limits<T>::max()};
  put(file, name, file_type, memory_type, {3}, values.data());
}

/// A 16-bit float: IEEE half (5 exponent bits) or bfloat16 (8).
H5Id small_float(std::size_t exponent_bits, H5T_order_t order) {
  H5Id type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  const std::size_t mantissa_bits = 15 - exponent_bits;
  H5Tset_fields(type.get(), 15, mantissa_bits, exponent_bits, 0, mantissa_bits);
  H5Tset_precision(type.get(), 16);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), (std::size_t{1} << (exponent_bits - 1)) - 1);
  H5Tset_order(type.get(), order);
  return type;
}

H5Id fixed_text(std::size_t size, H5T_str_t padding) {
  H5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), size);
  H5Tset_strpad(type.get(), padding);
  return type;
}

}  // namespace

TEST_CASE("hdf5: integers of every size, sign and byte order come as they are") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    put_limits<std::int8_t>(file.get(), "i8", H5T_STD_I8LE, H5T_NATIVE_INT8);
    put_limits<std::uint8_t>(file.get(), "u8", H5T_STD_U8BE, H5T_NATIVE_UINT8);
    put_limits<std::int16_t>(file.get(), "i16", H5T_STD_I16BE, H5T_NATIVE_INT16);
    put_limits<std::uint16_t>(file.get(), "u16", H5T_STD_U16LE, H5T_NATIVE_UINT16);
    put_limits<std::int32_t>(file.get(), "i32", H5T_STD_I32BE, H5T_NATIVE_INT32);
    put_limits<std::uint32_t>(file.get(), "u32", H5T_STD_U32LE, H5T_NATIVE_UINT32);
    put_limits<std::int64_t>(file.get(), "i64", H5T_STD_I64LE, H5T_NATIVE_INT64);
    put_limits<std::uint64_t>(file.get(), "u64", H5T_STD_U64BE, H5T_NATIVE_UINT64);
  }
  const auto source = open_hdf5(home / "a.h5");
  check_integer<std::int8_t>(*source, "i8", ArrayType::int8);
  check_integer<std::uint8_t>(*source, "u8", ArrayType::uint8);
  check_integer<std::int16_t>(*source, "i16", ArrayType::int16);
  check_integer<std::uint16_t>(*source, "u16", ArrayType::uint16);
  check_integer<std::int32_t>(*source, "i32", ArrayType::int32);
  check_integer<std::uint32_t>(*source, "u32", ArrayType::uint32);
  check_integer<std::int64_t>(*source, "i64", ArrayType::int64);
  check_integer<std::uint64_t>(*source, "u64", ArrayType::uint64);
}

TEST_CASE("hdf5: floats of every size and byte order keep their bits, payloads of NaN too") {
  const TempHome home;
  const std::array<std::uint64_t, 4> wide{
      0x7FF0000000000001, 0xFFF8DEADBEEF0001, 0x8000000000000000, 0x3FF0000000000001};
  const std::array<std::uint32_t, 3> single{0x7F800001, 0xFFC12345, 0x00000001};
  const std::array<std::uint16_t, 3> small{0x7E01, 0x3C01, 0x8001};
  {
    const H5Id file = make_file(home / "a.h5");
    put(file.get(), "f64le", H5T_IEEE_F64LE, H5T_IEEE_F64LE, {4}, wide.data());
    put(file.get(), "f64be", H5T_IEEE_F64BE, H5T_IEEE_F64LE, {4}, wide.data());
    put(file.get(), "f32be", H5T_IEEE_F32BE, H5T_IEEE_F32LE, {3}, single.data());
    const H5Id half_le = small_float(5, H5T_ORDER_LE);
    const H5Id half_be = small_float(5, H5T_ORDER_BE);
    const H5Id brain_be = small_float(8, H5T_ORDER_BE);
    const H5Id brain_le = small_float(8, H5T_ORDER_LE);
    put(file.get(), "f16le", half_le.get(), half_le.get(), {3}, small.data());
    put(file.get(), "f16be", half_be.get(), half_le.get(), {3}, small.data());
    put(file.get(), "bf16be", brain_be.get(), brain_le.get(), {3}, small.data());
  }
  const auto source = open_hdf5(home / "a.h5");
  const std::vector<std::uint64_t> all_wide(wide.begin(), wide.end());
  const std::vector<std::uint16_t> all_small(small.begin(), small.end());
  CHECK(info_of(*source, "f64be").type == ArrayType::float64);
  CHECK(read_all<std::uint64_t>(*source, "f64le") == all_wide);
  CHECK(read_all<std::uint64_t>(*source, "f64be") == all_wide);
  CHECK(info_of(*source, "f32be").type == ArrayType::float32);
  CHECK(read_all<std::uint32_t>(*source, "f32be") ==
        std::vector<std::uint32_t>(single.begin(), single.end()));
  CHECK(info_of(*source, "f16be").type == ArrayType::float16);
  CHECK(read_all<std::uint16_t>(*source, "f16le") == all_small);
  CHECK(read_all<std::uint16_t>(*source, "f16be") == all_small);
  CHECK(info_of(*source, "bf16be").type == ArrayType::bfloat16);
  CHECK(read_all<std::uint16_t>(*source, "bf16be") == all_small);
}

TEST_CASE("hdf5: enumerations and bit fields are their integers, odd integers the next larger") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id colour(H5Tenum_create(H5T_STD_I16BE), H5Tclose);
    const H5Id native(H5Tenum_create(H5T_NATIVE_INT16), H5Tclose);
    std::int16_t value = 300;
    const std::int16_t unnamed = -2;
    std::int16_t swapped = static_cast<std::int16_t>(0x2C01);  // 300 as the file has it
    H5Tenum_insert(colour.get(), "red", &swapped);
    H5Tenum_insert(native.get(), "red", &value);
    put(file.get(), "enum", colour.get(), native.get(), {}, &value);
    const H5Id named(H5Tenum_create(H5T_STD_I16LE), H5Tclose);
    H5Tenum_insert(named.get(), "red", &value);
    put(file.get(), "unnamed", named.get(), named.get(), {}, &unnamed);
    const std::uint8_t flags = 0xA5;
    put(file.get(), "bits", H5T_STD_B8LE, H5T_NATIVE_B8, {}, &flags);
    const H5Id three(H5Tcopy(H5T_STD_I32LE), H5Tclose);
    H5Tset_precision(three.get(), 24);
    H5Tset_size(three.get(), 3);
    const std::int32_t number = -70'000;
    put(file.get(), "three", three.get(), H5T_NATIVE_INT32, {}, &number);
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(read_all<std::int16_t>(*source, "enum") == std::vector<std::int16_t>{300});
  CHECK(read_all<std::int16_t>(*source, "unnamed") == std::vector<std::int16_t>{-2});
  CHECK(read_all<std::uint8_t>(*source, "bits") == std::vector<std::uint8_t>{0xA5});
  CHECK(info_of(*source, "three").type == ArrayType::int32);
  CHECK(read_all<std::int32_t>(*source, "three") == std::vector{-70'000});
}

TEST_CASE("hdf5: strings come without padding, fixed or variable") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id terminated = fixed_text(4, H5T_STR_NULLTERM);
    const H5Id nulls = fixed_text(4, H5T_STR_NULLPAD);
    const H5Id spaces = fixed_text(4, H5T_STR_SPACEPAD);
    put(file.get(), "terminated", terminated.get(), terminated.get(), {2}, "ab\0xcde\0");
    put(file.get(), "nulls", nulls.get(), nulls.get(), {2}, "ab\0\0wxyz");
    put(file.get(), "spaces", spaces.get(), spaces.get(), {2}, "a b     ");
    const H5Id variable = fixed_text(H5T_VARIABLE, H5T_STR_NULLTERM);
    const std::array<const char*, 3> texts{"", "bubble", "\xC3\xA9"};
    put(file.get(), "variable", variable.get(), variable.get(), {3}, texts.data());
    put_attribute(file.get(), "units", variable.get(), {}, texts.data() + 1);
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(info_of(*source, "variable").type == ArrayType::text);
  CHECK(read_texts(*source, "terminated") == Texts{"ab", "cde"});
  CHECK(read_texts(*source, "nulls") == Texts{"ab", "wxyz"});
  CHECK(read_texts(*source, "spaces") == Texts{"a b", ""});
  CHECK(read_texts(*source, "variable") == Texts{"", "bubble", "\xC3\xA9"});
  CHECK(read_texts(*source, "@units") == Texts{"bubble"});
}

TEST_CASE("hdf5: members of a compound are arrays of their own") {
  struct Inner {
    float x;
    std::int16_t n[3];
  };
  struct Particle {
    double mass;
    char name[4];
    Inner inner;
  };
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const hsize_t three = 3;
    const H5Id triple(H5Tarray_create2(H5T_NATIVE_INT16, 1, &three), H5Tclose);
    const H5Id name = fixed_text(4, H5T_STR_NULLTERM);
    const H5Id inner(H5Tcreate(H5T_COMPOUND, sizeof(Inner)), H5Tclose);
    H5Tinsert(inner.get(), "x", HOFFSET(Inner, x), H5T_NATIVE_FLOAT);
    H5Tinsert(inner.get(), "n", HOFFSET(Inner, n), triple.get());
    const H5Id particle(H5Tcreate(H5T_COMPOUND, sizeof(Particle)), H5Tclose);
    H5Tinsert(particle.get(), "mass", HOFFSET(Particle, mass), H5T_NATIVE_DOUBLE);
    H5Tinsert(particle.get(), "name", HOFFSET(Particle, name), name.get());
    H5Tinsert(particle.get(), "inner", HOFFSET(Particle, inner), inner.get());
    const std::array<Particle, 2> particles{
        {{1.5, "abc", {2.5F, {1, 2, 3}}}, {3.5, "de", {4.5F, {4, 5, 6}}}}};
    put(file.get(), "p", particle.get(), particle.get(), {2}, particles.data());
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(paths_of(*source) == Texts{"p/inner/n", "p/inner/x", "p/mass", "p/name"});
  CHECK(read_all<double>(*source, "p/mass") == std::vector{1.5, 3.5});
  CHECK(read_all<float>(*source, "p/inner/x") == std::vector{2.5F, 4.5F});
  CHECK(read_texts(*source, "p/name") == Texts{"abc", "de"});
  CHECK(info_of(*source, "p/inner/n").shape == std::vector<std::uint64_t>{2, 3});
  const std::vector<std::int16_t> expected{1, 2, 3, 4, 5, 6};
  for (std::uint64_t first = 0; first < 6; ++first) {
    for (std::uint64_t count = 0; first + count <= 6; ++count) {
      const auto from = expected.begin() + static_cast<std::ptrdiff_t>(first);
      CHECK(read_range<std::int16_t>(*source, "p/inner/n", first, count) ==
            std::vector<std::int16_t>(from, from + static_cast<std::ptrdiff_t>(count)));
    }
  }
}

TEST_CASE("hdf5: sequences, references and raw bytes become text of their content") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const double one = 1;
    put(file.get(), "target", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, &one);
    const H5Id sequence(H5Tvlen_create(H5T_NATIVE_UINT8), H5Tclose);
    std::array<std::uint8_t, 3> bytes{1, 2, 255};
    const std::array<hvl_t, 2> sequences{{{3, bytes.data()}, {0, nullptr}}};
    put(file.get(), "sequence", sequence.get(), sequence.get(), {2}, sequences.data());
    std::array<hobj_ref_t, 2> references{};
    H5Rcreate(references.data(), file.get(), "/target", H5R_OBJECT, -1);
    put(file.get(), "reference", H5T_STD_REF_OBJ, H5T_STD_REF_OBJ, {2}, references.data());
    const H5Id opaque(H5Tcreate(H5T_OPAQUE, 2), H5Tclose);
    put(file.get(), "opaque", opaque.get(), opaque.get(), {2}, "\x01\xAB\x00\xFF");
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(info_of(*source, "opaque").type == ArrayType::opaque);
  CHECK(read_texts(*source, "sequence") == Texts{"(01 02 ff)", "()"});
  CHECK(read_texts(*source, "reference") == Texts{"reference to /target", "null reference"});
  CHECK(read_texts(*source, "opaque") == Texts{"01ab", "00ff"});
}

TEST_CASE("hdf5: the same bytes of another type are told, in sequences and wide numbers") {
  const TempHome home;
  const H5Id wide_integer(H5Tcopy(H5T_STD_I64LE), H5Tclose);
  REQUIRE(H5Tset_size(wide_integer.get(), 16) >= 0);
  REQUIRE(H5Tset_precision(wide_integer.get(), 128) >= 0);
  {
    const H5Id file = make_file(home / "a.h5");
    std::array<std::int64_t, 2> values{4607182418800017408, 4611686018427387904};
    const std::array<hvl_t, 1> sequences{{{2, values.data()}}};
    for (const auto& [name, element] :
         {std::pair{"doubles", H5T_IEEE_F64LE}, std::pair{"integers", H5T_STD_I64LE}}) {
      const H5Id sequence(H5Tvlen_create(element), H5Tclose);
      put(file.get(), name, sequence.get(), sequence.get(), {1}, sequences.data());
      const H5Id nested(H5Tvlen_create(sequence.get()), H5Tclose);
      const std::array<hvl_t, 1> outer{{{1, const_cast<hvl_t*>(sequences.data())}}};
      put(file.get(), std::string("nested_") + name, nested.get(), nested.get(), {1}, outer.data());
    }
    const std::array<std::byte, 16> bytes{};
    put(file.get(), "wide_integer", wide_integer.get(), wide_integer.get(), {1}, bytes.data());
    put(file.get(), "wide_float", H5T_NATIVE_LDOUBLE, H5T_NATIVE_LDOUBLE, {1}, bytes.data());
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(read_texts(*source, "doubles") == read_texts(*source, "integers"));
  const auto type = [&](const std::string& name) { return read_texts(*source, name + "@(type)"); };
  CHECK(type("doubles") == Texts{"sequence of float64"});
  CHECK(type("integers") == Texts{"sequence of int64"});
  CHECK(type("nested_doubles") == Texts{"sequence of opaque sequence of float64"});
  CHECK(type("wide_integer") == Texts{"integer of 16 bytes"});
  CHECK(type("wide_float") == Texts{"float of 16 bytes"});
}

TEST_CASE("hdf5: a region reference is its target and bounds") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const std::array<double, 6> values{};
    put(file.get(), "target", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {2, 3}, values.data());
    const H5Id space = make_space({2, 3});
    const std::array<hsize_t, 2> start{0, 1};
    const std::array<hsize_t, 2> extent{2, 2};
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
    hdset_reg_ref_t region{};
    H5Rcreate(&region, file.get(), "/target", H5R_DATASET_REGION, space.get());
    put(file.get(), "region", H5T_STD_REF_DSETREG, H5T_STD_REF_DSETREG, {}, &region);
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(read_texts(*source, "region") == Texts{"reference to /target, 4 points 0-1 1-2"});
}

TEST_CASE("hdf5: a long double is opaque, and its padding is not part of it") {
  if (sizeof(long double) != 16 || std::numeric_limits<long double>::digits != 64) return;
  const TempHome home;
  std::array<unsigned char, 32> bytes{};
  const long double value = 1.0L;
  for (const std::size_t at : {0U, 16U}) {
    std::memcpy(bytes.data() + at, &value, 10);
    bytes.at(at + 12) = at == 0 ? 1 : 2;  // what happens to stand in the padding
  }
  put(make_file(home / "a.h5").get(),
      "d",
      H5T_NATIVE_LDOUBLE,
      H5T_NATIVE_LDOUBLE,
      {2},
      bytes.data());
  const auto source = open_hdf5(home / "a.h5");
  const Texts texts = read_texts(*source, "d");
  CHECK(texts.front() == "0000000000000080ff3f");
  CHECK(texts.front() == texts.back());
}
