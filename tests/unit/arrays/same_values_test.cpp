// Files of different content are different: what a reader of the field would see is compared.
#include "h5_maker.hpp"
#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/compare/compare_runs.hpp>

#include <array>
#include <fstream>

using namespace sabath;
using namespace sabath::test;
using arrays::open_arrays;
using base::ArrayType;
using Catch::Matchers::Contains;
using spec::Verdict;
using Texts = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

fs::path written(const TempHome& home, const std::string& name, const std::string& bytes) {
  std::ofstream(home / name, std::ios::binary) << bytes;
  return home / name;
}

Verdict compared(const fs::path& a, const fs::path& b) {
  const auto of_a = open_arrays(a);
  const auto of_b = open_arrays(b);
  REQUIRE(of_a);
  REQUIRE(of_b);
  return compare::compare_files(*of_a, *of_b, {}, {}).result;
}

Verdict compared_csv(const std::string& a, const std::string& b) {
  const TempHome home;
  return compared(written(home, "a.csv", a), written(home, "b.csv", b));
}

H5Id enumeration(const std::vector<const char*>& names) {
  H5Id type(H5Tenum_create(H5T_NATIVE_INT16), H5Tclose);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto value = static_cast<std::int16_t>(i);
    REQUIRE(H5Tenum_insert(type.get(), names[i], &value) >= 0);
  }
  return type;
}

fs::path with_enumeration(const TempHome& home,
                          const std::string& name,
                          const std::vector<const char*>& names) {
  const H5Id file = make_file(home / name);
  const H5Id type = enumeration(names);
  const std::array<std::int16_t, 3> values{0, 1, 1};
  put(file.get(), "x", type.get(), type.get(), {3}, values.data());
  return home / name;
}

fs::path with_tag(const TempHome& home, const std::string& name, const char* tag) {
  const H5Id file = make_file(home / name);
  const H5Id type(H5Tcreate(H5T_OPAQUE, 8), H5Tclose);
  REQUIRE(H5Tset_tag(type.get(), tag) >= 0);
  const std::int64_t value = 7;
  put(file.get(), "t", type.get(), type.get(), {1}, &value);
  return home / name;
}

fs::path with_space(const TempHome& home, const std::string& name, H5S_class_t kind) {
  const H5Id file = make_file(home / name);
  const double value = 1;
  put(file.get(), "full", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &value);
  const hsize_t none = 0;
  const H5Id space(kind == H5S_NULL ? H5Screate(H5S_NULL) : H5Screate_simple(1, &none, nullptr),
                   H5Sclose);
  const H5Id dataset(
      H5Dcreate2(
          file.get(), "x", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  REQUIRE(dataset);
  return home / name;
}

fs::path with_user_block(const TempHome& home, const std::string& name, std::string block) {
  block.resize(512);
  const H5Id plan(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  REQUIRE(H5Pset_userblock(plan.get(), block.size()) >= 0);
  {
    const H5Id file(H5Fcreate((home / name).c_str(), H5F_ACC_EXCL, plan.get(), H5P_DEFAULT),
                    H5Fclose);
    const double value = 1;
    put(file.get(), "x", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &value);
  }
  std::fstream(home / name, std::ios::in | std::ios::out | std::ios::binary) << block;
  return home / name;
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    bytes += static_cast<char>(number >> shift & 0xFFU);
  return bytes;
}

/// A classic NetCDF file that has a dimension "n", and a variable "x" of one number.
std::string netcdf(std::uint32_t length) {
  const std::string none(8, '\0');
  const std::string header = std::string("CDF\1", 4) + big_endian(0) + big_endian(10) +
                             big_endian(1) + big_endian(1) + std::string("n\0\0\0", 4) +
                             big_endian(length) + none + big_endian(11) + big_endian(1) +
                             big_endian(1) + std::string("x\0\0\0", 4) + big_endian(0) + none +
                             big_endian(4) + big_endian(4);
  return header + big_endian(static_cast<std::uint32_t>(header.size()) + 4) + big_endian(7);
}

/// An ONNX model without nodes, with fields of the model behind its graph.
std::string onnx(const std::string& fields) {
  return std::string("\x08\x08", 2) + "\x3A\x03\x12\x01g" + fields;
}

std::string npy(const std::string& version, const std::string& header, const std::string& data) {
  std::string bytes = "\x93NUMPY" + version;
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + data;
}

}  // namespace

TEST_CASE("same values: numbers of tables keep all digits, with a point or an exponent, too") {
  for (const char* form : {"", ".0", "e0", ".00"}) {
    const std::string a = "x\n9007199254740993" + std::string(form) + "\n";
    const std::string b = "x\n9007199254740992" + std::string(form) + "\n";
    CHECK(compared_csv(a, b) == Verdict::fail);
    CHECK(compared_csv(a, a) == Verdict::pass);
  }
  // What floating-point numbers are printed as stays a number, with its tolerance.
  CHECK(compared_csv("x\n1.2345678901234568e+16\n", "x\n1.2345678901234570e+16\n") ==
        Verdict::pass);
  CHECK(compared_csv("x\n1.152921504606847e+18\n", "x\n1152921504606846976.0\n") == Verdict::pass);
}

TEST_CASE("same values: names of an enumeration are part of its type") {
  const TempHome home;
  const auto a = with_enumeration(home, "a.h5", {"no", "yes"});
  CHECK(read_texts(*open_arrays(a), "x@(type)") == Texts{"enum (no = 0, yes = 1)"});
  CHECK(compared(a, with_enumeration(home, "b.h5", {"yes", "no"})) == Verdict::fail);
  CHECK(compared(a, with_enumeration(home, "c.h5", {"no", "yes", "maybe"})) == Verdict::fail);
  CHECK(compared(a, with_enumeration(home, "d.h5", {"no", "yes"})) == Verdict::pass);
}

TEST_CASE("same values: so is the tag of an opaque type, where h5py has the unit of times") {
  const TempHome home;
  const auto a = with_tag(home, "a.h5", "NUMPY:<M8[ns]");
  CHECK(compared(a, with_tag(home, "b.h5", "NUMPY:<M8[us]")) == Verdict::fail);
  CHECK(compared(a, with_tag(home, "c.h5", "NUMPY:<M8[ns]")) == Verdict::pass);
}

TEST_CASE("same values: no dataspace is no array without elements") {
  const TempHome home;
  const auto null = with_space(home, "a.h5", H5S_NULL);
  CHECK(compared(null, with_space(home, "b.h5", H5S_SIMPLE)) == Verdict::fail);
  CHECK(compared(null, with_space(home, "c.h5", H5S_NULL)) == Verdict::pass);
}

TEST_CASE("same values: a user block counts, but for MATLAB's date") {
  const TempHome home;
  const auto a = with_user_block(home, "a.h5", "one");
  CHECK(compared(a, with_user_block(home, "b.h5", "other")) == Verdict::fail);
  CHECK(compared(a, with_user_block(home, "c.h5", "one")) == Verdict::pass);
  const auto matlab = with_user_block(home, "d.h5", "MATLAB 7.3 MAT-file, Created on: Mon");
  CHECK(compared(matlab, with_user_block(home, "e.h5", "MATLAB 7.3 MAT-file, Created on: Tue")) ==
        Verdict::pass);
}

TEST_CASE("same values: dimensions that no variable has are listed with their sizes") {
  const TempHome home;
  const auto a = written(home, "a.nc", netcdf(3));
  CHECK(read_texts(*open_arrays(a), "@(dimensions)") == Texts{"n = 3"});
  CHECK(compared(a, written(home, "b.nc", netcdf(4))) == Verdict::fail);
  CHECK(compared(a, written(home, "c.nc", netcdf(3))) == Verdict::pass);
}

TEST_CASE("same values: metadata of an ONNX model counts, its producer does not") {
  const TempHome home;
  const auto a = written(home, "a.onnx", onnx("\x32\x03one"));
  CHECK(compared(a, written(home, "b.onnx", onnx("\x32\x03two"))) == Verdict::fail);
  CHECK(compared(a, written(home, "c.onnx", onnx("\x32\x03one\x72\x03\x0A\x01k"))) ==
        Verdict::fail);
  CHECK(compared(a, written(home, "d.onnx", onnx("\x12\x05torch\x32\x03one"))) == Verdict::pass);
}

TEST_CASE("same values: an NPY header says each key once, and nothing else") {
  const TempHome home;
  const std::string head = "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)";
  const std::string data(8, '\1');
  const std::string one("\1\0", 2);
  const auto refused = [&](const std::string& bytes) {
    try {
      open_arrays(written(home, "x.npy", bytes));
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::integrity);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused(npy(one, head + "}", data.substr(4))).empty());
  CHECK_THAT(refused(npy(one, head + ", 'descr': '<f4'}", data.substr(4))),
             Contains("other keys than"));
  CHECK_THAT(refused(npy(one, head + ", 'more': 1}", data.substr(4))), Contains("other keys than"));
  CHECK_THAT(refused(npy("\1\xFF", head + "}", data.substr(4))), Contains("version 1.255"));
}
