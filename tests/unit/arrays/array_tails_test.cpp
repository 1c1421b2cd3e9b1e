// What stands in a file behind its first array, or behind the file that it holds.
#include "h5_maker.hpp"
#include "support/temp_home.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <fstream>

using namespace sabath;
using namespace sabath::test;
using arrays::open_arrays;
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;

namespace {

std::filesystem::path made(const std::string& name) {
  return std::filesystem::path(SABATH_TEST_DATA) / "arrays" / name;
}

std::filesystem::path written(const TempHome& home,
                              const std::string& name,
                              const std::string& bytes) {
  std::ofstream(home / name, std::ios::binary) << bytes;
  return home / name;
}

spec::OutputRule declared(const std::string& as) {
  spec::OutputRule rule;
  rule.as = as;
  return rule;
}

/// The bytes of an HDF5 file with one number, and of libraries as old or as new as can be.
std::string hdf5_of(const TempHome& home, double value, bool is_new, hsize_t user_block = 0) {
  const std::filesystem::path path = home / "made.h5";
  std::filesystem::remove(path);
  {
    const H5Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    const H5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    REQUIRE(H5Pset_userblock(creation.get(), user_block) >= 0);
    if (is_new) H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const H5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose);
    put(file.get(), "d", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, &value);
  }
  return base::read_file(path);
}

/// As tar packs files: each behind a block of 512 bytes, and filled up to such blocks.
std::string tar_of(const Texts& files) {
  std::string archive;
  for (const std::string& file : files) {
    std::string header = "member.h5";
    header.resize(512, '\0');
    archive += header + file;
    archive.resize((archive.size() + 511) / 512 * 512, '\0');
  }
  return archive + std::string(1024, '\0');
}

std::string npy_of(const std::string& type, const std::string& shape, const std::string& data) {
  const std::string header =
      "{'descr': " + type + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) + '\0' + header +
         data;
}

}  // namespace

TEST_CASE("hdf5: an archive of files is not its first member") {
  const TempHome home;
  for (const bool is_new : {false, true}) {
    INFO((is_new ? "newest" : "oldest") << " format");
    const std::string a = hdf5_of(home, 1, is_new);
    const std::string b = hdf5_of(home, 2, is_new);
    CHECK_FALSE(open_arrays(written(home, "one.tar", tar_of({a, b}))));
    CHECK_FALSE(open_arrays(written(home, "of-one.tar", tar_of({a}))));
    const auto one = open_arrays(home / "one.tar", declared("hdf5"));
    const auto two = open_arrays(written(home, "two.tar", tar_of({a, a})), declared("hdf5"));
    CHECK(paths_of(*one) == Texts{"(rest)", "(user block)", "d"});
    CHECK(read_all<double>(*one, "d") == std::vector<double>{1});
    CHECK(read_texts(*one, "(rest)") != read_texts(*two, "(rest)"));
    CHECK_THAT(read_texts(*one, "(rest)").front(), Contains("sha256:"));
  }
}

TEST_CASE("hdf5: a file behind a user block is one, and so is what was put behind something") {
  const TempHome home;
  for (const bool is_new : {false, true}) {
    INFO((is_new ? "newest" : "oldest") << " format");
    const auto own = open_arrays(written(home, "own.mat", hdf5_of(home, 3, is_new, 1024)));
    REQUIRE(own);
    CHECK(paths_of(*own) == Texts{"(user block)", "d"});
    const auto later =
        open_arrays(written(home, "later.bin", std::string(2048, 'x') + hdf5_of(home, 4, is_new)));
    REQUIRE(later);
    CHECK(read_all<double>(*later, "d") == std::vector<double>{4});
  }
}

TEST_CASE("hdf5: what stands behind the end of a file is by its digest") {
  const TempHome home;
  const std::string a = hdf5_of(home, 1, false);
  CHECK(paths_of(*open_arrays(written(home, "a.h5", a))) == Texts{"d"});
  const auto two = open_arrays(written(home, "two.h5", a + hdf5_of(home, 2, false)));
  const auto three = open_arrays(written(home, "three.h5", a + hdf5_of(home, 3, false)));
  CHECK(paths_of(*two) == Texts{"(rest)", "d"});
  CHECK(read_texts(*two, "(rest)") != read_texts(*three, "(rest)"));
}

TEST_CASE("npy: every array that was saved to the file is read") {
  const TempHome home;
  const std::string first = npy_of("'<i2'", "(2,)", std::string("\1\0\2\0", 4));
  const std::string second = npy_of("[('a', '|u1'), ('t', '<M8[s]')]", "(1,)", "123456789");
  const auto source = open_arrays(written(home, "x.npy", first + second + first));
  REQUIRE(source);
  CHECK(paths_of(*source) == Texts{"data", "data 2/a", "data 2/t", "data 2/t@(type)", "data 3"});
  CHECK(read_all<std::int16_t>(*source, "data") == std::vector<std::int16_t>{1, 2});
  CHECK(read_all<std::uint8_t>(*source, "data 2/a") == std::vector<std::uint8_t>{'1'});
  CHECK(read_all<std::int16_t>(*source, "data 3") == std::vector<std::int16_t>{1, 2});
}

TEST_CASE("npy: what follows an array and is none is by its digest") {
  const TempHome home;
  const std::string array = npy_of("'<i2'", "(2,)", "1234");
  const auto source = open_arrays(written(home, "x.npy", array + array + "\x93NUM"));
  REQUIRE(source);
  CHECK(paths_of(*source) == Texts{"data", "data (rest)", "data 2"});
  const auto other = open_arrays(written(home, "y.npy", array + array + "\x93NUN"));
  CHECK(read_texts(*source, "data (rest)") != read_texts(*other, "data (rest)"));
  CHECK_THROWS_WITH(open_arrays(written(home, "z.npy", array + "\x93NUMPY\x01")),
                    Contains("z.npy: cannot read"));
}

TEST_CASE("npy: nothing is looked for behind pickled objects") {
  const TempHome home;
  const auto source =
      open_arrays(written(home, "x.npy", npy_of("'|O'", "(1,)", "\x80\x04pickle-of-any-length")));
  REQUIRE(source);
  CHECK(paths_of(*source) == Texts{"data"});
  CHECK_THAT(info_of(*source, "data").unreadable, Contains("pickled"));
}

TEST_CASE("npz: members with several arrays, and with a rest") {
  const auto source = open_arrays(made("several.npz"));
  REQUIRE(source);
  CHECK(paths_of(*source) == Texts{"more", "more 2", "one", "tail", "tail (rest)"});
  CHECK(read_all<double>(*source, "more 2") == std::vector<double>{7, 8});
  CHECK(read_all<double>(*source, "one") == std::vector<double>{1, 2});
  CHECK(read_all<double>(*source, "more") == std::vector<double>{3, 4, 5});
}
