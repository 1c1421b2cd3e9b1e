#include "h5_maker.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>

#include <fcntl.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::test;
using arrays::open_hdf5;
using Catch::Matchers::Contains;

namespace {

/// The error that `action` throws, or a failure of the test.
template <class Action>
base::Error error_of(Action action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  return {base::ErrorKind::internal, ""};
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.5);
  return values;
}

void require_every_range(base::ArraySource& source, const std::vector<double>& expected) {
  for (std::size_t first = 0; first <= expected.size(); ++first) {
    for (std::size_t count = 0; first + count <= expected.size(); ++count) {
      const auto values = read_range<double>(source, "d", first, count);
      const auto from = expected.begin() + static_cast<std::ptrdiff_t>(first);
      if (!std::equal(values.begin(), values.end(), from)) {
        FAIL("range " << first << "+" << count << " is wrong");
      }
    }
  }
}

H5Id dataset_plan() {
  return {H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
}

/// What goes to the error output of the process while `action` runs.
template <class Action>
std::string error_output_of(const std::filesystem::path& file, Action action) {
  const base::UniqueFd saved(::dup(2));
  const base::UniqueFd sink(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ::dup2(sink.get(), 2);
  action();
  ::dup2(saved.get(), 2);
  return base::read_file(file);
}

std::size_t position_of(const std::string& bytes, double value) {
  const std::string needle(reinterpret_cast<const char*>(&value), sizeof value);
  const std::size_t at = bytes.find(needle);
  REQUIRE(at != std::string::npos);
  return at;
}

}  // namespace

TEST_CASE("hdf5: every flat range of a contiguous array is read right") {
  const TempHome home;
  const auto values = counted(std::size_t{3} * 4 * 2);
  put(make_file(home / "a.h5").get(),
      "d",
      H5T_IEEE_F64LE,
      H5T_NATIVE_DOUBLE,
      {3, 4, 2},
      values.data());
  const auto source = open_hdf5(home / "a.h5");
  CHECK(info_of(*source, "d").shape == std::vector<std::uint64_t>{3, 4, 2});
  require_every_range(*source, values);
}

TEST_CASE("hdf5: every flat range of a chunked and compressed array is read right") {
  const TempHome home;
  const auto values = counted(std::size_t{3} * 4 * 5);
  const H5Id plan = dataset_plan();
  const std::vector<hsize_t> chunk{2, 3, 2};
  H5Pset_chunk(plan.get(), 3, chunk.data());
  H5Pset_shuffle(plan.get());
  H5Pset_deflate(plan.get(), 6);
  H5Pset_fletcher32(plan.get());
  put(make_file(home / "a.h5").get(),
      "d",
      H5T_IEEE_F64BE,
      H5T_NATIVE_DOUBLE,
      {3, 4, 5},
      values.data(),
      plan.get());
  const auto source = open_hdf5(home / "a.h5");
  require_every_range(*source, values);
}

TEST_CASE("hdf5: compact arrays, scalars and arrays without elements are read") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const auto values = counted(6);
    const H5Id compact = dataset_plan();
    H5Pset_layout(compact.get(), H5D_COMPACT);
    put(file.get(), "d", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {2, 3}, values.data(), compact.get());
    put(file.get(), "scalar", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, values.data());
    put(file.get(), "nothing", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {0, 3}, values.data());
    const H5Id null_space(H5Screate(H5S_NULL), H5Sclose);
    const H5Id null(H5Dcreate2(file.get(),
                               "null",
                               H5T_IEEE_F64LE,
                               null_space.get(),
                               H5P_DEFAULT,
                               H5P_DEFAULT,
                               H5P_DEFAULT),
                    H5Dclose);
  }
  const auto source = open_hdf5(home / "a.h5");
  require_every_range(*source, counted(6));
  CHECK(info_of(*source, "scalar").shape.empty());
  CHECK(read_all<double>(*source, "scalar") == std::vector{0.5});
  CHECK(read_all<double>(*source, "nothing").empty());
  CHECK(info_of(*source, "null").elements() == 0);
}

TEST_CASE("hdf5: a range that does not fit the array is refused") {
  const TempHome home;
  const auto values = counted(4);
  put(make_file(home / "a.h5").get(), "d", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {4}, values.data());
  const auto source = open_hdf5(home / "a.h5");
  const base::ArrayInfo info = info_of(*source, "d");
  std::vector<std::byte> out(8);
  CHECK_THROWS_AS(source->read(info, 4, 1, out), base::Error);
  CHECK_THROWS_AS(source->read(info, ~std::uint64_t{0}, 1, out), base::Error);
  CHECK_THROWS_AS(source->read(info, 0, 2, out), base::Error);
  CHECK_NOTHROW(source->read(info, 3, 1, out));
}

TEST_CASE("hdf5: missing files, folders, and files of another kind say what they are") {
  const TempHome home;
  base::write_file_atomically(home / "text.h5", "hello, this is no HDF5 file at all\n");
  CHECK(error_of([&] { open_hdf5(home / "none.h5"); }).kind() == base::ErrorKind::not_found);
  const base::Error folder = error_of([&] { open_hdf5(home.path()); });
  CHECK(folder.kind() == base::ErrorKind::integrity);
  CHECK_THAT(folder.what(), Contains("not a file"));
  const base::Error text = error_of([&] { open_hdf5(home / "text.h5"); });
  CHECK(text.kind() == base::ErrorKind::integrity);
  CHECK_THAT(text.what(), Contains("text.h5: cannot open as HDF5: ") && Contains("signature"));
}

TEST_CASE("hdf5: a file cut short is damaged, and HDF5 itself prints nothing") {
  const TempHome home;
  const auto values = counted(4096);
  put(make_file(home / "a.h5").get(),
      "d",
      H5T_IEEE_F64LE,
      H5T_NATIVE_DOUBLE,
      {4096},
      values.data());
  const auto full = std::filesystem::file_size(home / "a.h5");
  for (const std::uintmax_t left : {full - 1, full / 2, std::uintmax_t{600}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(home / "a.h5", left);
    std::string message;
    const std::string printed = error_output_of(home / "printed", [&] {
      try {
        open_hdf5(home / "a.h5");
      } catch (const base::Error& error) {
        message = error.what();
        if (error.kind() != base::ErrorKind::integrity) message = "wrong kind: " + message;
      }
    });
    CHECK(printed.empty());
    CHECK_THAT(message, Contains("a.h5: cannot open as HDF5: "));
    if (left == full - 1) CHECK_THAT(message, Contains("truncated file"));
  }
}

TEST_CASE("hdf5: damaged data are found when they are read") {
  const TempHome home;
  const auto values = counted(512);
  const H5Id plan = dataset_plan();
  const hsize_t chunk = 512;
  H5Pset_chunk(plan.get(), 1, &chunk);
  H5Pset_fletcher32(plan.get());
  put(make_file(home / "a.h5").get(),
      "d",
      H5T_IEEE_F64LE,
      H5T_NATIVE_DOUBLE,
      {512},
      values.data(),
      plan.get());
  std::string bytes = base::read_file(home / "a.h5");
  bytes[position_of(bytes, 200.5)] ^= 1;
  std::ofstream(home / "a.h5", std::ios::binary) << bytes;
  const auto source = open_hdf5(home / "a.h5");
  const base::Error error = error_of([&] { read_all<double>(*source, "d"); });
  CHECK(error.kind() == base::ErrorKind::integrity);
  CHECK_THAT(error.what(), Contains("a.h5:/d: cannot read: ") && Contains("checksum"));
}

namespace {

std::size_t pass_through(
    unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) noexcept {
  return bytes;
}

}  // namespace

TEST_CASE("hdf5: a filter that is not there is named") {
  const TempHome home;
  constexpr H5Z_filter_t filter = 311;
  const H5Z_class2_t known{
      H5Z_CLASS_T_VERS, filter, 1, 1, "wondrous", nullptr, nullptr, pass_through};
  REQUIRE(H5Zregister(&known) >= 0);
  const auto values = counted(8);
  const H5Id plan = dataset_plan();
  const hsize_t chunk = 8;
  H5Pset_chunk(plan.get(), 1, &chunk);
  H5Pset_filter(plan.get(), filter, H5Z_FLAG_MANDATORY, 0, nullptr);
  put(make_file(home / "a.h5").get(),
      "d",
      H5T_IEEE_F64LE,
      H5T_NATIVE_DOUBLE,
      {8},
      values.data(),
      plan.get());
  CHECK(read_all<double>(*open_hdf5(home / "a.h5"), "d") == values);
  REQUIRE(H5Zunregister(filter) >= 0);
  const auto source = open_hdf5(home / "a.h5");
  const base::Error error = error_of([&] { read_all<double>(*source, "d"); });
  CHECK(error.kind() == base::ErrorKind::integrity);
  CHECK_THAT(error.what(), Contains("filter 311 'wondrous'") && Contains("HDF5_PLUGIN_PATH"));
  CHECK_THAT(info_of(*source, "d").unreadable, Contains("filter 311 'wondrous'"));
}

TEST_CASE("hdf5: an optional filter that is not there matters only where it was applied") {
  const TempHome home;
  constexpr H5Z_filter_t filter = 312;
  const H5Z_class2_t known{
      H5Z_CLASS_T_VERS, filter, 1, 1, "optional", nullptr, nullptr, pass_through};
  REQUIRE(H5Zregister(&known) >= 0);
  const auto values = counted(8);
  const H5Id plan = dataset_plan();
  const hsize_t chunk = 8;
  H5Pset_chunk(plan.get(), 1, &chunk);
  H5Pset_filter(plan.get(), filter, H5Z_FLAG_OPTIONAL, 0, nullptr);
  {
    const H5Id file = make_file(home / "a.h5");
    put(file.get(), "d", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {8}, values.data(), plan.get());
    const H5Id space = make_space({8});
    const H5Id unwritten(
        H5Dcreate2(
            file.get(), "u", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, plan.get(), H5P_DEFAULT),
        H5Dclose);
  }
  REQUIRE(H5Zunregister(filter) >= 0);
  const auto source = open_hdf5(home / "a.h5");
  CHECK_THAT(info_of(*source, "d").unreadable, Contains("filter 312 'optional'"));
  CHECK(read_all<double>(*source, "u") == std::vector<double>(8));
}

TEST_CASE("hdf5: contiguous values are read right behind a user block, and from any byte order") {
  const TempHome home;
  const auto values = counted(1000);
  {
    const H5Id plan(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    REQUIRE(H5Pset_userblock(plan.get(), 1024) >= 0);
    const H5Id file(H5Fcreate((home / "a.h5").c_str(), H5F_ACC_EXCL, plan.get(), H5P_DEFAULT),
                    H5Fclose);
    put(file.get(), "little", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {10, 100}, values.data());
    put(file.get(), "big", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, {10, 100}, values.data());
  }
  const auto source = open_hdf5(home / "a.h5");
  for (const char* name : {"little", "big"}) {
    CHECK(read_all<double>(*source, name) == values);
    CHECK(read_range<double>(*source, name, 995, 5) ==
          std::vector<double>(values.end() - 5, values.end()));
  }
}

TEST_CASE("hdf5: what NetCDF notes of its libraries is no content") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.nc");
    const std::int32_t version = 2;
    put_attribute(file.get(), "_NCProperties", H5T_NATIVE_INT32, {}, &version);
    put_attribute(
        make_group(file.get(), "g").get(), "_NCProperties", H5T_NATIVE_INT32, {}, &version);
  }
  CHECK(paths_of(*open_hdf5(home / "a.nc")) == std::vector<std::string>{"g@_NCProperties"});
}

TEST_CASE("hdf5: texts are read in ranges, also within elements that are arrays") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id two(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(two.get(), 2);
    const hsize_t three = 3;
    const H5Id triple(H5Tarray_create2(two.get(), 1, &three), H5Tclose);
    put(file.get(), "d", triple.get(), triple.get(), {2}, "a\0b\0c\0d\0e\0f\0");
  }
  const auto source = open_hdf5(home / "a.h5");
  const base::ArrayInfo info = info_of(*source, "d");
  CHECK(info.shape == std::vector<std::uint64_t>{2, 3});
  CHECK(source->read_texts(info, 2, 3) == std::vector<std::string>{"c", "d", "e"});
  CHECK(source->read_texts(info, 6, 0).empty());
  CHECK_THROWS_AS(source->read_texts(info, 5, 2), base::Error);
}

TEST_CASE("hdf5: a large element that is an array is not read anew for each range") {
  const TempHome home;
  constexpr std::size_t values = 1U << 21U;
  std::vector<double> written(2 * values);
  for (std::size_t i = 0; i < written.size(); ++i)
    written[i] = static_cast<double>(i);
  {
    // Of the other order of bytes, so that HDF5 converts it.
    const H5Id file = make_file(home / "a.h5");
    const hsize_t many = values;
    const H5Id in_file(H5Tarray_create2(H5T_IEEE_F64BE, 1, &many), H5Tclose);
    const H5Id in_memory(H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &many), H5Tclose);
    put(file.get(), "d", in_file.get(), in_memory.get(), {2}, written.data());
  }
  const auto source = open_hdf5(home / "a.h5");
  const base::ArrayInfo info = info_of(*source, "d");
  std::vector<double> found(written.size());
  const auto seconds_of = [&](std::size_t block) {
    const auto begun = std::chrono::steady_clock::now();
    for (std::size_t first = 0; first < found.size(); first += block) {
      const std::size_t count = std::min(block, found.size() - first);
      source->read(
          info, first, count, std::as_writable_bytes(std::span(found).subspan(first, count)));
    }
    CHECK(found == written);
    std::fill(found.begin(), found.end(), -1);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  const double whole = seconds_of(found.size());
  // 512 ranges; each with an element of its own would take 256 times as long.
  CHECK(seconds_of(8191) < 40 * whole + 0.5);
}

TEST_CASE("hdf5: what a newer library wrote is no damage, and keeps nothing else from being read") {
  const TempHome home;
  const double value = 0.75;
  haddr_t offset = 0;
  {
    const H5Id file = make_file(home / "a.h5");
    put(file.get(), "new", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &value);
    put(file.get(), "old", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &value);
    const H5Id dataset(H5Dopen2(file.get(), "new", H5P_DEFAULT), H5Dclose);
    offset = H5Dget_offset(dataset.get());
  }
  // "HDF5 File Format Specification", IV.A.2.i: the layout's version, its class, the address.
  std::string bytes = base::read_file(home / "a.h5");
  std::string layout = "\x03\x01";
  layout.append(reinterpret_cast<const char*>(&offset), sizeof offset);
  const auto at = bytes.find(layout);
  REQUIRE(at != std::string::npos);
  bytes[at] = 9;
  base::write_file_atomically(home / "a.h5", bytes);
  const auto source = open_hdf5(home / "a.h5");
  CHECK(read_all<double>(*source, "old") == std::vector<double>{value});
  CHECK_THAT(
      info_of(*source, "new").unreadable,
      Contains("is of a newer version of the format than HDF5 ") && Contains("bad version number"));
}

TEST_CASE("hdf5: a damaged attribute list or group keeps nothing else from being read") {
  const TempHome home;
  const double value = 0.75;
  {
    const H5Id file = make_file(home / "a.h5");
    put(file.get(), "a", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &value);
    put(file.get(), "b", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &value);
    const H5Id group(H5Gcreate2(file.get(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    put(group.get(), "inner", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &value);
    const H5Id dataset(H5Dopen2(file.get(), "a", H5P_DEFAULT), H5Dclose);
    const H5Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const H5Id attribute(
        H5Acreate2(
            dataset.get(), "units", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    REQUIRE(H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, &value) >= 0);
  }
  const std::string whole = base::read_file(home / "a.h5");
  const auto damaged = [&](std::size_t at, char byte) {
    std::string bytes = whole;
    bytes[at] = byte;
    base::write_file_atomically(home / "a.h5", bytes);
    return open_hdf5(home / "a.h5");
  };

  // "HDF5 File Format Specification", IV.A.2.m: version, reserved, the length of the name.
  const auto name = whole.find(std::string("units\0", 6));
  REQUIRE(name != std::string::npos);
  REQUIRE(whole[name - 6] == 6);
  const auto attributes = damaged(name - 6, 8);
  CHECK_THAT(info_of(*attributes, "a@").unreadable, Contains("cannot be read ("));
  CHECK(read_all<double>(*attributes, "a") == std::vector<double>{value});
  CHECK(read_all<double>(*attributes, "b") == std::vector<double>{value});
  CHECK(read_all<double>(*attributes, "g/inner") == std::vector<double>{value});

  // III.A.1: the B-tree of the second group of the file.
  const auto tree = whole.find("TREE", whole.find("TREE") + 1);
  REQUIRE(tree != std::string::npos);
  const auto group = damaged(tree, 'X');
  CHECK_THAT(info_of(*group, "g").unreadable, Contains("cannot be read ("));
  CHECK(read_all<double>(*group, "a@units") == std::vector<double>{value});
}
