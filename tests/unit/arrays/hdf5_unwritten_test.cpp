#include "arrays/hdf5/h5_unwritten.hpp"
#include "h5_maker.hpp"
#include "support/temp_home.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/compare/compare_runs.hpp>

#include <chrono>
#include <set>

using namespace sabath;
using namespace sabath::test;
using arrays::open_hdf5;
using Catch::Matchers::Contains;

namespace {

using Shape = std::vector<hsize_t>;

H5Id chunked(const Shape& chunk) {
  H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(plan.get(), static_cast<int>(chunk.size()), chunk.data());
  return plan;
}

H5Id make_dataset(hid_t file, const Shape& shape, hid_t plan, hid_t type = H5T_NATIVE_DOUBLE) {
  H5Id dataset(H5Dcreate2(file, "d", type, make_space(shape).get(), H5P_DEFAULT, plan, H5P_DEFAULT),
               H5Dclose);
  REQUIRE(dataset);
  return dataset;
}

void write_box(hid_t dataset, const Shape& start, const Shape& extent) {
  hsize_t count = 1;
  for (const hsize_t along : extent)
    count *= along;
  const std::vector<double> ones(count, 1);
  const H5Id space(H5Dget_space(dataset), H5Sclose);
  REQUIRE(H5Sselect_hyperslab(
              space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) >= 0);
  REQUIRE(H5Dwrite(dataset,
                   H5T_NATIVE_DOUBLE,
                   make_space(extent).get(),
                   space.get(),
                   H5P_DEFAULT,
                   ones.data()) >= 0);
}

/// A data set whose chunks `written` (flat indices in the grid) were written.
std::vector<bool> make_written(const std::filesystem::path& path,
                               const Shape& shape,
                               const Shape& chunk,
                               const std::set<std::uint64_t>& written) {
  const H5Id file = make_file(path);
  const H5Id dataset = make_dataset(file.get(), shape, chunked(chunk).get());
  std::uint64_t elements = 1;
  for (const hsize_t along : shape)
    elements *= along;
  std::vector<bool> is_written(elements);
  for (std::uint64_t flat = 0; flat < elements; ++flat) {
    Shape index(shape.size());
    std::uint64_t rest = flat;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      index[axis] = rest % shape[axis];
    std::uint64_t of_chunk = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      of_chunk =
          of_chunk * ((shape[axis] + chunk[axis] - 1) / chunk[axis]) + index[axis] / chunk[axis];
    is_written[flat] = written.contains(of_chunk);
    if (is_written[flat]) write_box(dataset.get(), index, Shape(shape.size(), 1));
  }
  return is_written;
}

/// Each stretch has only what was not written, and goes on along its row as far as it can.
void check_stretches(const arrays::H5Unwritten& unwritten,
                     const std::vector<bool>& is_written,
                     std::uint64_t row) {
  for (std::uint64_t first = 0; first < is_written.size(); ++first) {
    const std::uint64_t stretch = unwritten.from(first);
    INFO(first << " + " << stretch);
    REQUIRE(stretch <= is_written.size() - first);
    for (std::uint64_t i = 0; i < stretch; ++i)
      REQUIRE_FALSE(is_written[first + i]);
    const std::uint64_t next = first + stretch;
    const bool is_at_end = next == is_written.size() || is_written[next] || next % row == 0;
    REQUIRE(is_at_end);
    if (stretch == 0) REQUIRE(is_written[first]);
  }
}

}  // namespace

TEST_CASE("hdf5: which elements no chunk was written for is told of every one of them") {
  struct Case {
    Shape shape{};
    Shape chunk{};
    std::set<std::uint64_t> written{};
  };
  const std::vector<Case> cases{{{10}, {3}, {1}},
                                {{10}, {3}, {0, 3}},
                                {{10}, {3}, {}},
                                {{7, 5}, {2, 2}, {4}},
                                {{7, 5}, {2, 2}, {0, 5, 11}},
                                {{7, 5}, {7, 1}, {2}},
                                {{4, 6, 5}, {2, 3, 2}, {7}},
                                {{4, 6, 5}, {2, 3, 2}, {0, 1, 2, 3, 4, 5}},
                                {{4, 6, 5}, {1, 6, 5}, {1, 3}}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    const TempHome home;
    const auto& [shape, chunk, written] = cases[i];
    const auto is_written = make_written(home / "a.h5", shape, chunk, written);
    const H5Id file(H5Fopen((home / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const H5Id dataset(H5Dopen2(file.get(), "d", H5P_DEFAULT), H5Dclose);
    check_stretches(arrays::H5Unwritten(dataset.get()), is_written, shape.back());
  }
}

TEST_CASE("hdf5: a stretch that nobody wrote goes on over rows and planes") {
  const TempHome home;
  make_written(home / "a.h5", {4, 6, 5}, {2, 3, 2}, {7});  // planes 2 and 3, rows 0 to 2
  const H5Id file(H5Fopen((home / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const H5Id dataset(H5Dopen2(file.get(), "d", H5P_DEFAULT), H5Dclose);
  const arrays::H5Unwritten unwritten(dataset.get());
  CHECK(unwritten.from(0) == 2 * 30);
  CHECK(unwritten.from(30) == 30);
  CHECK(unwritten.from(31) == 4);
  CHECK(unwritten.from(60) == 2);
  CHECK(unwritten.from(62) == 0);
  CHECK(unwritten.from(64) == 1);
  CHECK(unwritten.from(75) == 15);
}

TEST_CASE("hdf5: a data set without storage is unwritten, and one that has all of it is not") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "never.h5");
    make_dataset(file.get(), {std::uint64_t{1} << 50U}, chunked({1U << 20U}).get());
    const double values[]{1, 2, 3};
    put(make_file(home / "all.h5").get(),
        "d",
        H5T_NATIVE_DOUBLE,
        H5T_NATIVE_DOUBLE,
        {3},
        values,
        chunked({3}).get());
    make_dataset(make_file(home / "late.h5").get(), {3}, H5P_DEFAULT);
    put(make_file(home / "plain.h5").get(), "d", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {3}, values);
  }
  const auto unwritten = [&](const std::string& name, std::uint64_t first) {
    const auto source = open_hdf5(home / name);
    return source->unwritten(info_of(*source, "d"), first);
  };
  CHECK(unwritten("never.h5", 5) == (std::uint64_t{1} << 50U) - 5);
  CHECK(unwritten("all.h5", 0) == 0);
  CHECK(unwritten("late.h5", 1) == 2);
  CHECK(unwritten("plain.h5", 0) == 0);
}

TEST_CASE("hdf5: files of a kilobyte that say that they have petabytes are compared in no time") {
  const TempHome home;
  const Shape shape{std::uint64_t{1} << 50U};
  const H5Id plan = chunked({1U << 20U});
  make_dataset(make_file(home / "zeros.h5").get(), shape, plan.get());
  write_box(
      make_dataset(make_file(home / "one.h5").get(), shape, plan.get()).get(), {1U << 30U}, {1});
  const double three = 3;
  H5Pset_fill_value(plan.get(), H5T_NATIVE_DOUBLE, &three);
  make_dataset(make_file(home / "threes.h5").get(), shape, plan.get());
  const auto different = [&](const std::string& name) {
    const auto zeros = open_hdf5(home / "zeros.h5");
    const auto other = open_hdf5(home / name);
    return compare::compare_files(*zeros, *other, {}, {}).outputs.at(0).different;
  };
  CHECK(different("zeros.h5") == 0);
  CHECK(different("one.h5") == 1);
  CHECK(different("threes.h5") == std::uint64_t{1} << 50U);
}

TEST_CASE("hdf5: parts of a fill value that is an array are not taken for alike") {
  const TempHome home;
  const hsize_t three = 3;
  const H5Id type(H5Tarray_create2(H5T_NATIVE_INT32, 1, &three), H5Tclose);
  const H5Id plan = chunked({4});
  const std::int32_t fill[]{1, 2, 3};
  H5Pset_fill_value(plan.get(), type.get(), fill);
  make_dataset(make_file(home / "a.h5").get(), {1000}, plan.get(), type.get());
  const auto source = open_hdf5(home / "a.h5");
  CHECK(source->unwritten(info_of(*source, "d"), 0) == 0);
  CHECK(read_range<std::int32_t>(*source, "d", 0, 4) == std::vector<std::int32_t>{1, 2, 3, 1});
}

TEST_CASE("hdf5: a packed chunk that is too large for memory is not unpacked") {
  const TempHome home;
  const H5Id plan = chunked({(1U << 27U) + 1});
  H5Pset_deflate(plan.get(), 1);
  make_dataset(make_file(home / "a.h5").get(), {(1U << 27U) + 1}, plan.get());
  const auto source = open_hdf5(home / "a.h5");
  CHECK_THAT(info_of(*source, "d").unreadable,
             Contains("chunks of 1073741832 bytes, more than are unpacked at once"));
}

TEST_CASE("hdf5: a chunk as large that is not packed is read where it lies") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id dataset =
        make_dataset(file.get(), {(1U << 27U) + 1}, chunked({(1U << 27U) + 1}).get());
    CHECK(arrays::H5Unwritten(dataset.get()).from(0) == (1U << 27U) + 1);
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(info_of(*source, "d").unreadable.empty());
  CHECK(read_range<double>(*source, "d", 1U << 20U, 2) == std::vector<double>{0, 0});
}

TEST_CASE("hdf5: groups within groups are walked as fast as others") {
  const TempHome home;
  constexpr int depth = 3000;
  {
    const H5Id file = make_file(home / "a.h5");
    H5Id group = make_group(file.get(), "g");
    const double value = 7;
    for (int i = 1; i < depth; ++i) {
      if (i % 10 == 0) put(group.get(), "d", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {}, &value);
      group = make_group(group.get(), "g");
    }
    put_attribute(group.get(), "depth", H5T_NATIVE_INT32, {}, &depth);
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto source = open_hdf5(home / "a.h5");
  double sum = 0;
  for (const base::ArrayInfo& info : source->list()) {
    if (info.is_attribute) continue;
    double value = 0;
    source->read(info, 0, 1, std::as_writable_bytes(std::span(&value, 1)));
    sum += value;
  }
  CHECK(sum == 7 * 299);
  CHECK(source->list().back().path.ends_with("/g@depth"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}
