#include "h5_maker.hpp"
#include "support/temp_home.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/error.hpp>

using namespace sabath;
using namespace sabath::test;
using arrays::open_hdf5;
using Catch::Matchers::Contains;

namespace {

constexpr double half = 0.5;

void put_half(hid_t parent, const std::string& name) {
  put(parent, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, &half);
}

void require_unreadable(const std::filesystem::path& path,
                        const std::string& array,
                        const std::string& words) {
  const auto source = open_hdf5(path);
  const base::ArrayInfo info = info_of(*source, array);
  CHECK_THAT(info.unreadable, Contains(words));
  CHECK_THROWS_AS(source->read_texts(info, 0, info.elements()), base::Error);
}

}  // namespace

TEST_CASE("hdf5: arrays and attributes of groups at any depth are listed by path") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id outer = make_group(file.get(), "g");
    const H5Id inner = make_group(outer.get(), "h");
    make_group(file.get(), "empty");
    put_half(inner.get(), "d");
    put_half(file.get(), "d");
    const std::int32_t number = 7;
    put_attribute(file.get(), "root", H5T_NATIVE_INT32, {}, &number);
    put_attribute(inner.get(), "group", H5T_NATIVE_INT32, {}, &number);
    const H5Id dataset(H5Dopen2(file.get(), "/g/h/d", H5P_DEFAULT), H5Dclose);
    put_attribute(dataset.get(), "own", H5T_NATIVE_INT32, {}, &number);
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(paths_of(*source) ==
        std::vector<std::string>{"@root", "d", "g/h/d", "g/h/d@own", "g/h@group"});
  CHECK(info_of(*source, "g/h/d@own").is_attribute);
  CHECK_FALSE(info_of(*source, "g/h/d").is_attribute);
  CHECK(read_all<std::int32_t>(*source, "g/h/d@own") == std::vector{7});
}

TEST_CASE("hdf5: a range of an attribute is read right") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const std::vector<std::int32_t> numbers{1, 2, 3, 4};
    put_attribute(file.get(), "numbers", H5T_NATIVE_INT32, {2, 2}, numbers.data());
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(read_range<std::int32_t>(*source, "@numbers", 1, 2) == std::vector{2, 3});
}

TEST_CASE("hdf5: soft links are told, not followed, and may dangle") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    put_half(file.get(), "d");
    H5Lcreate_soft("/d", file.get(), "to_d", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", file.get(), "to_nothing", H5P_DEFAULT, H5P_DEFAULT);
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(paths_of(*source) == std::vector<std::string>{"d", "to_d", "to_nothing"});
  CHECK(info_of(*source, "to_d").type == base::ArrayType::text);
  CHECK(read_texts(*source, "to_d") == std::vector<std::string>{"link to /d"});
  CHECK(read_texts(*source, "to_nothing") == std::vector<std::string>{"link to /nowhere"});
}

TEST_CASE("hdf5: a cycle of groups ends, a data set of two names has both") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id group = make_group(file.get(), "g");
    put_half(group.get(), "d");
    H5Lcreate_hard(file.get(), "/", group.get(), "back", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file.get(), "/g", group.get(), "self", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file.get(), "/g/d", file.get(), "alias", H5P_DEFAULT, H5P_DEFAULT);
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(paths_of(*source) == std::vector<std::string>{"alias", "g/back", "g/d", "g/self"});
  CHECK(read_texts(*source, "g/back") == std::vector<std::string>{"link to the group /"});
  CHECK(read_texts(*source, "g/self") == std::vector<std::string>{"link to the group /g"});
  CHECK(read_all<double>(*source, "alias") == std::vector{half});
}

TEST_CASE("hdf5: a link into another file is told by name and not followed") {
  const TempHome home;
  put_half(make_file(home / "b.h5").get(), "d");
  {
    const H5Id file = make_file(home / "a.h5");
    H5Lcreate_external("b.h5", "/d", file.get(), "out", H5P_DEFAULT, H5P_DEFAULT);
  }
  require_unreadable(home / "a.h5", "out", "is an external link to '/d' in 'b.h5'");
}

TEST_CASE("hdf5: data that lie in another file are told by name and not read") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "raw.h5");
    const H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(plan.get(), "secret.bin", 0, H5F_UNLIMITED);
    const H5Id space = make_space({2});
    const H5Id dataset(
        H5Dcreate2(
            file.get(), "d", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, plan.get(), H5P_DEFAULT),
        H5Dclose);
    REQUIRE(dataset);
  }
  require_unreadable(home / "raw.h5", "d", "has its data outside, in 'secret.bin'");
  {
    const H5Id file = make_file(home / "virtual.h5");
    const H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const H5Id space = make_space({2});
    REQUIRE(H5Pset_virtual(plan.get(), space.get(), "other.h5", "d", space.get()) >= 0);
    const H5Id dataset(
        H5Dcreate2(
            file.get(), "d", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, plan.get(), H5P_DEFAULT),
        H5Dclose);
    REQUIRE(dataset);
  }
  require_unreadable(home / "virtual.h5", "d", "has its data outside, in 'other.h5'");
}

TEST_CASE("hdf5: which other files hold values is told of each array") {
  const TempHome home;
  const std::vector<double> values{1, 2};
  {
    const H5Id file = make_file(home / "plain.h5");
    put(file.get(), "d", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {2}, values.data());
    H5Lcreate_soft("/d", file.get(), "to_d", H5P_DEFAULT, H5P_DEFAULT);
  }
  CHECK(arrays::outside_values(home / "plain.h5").empty());
  {
    const H5Id file = make_file(home / "master.h5");
    put(file.get(), "plain", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {2}, values.data());
    H5Lcreate_external("linked.h5", "/d", file.get(), "link", H5P_DEFAULT, H5P_DEFAULT);
    const H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const H5Id space = make_space({4});
    const H5Id half_of = make_space({2});
    for (const auto& [from, other] : {std::pair{0, "one.h5"}, std::pair{2, "two.h5"}}) {
      const hsize_t start = static_cast<hsize_t>(from);
      const hsize_t count = 2;
      H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
      REQUIRE(H5Pset_virtual(plan.get(), space.get(), other, "d", half_of.get()) >= 0);
    }
    const H5Id whole = make_space({4});
    const H5Id dataset(
        H5Dcreate2(
            file.get(), "view", H5T_IEEE_F64LE, whole.get(), H5P_DEFAULT, plan.get(), H5P_DEFAULT),
        H5Dclose);
    REQUIRE(dataset);
  }
  const std::vector<base::OutsideValues> outside{
      {"link", "linked.h5"}, {"view", "one.h5"}, {"view", "two.h5"}};
  CHECK(arrays::outside_values(home / "master.h5") == outside);
  spec::OutputRule bytes;
  bytes.as = "bytes";
  CHECK(arrays::outside_values(home / "master.h5", bytes).empty());
}

TEST_CASE(
    "hdf5: a virtual data set is read of plain ones of the file, and of nothing behind them") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const std::vector<double> values{1, 2};
    put(file.get(), "plain", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {2}, values.data());
    const H5Id outside(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(outside.get(), "secret.bin", 0, H5F_UNLIMITED);
    const H5Id space = make_space({2});
    const auto create = [&](const char* name, hid_t plan) {
      const H5Id dataset(
          H5Dcreate2(file.get(), name, H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, plan, H5P_DEFAULT),
          H5Dclose);
      REQUIRE(dataset);
    };
    create("outside", outside.get());
    H5Lcreate_external("b.h5", "/d", file.get(), "link", H5P_DEFAULT, H5P_DEFAULT);
    for (const char* source : {"plain", "/outside", "link", "view of plain", "none"}) {
      const H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      REQUIRE(H5Pset_virtual(plan.get(), space.get(), ".", source, space.get()) >= 0);
      create(("view of " + std::string(source[0] == '/' ? source + 1 : source)).c_str(),
             plan.get());
    }
  }
  const auto source = open_hdf5(home / "a.h5");
  CHECK(read_all<double>(*source, "view of plain") == std::vector<double>{1, 2});
  for (const char* name :
       {"view of outside", "view of link", "view of view of plain", "view of none"}) {
    CHECK_THAT(info_of(*source, name).unreadable, Contains("not a plain data set of this file"));
  }
}

TEST_CASE("hdf5: an array too large for its size to be a number is refused") {
  const TempHome home;
  {
    const H5Id file = make_file(home / "a.h5");
    const H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const std::vector<hsize_t> chunk{4, 4};
    H5Pset_chunk(plan.get(), 2, chunk.data());
    const H5Id space = make_space({hsize_t{1} << 32U, hsize_t{1} << 30U});
    const H5Id dataset(
        H5Dcreate2(
            file.get(), "d", H5T_STD_I8LE, space.get(), H5P_DEFAULT, plan.get(), H5P_DEFAULT),
        H5Dclose);
    REQUIRE(dataset);
  }
  CHECK_THROWS_WITH(open_hdf5(home / "a.h5"), Contains("a.h5:/d: cannot be read"));
}
