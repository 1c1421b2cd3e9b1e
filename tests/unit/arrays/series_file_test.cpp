#include "arrays/series_path.hpp"
#include "h5_maker.hpp"
#include "support/temp_home.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <arrays/hdf5/hdf5_file.hpp>

#include <bit>
#include <csignal>
#include <optional>
#include <set>

#include <sys/resource.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::test;
using arrays::read_series;
using arrays::SeriesWriter;
using Catch::Matchers::Contains;

namespace {

// As in `arrays`, but also where another case of this program used HDF5 first.
const herr_t no_exit_handler = H5dont_atexit();

double from_bits(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

base::SeriesPoint numbered(std::int64_t i) {
  return {static_cast<std::int32_t>(i % 3), i, i / 10, static_cast<double>(i) / 7, 0.25};
}

/// More points than one chunk has.
void write_long_series(const std::filesystem::path& path) {
  SeriesWriter writer(path);
  for (std::int64_t i = 0; i < 70'000; ++i)
    writer.add(writer.open("s", "loss"), numbered(i));
  writer.close();
}

}  // namespace

TEST_CASE("series: every bit of every column comes back, sorted by stream and name") {
  const TempHome home;
  const std::vector<double> values{from_bits(0x7FF0000000000001),
                                   from_bits(0xFFF8000000C0FFEE),
                                   -0.0,
                                   from_bits(1),
                                   -std::numeric_limits<double>::infinity()};
  {
    SeriesWriter writer(home / "series.h5");
    for (std::size_t i = 0; i < values.size(); ++i) {
      writer.add(writer.open("train", "loss"),
                 {static_cast<std::int32_t>(i), 5, -7, values[i], 1.5});
    }
    writer.add(writer.open("train", "accuracy"), {0, base::no_step, base::no_step, 0.5});
    writer.add(writer.open("simulate", "mass"),
               {2, std::numeric_limits<std::int64_t>::max(), 0, 1, 2});
    writer.close();
  }
  const auto all = read_series(home / "series.h5");
  REQUIRE(all.size() == 3);
  CHECK(all[0].stream == "simulate");
  CHECK(all[0].step == std::vector{std::numeric_limits<std::int64_t>::max()});
  CHECK(all[1].name == "accuracy");
  CHECK(all[1].step == std::vector{base::no_step});
  CHECK(std::isnan(all[1].time_s.at(0)));
  CHECK(all[2].name == "loss");
  CHECK(all[2].rank == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  CHECK(all[2].epoch == std::vector<std::int64_t>(5, -7));
  CHECK(all[2].time_s == std::vector<double>(5, 1.5));
  REQUIRE(all[2].size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(bits_of(all[2].value[i]) == bits_of(values[i]));
  }
}

TEST_CASE("series: a long series and many short ones are whole") {
  const TempHome home;
  constexpr std::int64_t long_length = 140'000;  // more than two blocks
  constexpr std::int64_t short_length = 14'000;  // of twenty: more than is held back in all
  {
    SeriesWriter writer(home / "series.h5");
    for (std::int64_t i = 0; i < long_length; ++i)
      writer.add(writer.open("s", "long"), numbered(i));
    for (std::int64_t i = 0; i < short_length; ++i) {
      for (int k = 0; k < 20; ++k)
        writer.add(writer.open("s", "m" + std::to_string(k)), numbered(i));
    }
    writer.close();
  }
  const auto all = read_series(home / "series.h5");
  REQUIRE(all.size() == 21);
  for (const spec::Series& series : all) {
    const std::int64_t length = series.name == "long" ? long_length : short_length;
    REQUIRE(series.size() == static_cast<std::size_t>(length));
    bool same = true;
    for (std::int64_t i = 0; i < length; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const base::SeriesPoint expected = numbered(i);
      same = same && series.rank[at] == expected.rank && series.step[at] == expected.step &&
             series.epoch[at] == expected.epoch && series.value[at] == expected.value &&
             series.time_s[at] == expected.time_s;
    }
    CHECK(same);
  }
}

TEST_CASE("series: any name comes back as it was") {
  const TempHome home;
  const std::vector<std::string> names{
      "", ".", "..", "%", "%2F", "a/b", "a//b/", "\xC3\xA9 t\n", std::string("a\0b", 3), "x.y"};
  {
    SeriesWriter writer(home / "series.h5");
    for (const std::string& name : names)
      writer.add(writer.open("s", name), {0, 1, 2, 3, 4});
    writer.close();
  }
  std::set<std::string> back;
  for (const spec::Series& series : read_series(home / "series.h5"))
    back.insert(series.name);
  CHECK(back == std::set<std::string>(names.begin(), names.end()));
  CHECK(arrays::name_of_link("%2") == std::nullopt);
  CHECK(arrays::name_of_link("a%GG") == std::nullopt);
}

TEST_CASE("series: equal points make equal bytes", "[long]") {
  const TempHome home;
  for (const char* name : {"a.h5", "b.h5"}) {
    SeriesWriter writer(home / name);
    for (std::int64_t i = 0; i < 70'000; ++i)
      writer.add(writer.open("s", "loss"), numbered(i));
    writer.close();
    if (std::string(name) == "a.h5") ::usleep(1'100'000);  // a stamp of whole seconds would differ
  }
  CHECK(base::digest_file(home / "a.h5") == base::digest_file(home / "b.h5"));
}

TEST_CASE("series: the file appears only when it is closed, and leaves nothing else behind") {
  const TempHome home;
  {
    SeriesWriter writer(home / "series.h5");
    writer.add(writer.open("s", "loss"), {});
    CHECK_FALSE(std::filesystem::exists(home / "series.h5"));
  }
  CHECK(files_in(home.path()) == 0);
  SeriesWriter writer(home / "series.h5");
  writer.add(writer.open("s", "loss"), {});
  writer.close();
  CHECK(read_series(home / "series.h5").size() == 1);
  CHECK(files_in(home.path()) == 1);
  CHECK_NOTHROW(writer.close());
  CHECK_THROWS_AS(writer.add(writer.open("s", "loss"), {}), base::Error);
}

TEST_CASE("series: without a point there is no file") {
  const TempHome home;
  SeriesWriter writer(home / "series.h5");
  writer.close();
  CHECK(files_in(home.path()) == 0);
  CHECK_THROWS_AS(writer.add(writer.open("s", "loss"), {}), base::Error);
}

TEST_CASE("series: a folder that is not there is told with the first point") {
  const TempHome home;
  SeriesWriter writer(home / "none/series.h5");
  try {
    writer.add(writer.open("s", "loss"), {});
    FAIL("it was made");
  } catch (const base::Error& error) {
    CHECK(error.kind() != base::ErrorKind::internal);
  }
}

TEST_CASE("series: a full disk is Error{storage} and leaves no file under the name") {
  const TempHome home;
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  struct rlimit small = before;
  small.rlim_cur = 100'000;
  std::optional<base::ErrorKind> kind;
  ::setrlimit(RLIMIT_FSIZE, &small);
  try {
    SeriesWriter writer(home / "series.h5");
    for (std::int64_t i = 0; i < 200'000; ++i)
      writer.add(writer.open("s", "loss"), numbered(i));
    writer.close();
  } catch (const base::Error& error) {
    kind = error.kind();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(kind == base::ErrorKind::storage);
  CHECK_FALSE(std::filesystem::exists(home / "series.h5"));
}

TEST_CASE("series: a file that is not a series file is refused with the reason") {
  const TempHome home;
  const std::int32_t schema = 1;
  const std::int32_t later = 2;
  const double value = 1;
  const std::int64_t step = 1;
  { const H5Id file = make_file(home / "plain.h5"); }
  {
    const H5Id file = make_file(home / "later.h5");
    put_attribute(file.get(), "schema", H5T_STD_I32LE, {}, &later);
  }
  {
    const H5Id file = make_file(home / "flat.h5");
    put_attribute(file.get(), "schema", H5T_STD_I32LE, {}, &schema);
    put(file.get(), "value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1}, &value);
  }
  {
    const H5Id file = make_file(home / "column.h5");
    put_attribute(file.get(), "schema", H5T_STD_I32LE, {}, &schema);
    const H5Id stream = make_group(file.get(), "s");
    const H5Id metric = make_group(stream.get(), "loss");
    put(metric.get(), "value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1}, &value);
    put(metric.get(), "rank", H5T_STD_I64LE, H5T_NATIVE_INT64, {1}, &step);
  }
  CHECK_THROWS_WITH(read_series(home / "plain.h5"), Contains("no attribute 'schema'"));
  CHECK_THROWS_WITH(read_series(home / "later.h5"), Contains("schema 2"));
  CHECK_THROWS_WITH(read_series(home / "flat.h5"), Contains("flat.h5:/value"));
  CHECK_THROWS_WITH(read_series(home / "column.h5"), Contains("s/loss/rank") && Contains("type"));
  CHECK_THROWS_AS(read_series(home / "none.h5"), base::Error);
}

TEST_CASE("series: a small file that says that it has 2^50 points takes no memory") {
  const TempHome home;
  write_long_series(home / "series.h5");
  {
    const H5Id file(H5Fopen((home / "series.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    for (const char* name : {"rank", "step", "epoch", "value", "time_s"}) {
      const H5Id column(H5Dopen2(file.get(), (std::string("/s/loss/") + name).c_str(), H5P_DEFAULT),
                        H5Dclose);
      const hsize_t length = hsize_t{1} << 50U;
      REQUIRE(H5Dset_extent(column.get(), &length) >= 0);
    }
  }
  CHECK_THROWS_WITH(read_series(home / "series.h5"),
                    Contains("more values than the file has room"));
}

TEST_CASE("series: columns of different length are refused") {
  const TempHome home;
  write_long_series(home / "series.h5");
  {
    const H5Id file(H5Fopen((home / "series.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    const H5Id column(H5Dopen2(file.get(), "/s/loss/step", H5P_DEFAULT), H5Dclose);
    const hsize_t length = 69'999;
    REQUIRE(H5Dset_extent(column.get(), &length) >= 0);
  }
  CHECK_THROWS_WITH(read_series(home / "series.h5"), Contains("differ in length"));
}

TEST_CASE("series: whole numbers that no double holds come back, wherever they begin") {
  const TempHome home;
  const base::ExactNumber large = base::exact_number(std::uint64_t{18'446'744'073'709'551'615U});
  const auto [first, points] = GENERATE(std::pair<std::size_t, std::size_t>(0, 3),
                                        std::pair<std::size_t, std::size_t>(1, 3),
                                        std::pair<std::size_t, std::size_t>(70'000, 70'001),
                                        std::pair<std::size_t, std::size_t>(65'536, 140'000));
  {
    SeriesWriter writer(home / "series.h5");
    for (std::size_t i = 0; i < points; ++i) {
      base::SeriesPoint point = numbered(static_cast<std::int64_t>(i));
      if (i == first) point.value = large.value;
      if (i == first) point.rest = large.rest;
      writer.add(writer.open("train", "sum"), point);
      writer.add(writer.open("train", "loss"), numbered(static_cast<std::int64_t>(i)));
    }
    writer.close();
  }
  spec::SeriesRests rests;
  const auto series = read_series(home / "series.h5", &rests);
  REQUIRE(series.size() == 2);
  REQUIRE(rests.size() == 1);
  const std::vector<double>* const of_sum = spec::rests_of(rests, series[1]);
  REQUIRE(of_sum != nullptr);
  REQUIRE(of_sum->size() == points);
  for (std::size_t i = 0; i < points; ++i)
    REQUIRE((*of_sum)[i] == (i == first ? large.rest : 0));
  CHECK(base::text_of(spec::number_at(series[1], of_sum, first)) == "18446744073709551615");
  const auto whole = spec::whole_summaries(series, rests);
  REQUIRE(whole.size() == 1);
  CHECK(whole.at("train/sum").max == "18446744073709551615");
}

TEST_CASE("series: a file of doubles has no further column") {
  const TempHome home;
  {
    SeriesWriter writer(home / "series.h5");
    for (std::int64_t i = 0; i < 5; ++i)
      writer.add(writer.open("train", "loss"), numbered(i));
    writer.close();
  }
  const auto source = arrays::open_hdf5(home / "series.h5");
  std::vector<std::string> paths;
  for (const base::ArrayInfo& info : source->list())
    paths.push_back(info.path);
  CHECK(paths == std::vector<std::string>{"@schema",
                                          "train/loss/epoch",
                                          "train/loss/rank",
                                          "train/loss/step",
                                          "train/loss/time_s",
                                          "train/loss/value"});
}
