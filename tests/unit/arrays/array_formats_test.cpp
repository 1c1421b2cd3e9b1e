#include "h5_maker.hpp"
#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

using namespace sabath;
using namespace sabath::test;
using arrays::open_arrays;
using base::ArrayType;
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;
using Shape = std::vector<std::uint64_t>;

namespace {

// tests/data/arrays/make_arrays.py made these with the libraries that define the formats.
std::filesystem::path made(const std::string& name) {
  return std::filesystem::path(SABATH_TEST_DATA) / "arrays" / name;
}

const std::vector<double> grid{0, 0.25, 0.5, 0.75, 1, 1.25};

spec::OutputRule declared(const std::string& as) {
  spec::OutputRule rule;
  rule.as = as;
  return rule;
}

std::filesystem::path written(const TempHome& home,
                              const std::string& name,
                              const std::string& bytes) {
  std::ofstream(home / name, std::ios::binary) << bytes;
  return home / name;
}

std::string npy_of(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(header.size() >> (8U * static_cast<unsigned>(i)) & 0xFFU);
  return bytes + header + data;
}

/// Of the kind integrity, as every damaged or hostile file has it.
std::string refusal(const std::filesystem::path& path, const spec::OutputRule& rule = {}) {
  try {
    open_arrays(path, rule);
  } catch (const base::Error& error) {
    CHECK(error.kind() == base::ErrorKind::integrity);
    return error.what();
  }
  return "it was opened";
}

}  // namespace

TEST_CASE("npy: every order of bytes and of dimensions gives the same values") {
  for (const char* name : {"c.npy", "fortran.npy", "big.npy", "version2.npy", "version3.npy"}) {
    INFO(name);
    const auto source = open_arrays(made(name));
    REQUIRE(source);
    base::ArrayInfo info = info_of(*source, "data");
    CHECK(info.type == ArrayType::float64);
    CHECK(info.shape == Shape{2, 3});
    CHECK(info.column_major == (std::string(name) == "fortran.npy"));
    info.column_major = false;
    for (std::uint64_t first = 0; first < grid.size(); ++first) {
      for (std::uint64_t count = 0; count <= grid.size() - first; ++count) {
        std::vector<double> values(count);
        source->read(info, first, count, std::as_writable_bytes(std::span(values)));
        const auto from = grid.begin() + static_cast<std::ptrdiff_t>(first);
        CHECK(values == std::vector<double>(from, from + static_cast<std::ptrdiff_t>(count)));
      }
    }
  }
}

TEST_CASE("npy: an array in column-major order is read as it lies there") {
  const auto source = open_arrays(made("fortran.npy"));
  CHECK(read_all<double>(*source, "data") == std::vector<double>{0, 0.75, 0.25, 1, 0.5, 1.25});
}

TEST_CASE("npy: scalars, complex numbers and texts") {
  CHECK(read_all<float>(*open_arrays(made("scalar.npy")), "data") == std::vector{1.5F});
  const auto complex = open_arrays(made("complex.npy"));
  CHECK(paths_of(*complex) == Texts{"data/i", "data/r"});
  CHECK(read_all<double>(*complex, "data/r") == std::vector<double>{1, 3});
  CHECK(read_all<double>(*complex, "data/i") == std::vector<double>{2, -4});
  CHECK(read_texts(*open_arrays(made("texts.npy")), "data") == Texts{"a", "gr\u00fcn", ""});
  CHECK(read_texts(*open_arrays(made("bytes.npy")), "data") == Texts{"ab", "c"});
}

TEST_CASE("arrays: what a type says beyond its numbers is an attribute") {
  const TempHome home;
  const auto times = [&](const std::string& type) {
    return open_arrays(
        written(home,
                "x.npy",
                npy_of("{'descr': '" + type + "', 'fortran_order': False, 'shape': (1,), }\n",
                       "12345678")));
  };
  CHECK(read_texts(*times("<M8[s]"), "data@(type)") == Texts{"M8[s] [1]"});
  CHECK(read_texts(*times("<m8[ns]"), "data@(type)") == Texts{"m8[ns] [1]"});
  CHECK(paths_of(*times("<i8")) == Texts{"data"});
  const auto tensor = [&](const std::string& type, const std::string& shape) {
    const std::string header =
        R"({"a":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":[0,4]}})";
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    return open_arrays(written(home, "x.safetensors", length + header + "1234"));
  };
  CHECK(paths_of(*tensor("U8", "[4]")) == Texts{"a"});
  CHECK(read_texts(*tensor("BOOL", "[4]"), "a@(type)") == Texts{"BOOL [4]"});
  CHECK(read_texts(*tensor("F8_E5M2", "[2,2]"), "a@(type)") == Texts{"F8_E5M2 [2, 2]"});
  CHECK(read_texts(*tensor("F4", "[2,4]"), "a@(type)") == Texts{"F4 [2, 4]"});
}

TEST_CASE("npy: fields of a structured type are arrays of their own") {
  const auto source = open_arrays(made("particles.npy"));
  CHECK(paths_of(*source) ==
        Texts{"data/at", "data/inner/id", "data/inner/on", "data/inner/on@(type)", "data/mass"});
  CHECK(read_all<float>(*source, "data/mass") == std::vector{1.5F, 2.5F});
  CHECK(info_of(*source, "data/at").shape == Shape{2, 3});
  CHECK(read_all<double>(*source, "data/at") == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(read_range<double>(*source, "data/at", 2, 2) == std::vector<double>{3, 4});
  CHECK(read_all<std::int16_t>(*source, "data/inner/id") == std::vector<std::int16_t>{7, -8});
  CHECK(read_all<std::uint8_t>(*source, "data/inner/on") == std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("npy: pickled objects are never loaded") {
  const auto source = open_arrays(made("objects.npy"));
  const base::ArrayInfo info = info_of(*source, "data");
  CHECK_THAT(info.unreadable, Contains("pickled"));
  CHECK_THROWS_AS(source->read_texts(info, 0, 1), base::Error);
}

TEST_CASE("npy: hostile headers are refused") {
  const TempHome home;
  const auto refused = [&](const std::string& header) {
    return refusal(written(home, "x.npy", npy_of(header, std::string(64, 'x'))));
  };
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (8,), }\n";
  CHECK(refused(good) == "it was opened");
  CHECK_THAT(refused("{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }"),
             Contains("x.npy:/data: its values are not all in the file"));
  CHECK_THAT(refused("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
             Contains("not all in the file"));
  CHECK_THAT(
      refused("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 18446744073709551615, 9)}"),
      Contains("opened") || Contains("not all in the file"));
  CHECK_THAT(refused("{'descr': '|S18446744073709551615', 'fortran_order': False, 'shape': (2,)}"),
             Contains("not all in the file"));
  CHECK_THAT(refused("{'descr': '<U4611686018427387904', 'fortran_order': False, 'shape': ()}"),
             Contains("no known type"));
  CHECK_THAT(refused("{'descr': '<q9', 'fortran_order': False, 'shape': (8,)}"),
             Contains("no known type"));
  CHECK_THAT(
      refused("{'descr': [('a', '<f8'), ('a', '<f8')], 'fortran_order': False, 'shape': (1,)}"),
      Contains("two arrays have this name"));
  CHECK_THAT(refused("{'descr': '<f8', 'fortran_order': False, 'shape': (-8,)}"),
             Contains("damaged"));
  CHECK_THAT(refused("{'descr': __import__('os'), 'fortran_order': False, 'shape': (8,)}"),
             Contains("damaged"));
  CHECK_THAT(refused(std::string(100'000, '(')), Contains("damaged"));
  CHECK_THAT(refused("{'shape': (8,)}"), Contains("other keys than"));
  CHECK_THAT(refusal(written(home, "v9.npy", npy_of(good, std::string(64, 'x'), 9))),
             Contains("version 9"));
  CHECK_THAT(refusal(written(home, "short.npy", "\x93NUMPY\x01")), Contains("not an NPY file"));
  CHECK_THAT(refusal(written(home, "long.npy", std::string("\x93NUMPY\x01\0\xff\xff{", 11))),
             Contains("cut short"));
}

TEST_CASE("npz: members are arrays, stored or deflated, whatever their order") {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    INFO(name);
    const auto source = open_arrays(made(name));
    REQUIRE(source);
    CHECK(paths_of(*source) == Texts{"a", "n", "z"});
    for (int i = 0; i < 2; ++i) {
      CHECK(read_all<double>(*source, "z") == grid);
      CHECK(read_all<std::int16_t>(*source, "n") == std::vector<std::int16_t>{0, 1, 2, 3, 4});
      CHECK(read_range<std::int16_t>(*source, "n", 1, 2) == std::vector<std::int16_t>{1, 2});
    }
    base::ArrayInfo info = info_of(*source, "a");
    info.column_major = false;
    std::vector<double> values(6);
    source->read(info, 0, 6, std::as_writable_bytes(std::span(values)));
    CHECK(values == grid);
  }
}

TEST_CASE("npz: a file cut short is damaged") {
  const TempHome home;
  const std::string bytes = base::read_file(made("deflated.npz"));
  for (const std::size_t left : {bytes.size() - 1, bytes.size() / 2, std::size_t{40}}) {
    const auto path = written(home, std::to_string(left) + ".npz", bytes.substr(0, left));
    try {
      const auto source = open_arrays(path, declared("npz"));
      for (const auto& info : source->list()) {
        std::vector<std::byte> out(info.elements() * base::size_of(info.type));
        source->read(info, 0, info.elements(), out);
      }
      FAIL("it was read");
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::integrity);
    }
  }
}

TEST_CASE("netcdf: all three classic formats and NetCDF-4 have the same values") {
  for (const char* name : {"cdf1.nc", "cdf2.nc", "cdf5.nc", "cdf4.nc"}) {
    INFO(name);
    const auto source = open_arrays(made(name));
    REQUIRE(source);
    CHECK(read_all<double>(*source, "grid") == std::vector<double>{0.5, 1.5, 2.5});
    CHECK(info_of(*source, "values").shape == Shape{2, 3});
    CHECK(read_all<std::int16_t>(*source, "values") == std::vector<std::int16_t>{1, 2, 3, 4, 5, 6});
    CHECK(read_all<std::int8_t>(*source, "flags") == std::vector<std::int8_t>{7, 8});
    CHECK(read_texts(*source, "@title") == Texts{"a test"});
    CHECK(read_texts(*source, "grid@units") == Texts{"K"});
    CHECK(read_all<double>(*source, "grid@valid_range") == std::vector<double>{0, 9});
    for (const std::string& path : paths_of(*source))
      CHECK_THAT(path, !Contains("_NCProperties"));
  }
  const auto classic = open_arrays(made("cdf1.nc"));
  CHECK(read_texts(*classic, "name") == Texts{"ab", "c", "defg"});
  CHECK(read_texts(*classic, "values@(dimensions)") == Texts{"time x"});
}

TEST_CASE("netcdf: what is cut short or changed at any byte is read or refused, and nothing else") {
  const TempHome home;
  for (const char* name : {"cdf1.nc", "cdf5.nc"}) {
    const std::string whole = base::read_file(made(name));
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ 0x81);
      for (const std::string& variant : {whole.substr(0, i), bytes}) {
        try {
          const auto source = open_arrays(written(home, "x.nc", variant));
          if (!source) continue;
          for (const auto& info : source->list()) {
            if (info.elements() > 1000) continue;
            std::vector<std::byte> out(info.elements() * base::size_of(info.type));
            if (out.empty()) source->read_texts(info, 0, info.elements());
            if (!out.empty()) source->read(info, 0, info.elements(), out);
          }
        } catch (const base::Error& error) {
          if (error.kind() != base::ErrorKind::integrity) FAIL(error.what());
        }
      }
    }
  }
}

namespace {

/// The ten bytes of 1.5 and -0.1 as the x87 has them, and a 0.
const std::vector<std::string> x87_values{
    std::string("\0\0\0\0\0\0\0\xC0\xFF\x3F", 10),
    std::string("\xCD\xCC\xCC\xCC\xCC\xCC\xCC\xCC\xFB\xBF", 10),
    std::string(10, '\0')};

Texts long_doubles(const TempHome& home,
                   const std::string& type,
                   const std::vector<std::string>& elements) {
  std::string data;
  for (const std::string& element : elements)
    data += element;
  const std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                             std::to_string(elements.size()) + ",), }";
  return read_texts(*open_arrays(written(home, "l.npy", npy_of(header, data))), "data");
}

}  // namespace

TEST_CASE("npy: the padding of a long double of x86 is not part of it") {
  const TempHome home;
  const std::size_t size = GENERATE(12U, 16U);
  const auto padded = [&](char padding) {
    std::vector<std::string> elements = x87_values;
    for (std::string& element : elements)
      element.resize(size, padding);
    return long_doubles(home, "<f" + std::to_string(size), elements);
  };
  CHECK(padded('\7') ==
        Texts{"00000000000000c0ff3f", "cdccccccccccccccfbbf", "00000000000000000000"});
  CHECK(padded('\7') == padded('\0'));
}

TEST_CASE("npy: of a long double of sixteen bytes all count") {
  const TempHome home;
  const auto quad = [](const std::string& high) {
    return std::string(16 - high.size(), '\0') + high;
  };
  // 1 and 2; a third; and one where just one element cannot be of the x87.
  const Texts whole =
      long_doubles(home, "<f16", {quad("\xFF\x3F"), quad(std::string("\0\x40", 2))});
  CHECK(whole == Texts{"0000000000000000000000000000ff3f", "00000000000000000000000000000040"});
  const std::string third = std::string(14, '\x55') + "\xFD\x3F";
  CHECK(long_doubles(home, "<f16", {third}).front().size() == 32);
  std::string like_x87 = x87_values.front();
  like_x87.resize(16, '\1');
  CHECK(long_doubles(home, "<f16", {like_x87, third}).front().size() == 32);
  CHECK(long_doubles(home, ">f16", {like_x87}).front().size() == 32);
}

TEST_CASE("csv: columns of numbers and of texts") {
  const TempHome home;
  const auto source = open_arrays(written(home,
                                          "t.csv",
                                          "\xEF\xBB\xBFname, loss ,big,empty,\"a,b\"\r\n"
                                          "\"x, \"\"y\"\"\",0.1,9007199254740993,,1\r\n"
                                          "z,NaN,2,NA,-inf\r\n"
                                          "\"two\nlines\",1e-310,3,,+2\r\n"));
  REQUIRE(source);
  CHECK(paths_of(*source) == Texts{"a,b", "big", "empty", "loss", "name"});
  CHECK(read_texts(*source, "name") == Texts{"x, \"y\"", "z", "two\nlines"});
  const auto loss = read_all<double>(*source, "loss");
  CHECK(loss[0] == 0.1);
  CHECK(std::isnan(loss[1]));
  CHECK(loss[2] == 1e-310);
  CHECK(read_all<double>(*source, "a,b") == std::vector<double>{1, -INFINITY, 2});
  CHECK(read_texts(*source, "big") == Texts{"9007199254740993", "2", "3"});
  CHECK(read_texts(*source, "empty") == Texts{"", "NA", ""});
}

TEST_CASE("csv: a table without a header, another separator, a name twice") {
  const TempHome home;
  const auto bare = open_arrays(written(home, "b.csv", "1;2\n3;4"));
  CHECK(read_all<double>(*bare, "column 2") == std::vector<double>{2, 4});
  const auto twice = open_arrays(written(home, "c.tsv", "x\tx\n1\t2\n"));
  CHECK(read_all<double>(*twice, "x (column 2)") == std::vector<double>{2});
}

TEST_CASE("csv: whole numbers from 2^53 on are text, and so keep their last digit") {
  const TempHome home;
  const std::string number = GENERATE("9007199254740992", "9007199254740993", "-9007199254740993");
  const auto source = open_arrays(written(home, "t.csv", "t\n" + number + "\n"));
  CHECK(read_texts(*source, "t") == Texts{number});
  const auto below = open_arrays(written(home, "b.csv", "t\n-9007199254740991\n"));
  CHECK(read_all<double>(*below, "t") == std::vector<double>{-9007199254740991.0});
}

TEST_CASE("csv: a column in which a cell has a leading zero is text") {
  const TempHome home;
  const auto source = open_arrays(written(home, "t.csv", "id,x\n007,0.5\n8,-0\n"));
  CHECK(read_texts(*source, "id") == Texts{"007", "8"});
  CHECK(read_all<double>(*source, "x") == std::vector<double>{0.5, -0.0});
}

TEST_CASE("csv: a quote within a cell ends no row, one value that is missing is a row") {
  const TempHome home;
  const auto source = open_arrays(written(home, "t.csv", "n;\"t, s\"\n5\";1\nx;2\n6\";3\n"));
  CHECK(read_texts(*source, "n") == Texts{"5\"", "x", "6\""});
  CHECK(read_all<double>(*source, "t, s") == std::vector<double>{1, 2, 3});
  const auto gap = read_all<double>(*open_arrays(written(home, "g.csv", "t\n1\n\"\"\n3\n")), "t");
  REQUIRE(gap.size() == 3);
  CHECK(std::isnan(gap[1]));
}

TEST_CASE("csv: many rows are read in any range") {
  const TempHome home;
  constexpr std::size_t rows = 70'000;
  std::string table = "i,word\n";
  for (std::size_t i = 0; i < rows; ++i)
    table += std::to_string(i) + ",w" + std::to_string(i) + "\n";
  const auto source = open_arrays(written(home, "t.csv", table));
  const base::ArrayInfo words = info_of(*source, "word");
  CHECK(words.shape == Shape{rows});
  CHECK(read_range<double>(*source, "i", rows - 2, 2) == std::vector<double>{69'998, 69'999});
  CHECK(source->read_texts(words, 69'999, 1) == Texts{"w69999"});
  CHECK(source->read_texts(words, 5, 2) == Texts{"w5", "w6"});
}

TEST_CASE("csv: what is no table is bytes, unless it is declared") {
  const TempHome home;
  for (const char* text : {"a,b\n1,2\n3\n", "a,b\n\"1,2\n", "a,b\n1,2\n3,4,5\n"}) {
    const auto path = written(home, "t.csv", text);
    CHECK_FALSE(open_arrays(path));
    CHECK_THAT(refusal(path, declared("csv")), Contains("t.csv: cannot read as a table"));
  }
  CHECK_FALSE(open_arrays(written(home, "binary.csv", std::string("\0\1", 2))));
  CHECK(open_arrays(written(home, "empty.csv", ""))->list().empty());
}

TEST_CASE("raw: numbers of a declared type, order and shape") {
  const TempHome home;
  const auto path = written(home, "x.bin", std::string("\0\1\0\2\0\3", 6));
  spec::OutputRule rule = declared("raw");
  rule.raw = spec::RawLayout{ArrayType::int16, true, {3, 1}};
  const auto source = open_arrays(path, rule);
  CHECK(info_of(*source, "data").shape == Shape{3, 1});
  CHECK(read_all<std::int16_t>(*source, "data") == std::vector<std::int16_t>{1, 2, 3});
  rule.raw = spec::RawLayout{ArrayType::uint16, false, {}};
  CHECK(read_all<std::uint16_t>(*open_arrays(path, rule), "data") ==
        std::vector<std::uint16_t>{256, 512, 768});
  rule.raw->type = ArrayType::float32;
  CHECK_THAT(refusal(path, rule), Contains("x.bin: has 6 bytes"));
  CHECK_FALSE(open_arrays(path));
}

TEST_CASE("safetensors: tensors and their notes") {
  const auto source = open_arrays(made("model.safetensors"));
  REQUIRE(source);
  CHECK(paths_of(*source) ==
        Texts{"@format", "bias", "empty", "mask", "mask@(type)", "steps", "weight"});
  CHECK(read_texts(*source, "@format") == Texts{"np"});
  CHECK(read_all<float>(*source, "weight") == std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1, 1.25F});
  CHECK(read_all<std::uint16_t>(*source, "bias") == std::vector<std::uint16_t>{0x3C00, 0xBC00});
  CHECK(info_of(*source, "bias").type == ArrayType::float16);
  CHECK(read_all<std::int64_t>(*source, "steps") == std::vector<std::int64_t>{9});
  CHECK(read_all<std::uint8_t>(*source, "mask") == std::vector<std::uint8_t>{1, 0});
  CHECK(info_of(*source, "empty").shape == Shape{0, 4});
}

TEST_CASE("safetensors: offsets that overlap, leave gaps or lead out are refused") {
  const TempHome home;
  const auto file = [&](const std::string& header, std::size_t bytes) {
    std::uint64_t length = header.size();
    std::string text(sizeof length, '\0');
    std::memcpy(text.data(), &length, sizeof length);
    return written(home, "x.safetensors", text + header + std::string(bytes, 'x'));
  };
  const auto of = [](const std::string& name, const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":"I8","shape":[4],"data_offsets":[)" + offsets + "]}";
  };
  CHECK(refusal(file("{" + of("a", "0,4") + "," + of("b", "4,8") + "}", 8)) == "it was opened");
  CHECK_THAT(refusal(file("{" + of("a", "0,4") + "," + of("b", "2,6") + "}", 6)),
             Contains("overlap"));
  CHECK_THAT(refusal(file("{" + of("a", "0,4") + "," + of("b", "5,9") + "}", 9)), Contains("gap"));
  CHECK_THAT(refusal(file("{" + of("a", "0,4") + "}", 3)), Contains("cut short"));
  CHECK_THAT(refusal(file("{" + of("a", "0,5") + "}", 5)), Contains("does not fit"));
  CHECK_THAT(refusal(file("{" + of("a", "4,0") + "}", 4)), Contains("overlap"));
  CHECK_THAT(refusal(file("{" + of("a", "0,4") + "," + of("a", "4,8") + "}", 8)), Contains("a"));
  CHECK_THAT(
      refusal(
          file(R"({"a":{"dtype":"I8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0)),
      Contains("does not fit"));
  CHECK_THAT(refusal(file(R"({"a":{"dtype":"I8","shape":[-4],"data_offsets":[0,4]}})", 4)),
             Contains("safetensors"));
  CHECK_THAT(refusal(file(R"({"a":)", 0)), Contains("safetensors"));
  CHECK_THAT(refusal(written(home, "long", std::string("\xff\xff\xff\xff\xff\0\0\0{}", 10)),
                     declared("safetensors")),
             Contains("cut short"));
  const auto strange =
      open_arrays(file(R"({"a":{"dtype":"Q7","shape":[4],"data_offsets":[0,4]}})", 4));
  CHECK_THAT(info_of(*strange, "a").unreadable, Contains("'Q7'"));
}

TEST_CASE("onnx: initialisers in every way in which they are stored, and the graph's digest") {
  const auto source = open_arrays(made("model.onnx"));
  REQUIRE(source);
  CHECK(paths_of(*source) ==
        Texts{"(graph)", "(metadata)", "halves", "integers", "raw", "typed", "words"});
  CHECK(read_all<float>(*source, "raw") == std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1, 1.25F});
  CHECK(info_of(*source, "raw").shape == Shape{2, 3});
  CHECK(read_all<float>(*source, "typed") == std::vector{1.5F, -2.5F});
  CHECK(read_all<std::int64_t>(*source, "integers") == std::vector<std::int64_t>{-1, 0, 300});
  CHECK(read_all<std::uint16_t>(*source, "halves") == std::vector<std::uint16_t>{0x3800, 0xBC00});
  CHECK(info_of(*source, "words").shape == Shape{2});
  CHECK(read_texts(*source, "words").front() == "yes");
  CHECK_THAT(read_texts(*source, "(graph)").front(), Contains("sha256:"));
}

TEST_CASE("onnx: values in another file are read beneath the model's folder and nowhere else") {
  const TempHome home;
  CHECK(read_all<float>(*open_arrays(made("outside.onnx")), "raw").at(5) == 1.25F);
  std::filesystem::create_directory(home / "model");
  std::filesystem::copy(made("outside.onnx"), home / "model/m.onnx");
  const auto unreadable = [&] {
    return info_of(*open_arrays(home / "model/m.onnx"), "raw").unreadable;
  };
  CHECK_THAT(unreadable(), Contains("'outside.data'"));
  CHECK(arrays::outside_values(home / "model/m.onnx") ==
        std::vector<base::OutsideValues>{{"raw", "outside.data"}});
  CHECK(arrays::outside_values(made("model.onnx")).empty());
  CHECK(arrays::outside_values(made("model.keras")).empty());
  std::filesystem::copy(made("outside.data"), home / "elsewhere");
  std::filesystem::create_symlink("../elsewhere", home / "model/outside.data");
  CHECK_THAT(unreadable(), Contains("which is missing in the model's folder"));
  std::filesystem::remove(home / "model/outside.data");
  std::filesystem::copy(made("outside.data"), home / "model/outside.data");
  CHECK(unreadable().empty());
  std::filesystem::resize_file(home / "model/outside.data", 23);
  CHECK_THAT(refusal(home / "model/m.onnx"), Contains("opened"));  // by its ending: then bytes
  CHECK_THAT(refusal(home / "model/m.onnx", declared("onnx")), Contains("not all in the file"));
  std::string bytes = base::read_file(made("outside.onnx"));
  bytes.replace(bytes.find("outside.data"), 12, "../elsewhere");
  written(home, "model/m.onnx", bytes);
  CHECK_THAT(unreadable(), Contains("'../elsewhere'"));
}

TEST_CASE("onnx, safetensors, npy, npz: no byte that is changed or missing is more than damage",
          "[long]") {
  const TempHome home;
  for (const char* name :
       {"model.onnx", "outside.onnx", "model.safetensors", "particles.npy", "deflated.npz"}) {
    const std::string whole = base::read_file(made(name));
    const std::string format = std::filesystem::path(name).extension().string().substr(1);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (i % 2 == 0 ? 0x81 : 0x7f));
      for (const std::string& variant : {whole.substr(0, i), bytes}) {
        try {
          const auto source = open_arrays(written(home, "x", variant), declared(format));
          for (const auto& info : source->list()) {
            if (info.elements() > 1000 || !info.unreadable.empty()) continue;
            std::vector<std::byte> out(info.elements() * base::size_of(info.type));
            if (out.empty()) source->read_texts(info, 0, info.elements());
            if (!out.empty()) source->read(info, 0, info.elements(), out);
          }
        } catch (const base::Error& error) {
          if (error.kind() != base::ErrorKind::integrity)
            FAIL(name << " " << i << ": " << error.what());
        }
      }
    }
  }
}

TEST_CASE("keras: the weights of a saved model and its configuration") {
  const auto source = open_arrays(made("model.keras"));
  REQUIRE(source);
  const Texts paths = paths_of(*source);
  CHECK(std::is_sorted(paths.begin(), paths.end()));
  CHECK(read_all<float>(*source, "layers/dense/vars/0") == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(read_all<float>(*source, "layers/dense/vars/1") == std::vector{0.5F, -0.5F});
  CHECK_THAT(read_texts(*source, "(config.json)").front(), Contains("Sequential"));
  for (const std::string& path : paths)
    CHECK_THAT(path, !Contains("metadata"));
  const TempHome home;
  CHECK_THAT(refusal(made("stored.npz"), declared("keras")), Contains("has no model.weights.h5"));
}

TEST_CASE("keras: what layers share has a number, not its address in the memory of one process") {
  const TempHome home;
  const auto saved = [&](const std::string& name, const std::string& configuration) {
    const auto path = home / name;
    const std::string script =
        "import sys, zipfile\n"
        "old, new = zipfile.ZipFile(sys.argv[1]), zipfile.ZipFile(sys.argv[2], 'w')\n"
        "for n in old.namelist():\n"
        "    new.writestr(n, sys.argv[3] if n == 'config.json' else old.read(n))\n"
        "new.close()\n";
    base::Command command;
    command.argv = {
        "python3", "-c", script, made("model.keras").string(), path.string(), configuration};
    REQUIRE(base::SystemProcessRunner().run(command).ok());
    return read_texts(*open_arrays(path), "(config.json)").front();
  };
  const std::string one = saved(
      "a.keras",
      R"({"x": {"shared_object_id": 140261612198864}, "y": {"shared_object_id": 7}, "z": {"shared_object_id": 140261612198864}})");
  CHECK(
      one ==
      R"({"x": {"shared_object_id": 1}, "y": {"shared_object_id": 2}, "z": {"shared_object_id": 1}})");
  CHECK(
      saved(
          "b.keras",
          R"({"x": {"shared_object_id": 7}, "y": {"shared_object_id": 8}, "z": {"shared_object_id": 7}})") ==
      one);
  CHECK(
      saved(
          "c.keras",
          R"({"x": {"shared_object_id": 7}, "y": {"shared_object_id": 8}, "z": {"shared_object_id": 8}})") !=
      one);
  CHECK(saved("d.keras", R"({"name": "\"shared_object_id\": 12", "shared_object_id": )") ==
        R"({"name": "\"shared_object_id\": 12", "shared_object_id": 1)");
}

TEST_CASE("arrays: a declared format is what a file must be") {
  const TempHome home;
  const auto path = written(home, "x.txt", "hello, world, this is text\n");
  CHECK_FALSE(open_arrays(path));
  CHECK_FALSE(open_arrays(written(home, "x.zip", "PK\x05\x06" + std::string(18, '\0'))));
  for (const char* format : {"hdf5", "netcdf", "npy", "npz", "safetensors", "onnx", "keras"}) {
    INFO(format);
    CHECK_THAT(refusal(path, declared(format)), Contains("x.txt"));
  }
  CHECK_FALSE(open_arrays(made("c.npy"), declared("bytes")));
}
