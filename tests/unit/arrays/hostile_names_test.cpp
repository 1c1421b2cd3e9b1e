// Small files that ask for much memory, long texts, and numbers of 8 bits.
#include "arrays/float8.hpp"
#include "h5_maker.hpp"
#include "support/temp_home.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/error.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

using namespace sabath;
using namespace sabath::test;
using arrays::open_arrays;
using base::ArrayType;
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;

namespace {

std::filesystem::path written(const TempHome& home,
                              const std::string& name,
                              const std::string& bytes) {
  std::ofstream(home / name, std::ios::binary) << bytes;
  return home / name;
}

/// Version 2, whose headers may be long.
std::string npy_of(const std::string& type, const std::string& shape, const std::string& data) {
  const std::string header =
      "{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY\x02\0", 8);
  for (unsigned i = 0; i < 4; ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  return bytes + header + data;
}

std::string refusal(const std::filesystem::path& path) {
  try {
    open_arrays(path);
  } catch (const base::Error& error) {
    CHECK(error.kind() == base::ErrorKind::integrity);
    return error.what();
  }
  return "it was opened";
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(number >> static_cast<unsigned>(shift) & 0xFFU);
  return bytes;
}

std::string safetensors_of(const std::string& type, const std::string& bytes) {
  const std::string header = R"({"a":{"dtype":")" + type + R"(","shape":[)" +
                             std::to_string(bytes.size()) + R"(],"data_offsets":[0,)" +
                             std::to_string(bytes.size()) + "]}}";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + header + bytes;
}

}  // namespace

TEST_CASE("npy: a long name of many fields does not take their product of memory") {
  const TempHome home;
  std::string fields;
  for (int i = 0; i < 5'000; ++i)
    fields += "('" + std::to_string(i) + "', '|u1'),";
  const auto of = [&](std::size_t length) {
    return npy_of("[('" + std::string(length, 'n') + "', [" + fields + "])]", "(0,)", "");
  };
  CHECK(refusal(written(home, "short.npy", of(100))) == "it was opened");
  CHECK_THAT(refusal(written(home, "long.npy", of(1'000'000))),
             Contains("long.npy: cannot read: the names of its arrays take more than 64 MiB"));
}

TEST_CASE("npy: a header of very many small things is refused") {
  const TempHome home;
  std::string numbers;
  for (int i = 0; i < 1'100'000; ++i)
    numbers += "1,";
  CHECK_THAT(refusal(written(home, "x.npy", npy_of("'<f8'", "(" + numbers + ")", ""))),
             Contains("its header is damaged"));
}

TEST_CASE("netcdf: a long name of many attributes does not take their product of memory") {
  const TempHome home;
  const auto of = [](std::size_t length, std::uint32_t attributes) {
    std::string bytes("CDF\1", 4);
    bytes += big_endian(0) + big_endian(0) + big_endian(0);  // records, no dimensions
    bytes += big_endian(0) + big_endian(0);                  // no global attributes
    bytes += big_endian(11) + big_endian(1);
    bytes += big_endian(static_cast<std::uint32_t>(length)) + std::string(length, 'v');
    bytes += big_endian(0);  // rank
    bytes += big_endian(12) + big_endian(attributes);
    for (std::uint32_t i = 0; i < attributes; ++i) {
      std::string name = std::to_string(i);
      name.resize(8, 'a');
      bytes += big_endian(8) + name + big_endian(4) + big_endian(1) + big_endian(7);
    }
    const auto at = static_cast<std::uint32_t>(bytes.size() + 12);
    return bytes + big_endian(4) + big_endian(4) + big_endian(at) + big_endian(1);
  };
  CHECK(refusal(written(home, "short.nc", of(8, 3'000))) == "it was opened");
  CHECK_THAT(refusal(written(home, "long.nc", of(60'000, 3'000))),
             Contains("the names of its arrays take more than 64 MiB"));
}

TEST_CASE("texts: what is long comes in parts, and what is too long as its digest") {
  const TempHome home;
  constexpr std::size_t half = 600'000;
  std::string texts(5 * half, '\0');
  for (std::size_t i = 0; i < 5; ++i)
    std::fill_n(
        texts.begin() + static_cast<std::ptrdiff_t>(i * half), half, static_cast<char>('a' + i));
  const auto source = open_arrays(written(home, "x.npy", npy_of("'|S600000'", "(5,)", texts)));
  const base::ArrayInfo info = info_of(*source, "data");
  CHECK(source->read_texts(info, 0, 5).size() == 2);
  CHECK(source->read_texts(info, 4, 1) == Texts{std::string(half, 'e')});
  constexpr std::size_t huge = (64U << 20U) + 4;
  std::string one(huge, 'x');
  one.back() = '\0';
  const auto of = [&](const std::string& name, const std::string& bytes) {
    const auto made = open_arrays(
        written(home, name, npy_of("'|S" + std::to_string(bytes.size()) + "'", "(1,)", bytes)));
    return read_texts(*made, "data").front();
  };
  const std::string digest = of("huge.npy", one);
  CHECK_THAT(digest, Contains("sha256:"));
  CHECK(of("padded.npy", one + std::string(3'000'000, '\0')) == digest);
  one[5] = 'y';
  CHECK(of("other.npy", one) != digest);
}

TEST_CASE("texts: sequences of unknown length come in parts from HDF5 and all arrive") {
  const TempHome home;
  constexpr std::size_t count = 100;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), H5T_VARIABLE);
    std::vector<std::string> texts;
    std::vector<const char*> pointers;
    for (std::size_t i = 0; i < count; ++i)
      texts.push_back(std::to_string(i) + std::string(i % 10 == 0 ? 300'000 : 3, 'x'));
    for (const std::string& text : texts)
      pointers.push_back(text.c_str());
    put(file.get(), "t", type.get(), type.get(), {count}, pointers.data());
  }
  const auto source = arrays::open_hdf5(home / "a.h5");
  const base::ArrayInfo info = info_of(*source, "t");
  std::uint64_t calls = 0;
  for (std::uint64_t first = 0; first < count; ++calls) {
    const Texts part = source->read_texts(info, first, count - first);
    REQUIRE_FALSE(part.empty());
    for (const std::string& text : part)
      CHECK(text.starts_with(std::to_string(first++) + "x"));
  }
  CHECK(calls >= 2);
}

TEST_CASE("hdf5: elements of a size that no memory holds are not read") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), (std::size_t{1} << 30U) + 1);
    const H5Id space = make_space({1});
    const H5Id dataset(
        H5Dcreate2(file.get(), "d", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    REQUIRE(dataset);
  }
  const auto source = arrays::open_hdf5(home / "a.h5");
  CHECK_THAT(info_of(*source, "d").unreadable, Contains("elements of 1073741825 bytes"));
}

TEST_CASE("8-bit floats: every byte is its number, and no two are the same") {
  // Of the paper's tables: the greatest, the least normal and subnormal number, and what is none.
  CHECK(arrays::float8_table(arrays::Float8::e4m3fn)[0x7E] == 448.0F);
  CHECK(arrays::float8_table(arrays::Float8::e4m3fn)[0x08] == std::ldexp(1.0F, -6));
  CHECK(arrays::float8_table(arrays::Float8::e4m3fn)[0x01] == std::ldexp(1.0F, -9));
  CHECK(std::isnan(arrays::float8_table(arrays::Float8::e4m3fn)[0x7F]));
  CHECK(arrays::float8_table(arrays::Float8::e4m3fn)[0xB8] == -1.0F);
  CHECK(arrays::float8_table(arrays::Float8::e5m2)[0x7B] == 57344.0F);
  CHECK(arrays::float8_table(arrays::Float8::e5m2)[0x01] == std::ldexp(1.0F, -16));
  CHECK(std::isinf(arrays::float8_table(arrays::Float8::e5m2)[0xFC]));
  CHECK(std::isnan(arrays::float8_table(arrays::Float8::e5m2)[0x7E]));
  CHECK(arrays::float8_table(arrays::Float8::e4m3fnuz)[0x7F] == 240.0F);
  CHECK(std::isnan(arrays::float8_table(arrays::Float8::e4m3fnuz)[0x80]));
  CHECK(arrays::float8_table(arrays::Float8::e5m2fnuz)[0x7F] == 57344.0F);
  CHECK(arrays::float8_table(arrays::Float8::e8m0)[0] == std::ldexp(1.0F, -127));
  CHECK(arrays::float8_table(arrays::Float8::e8m0)[127] == 1.0F);
  CHECK(std::isnan(arrays::float8_table(arrays::Float8::e8m0)[255]));
  for (const auto* table : {&arrays::float8_table(arrays::Float8::e4m3fn),
                            &arrays::float8_table(arrays::Float8::e4m3fnuz),
                            &arrays::float8_table(arrays::Float8::e5m2),
                            &arrays::float8_table(arrays::Float8::e5m2fnuz),
                            &arrays::float8_table(arrays::Float8::e8m0)}) {
    std::set<std::uint32_t> bits;
    for (const float value : *table)
      bits.insert(std::bit_cast<std::uint32_t>(value));
    CHECK(bits.size() == 256);
  }
}

TEST_CASE("safetensors: 8-bit floats are numbers, those that share a byte are equal or not") {
  const TempHome home;
  const auto floats =
      open_arrays(written(home, "x.safetensors", safetensors_of("F8_E4M3", "\x7E\x38\xB8\x7F")));
  const auto values = read_all<float>(*floats, "a");
  REQUIRE(values.size() == 4);
  CHECK(values[0] == 448.0F);
  CHECK(values[1] == 1.0F);
  CHECK(values[2] == -1.0F);
  CHECK(std::isnan(values[3]));
  CHECK(read_range<float>(*floats, "a", 1, 1) == std::vector{1.0F});
  const std::string header = R"({"a":{"dtype":"F4","shape":[2,4],"data_offsets":[0,4]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  const auto packed =
      open_arrays(written(home, "y.safetensors", length + header + "\x12\x34\x56\x78"));
  CHECK(info_of(*packed, "a(F4)").type == ArrayType::opaque);
  CHECK(read_texts(*packed, "a(F4)") == Texts{"12345678"});
}

TEST_CASE("hdf5: one long name before many does not take their product of memory") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "long.h5");
    const H5Id group = make_group(file.get(), std::string(60'000, 'n'));
    const double value = 1;
    for (int i = 0; i < 3'000; ++i)
      put(group.get(), std::to_string(i), H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {}, &value);
  }
  CHECK(std::filesystem::file_size(home / "long.h5") < 10'000'000);
  CHECK_THAT(refusal(home / "long.h5"), Contains("take more than 256 MiB"));
}

TEST_CASE("npy: arrays whose elements have no bytes are few in all of a file") {
  const TempHome home;
  std::string bytes;
  for (int i = 0; i < 3; ++i)
    bytes += npy_of("'|S0'", "(500000,)", "");
  CHECK_THAT(refusal(written(home, "empty.npy", bytes)), Contains("more elements without bytes"));
}
