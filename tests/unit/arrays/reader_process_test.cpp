// HDF5 files are read by a process apart.
#include "arrays/reader/reader_client.hpp"
#include "support/hostile_hdf5.hpp"
#include "support/temp_home.hpp"
#include "support/variables.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/arrays/series_file.hpp>
#include <sabath/base/process/reader_ended.hpp>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <thread>

#include <unistd.h>

using namespace sabath;
using namespace sabath::test;
using arrays::open_arrays;
using Catch::Matchers::Contains;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

base::ReadLimits within(steady_clock::duration time) {
  return {{}, steady_clock::now() + time};
}

std::string end_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const base::ReaderEnded& ended) {
    return ended.what();
  }
  return "it did not end";
}

std::vector<double> counted(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.5);
  return values;
}

/// The processes that this one has started and not yet waited for.
std::set<int> children() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    std::ifstream stream(entry.path() / "stat");
    std::string text;
    std::getline(stream, text);
    // The name in parentheses may have any character; the state and the parent follow it.
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos || end + 4 >= text.size()) continue;
    if (std::stoi(text.substr(end + 4)) == ::getpid()) found.insert(std::stoi(name));
  }
  return found;
}

}  // namespace

TEST_CASE("reader process: gives what HDF5 gives in this process") {
  const TempHome home;
  const auto path = home / "a.h5";
  const std::vector<double> values = counted(1'000'000);
  {
    const H5Id file = make_file(path);
    put(file.get(), "plain", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1000, 1000}, values.data());
    const H5Id plan(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const std::array<hsize_t, 2> chunk{100, 300};
    REQUIRE(H5Pset_chunk(plan.get(), 2, chunk.data()) >= 0);
    REQUIRE(H5Pset_deflate(plan.get(), 1) >= 0);
    put(file.get(),
        "packed",
        H5T_IEEE_F64BE,
        H5T_NATIVE_DOUBLE,
        {1000, 1000},
        values.data(),
        plan.get());
    const H5Id group = make_group(file.get(), "group");
    const std::int32_t number = 7;
    put_attribute(group.get(), "number", H5T_NATIVE_INT32, {}, &number);
  }
  const auto here = arrays::open_hdf5(path);
  const auto apart = open_arrays(path);
  REQUIRE(apart->list() == here->list());
  CHECK(read_all<double>(*apart, "plain") == values);
  CHECK(read_all<double>(*apart, "packed") == values);
  CHECK(read_all<std::int32_t>(*apart, "group@number") == std::vector<std::int32_t>{7});
  // In blocks, as comparisons read: from the fourth on they are read before they are asked for.
  const base::ArrayInfo packed = info_of(*apart, "packed");
  std::vector<double> block(70'000);
  for (std::size_t first = 0; first < values.size(); first += block.size()) {
    block.resize(std::min(block.size(), values.size() - first));
    apart->read(packed, first, block.size(), std::as_writable_bytes(std::span(block)));
    REQUIRE(std::equal(block.begin(), block.end(), values.begin() + static_cast<int>(first)));
  }
  block.resize(3);
  apart->read(packed, 17, 3, std::as_writable_bytes(std::span(block)));
  CHECK(block == std::vector<double>{17.5, 18.5, 19.5});
}

TEST_CASE("reader process: many small arrays have the values that HDF5 gives in this process",
          "[long]") {
  const TempHome home;
  const auto path = home / "a.h5";
  {
    const H5Id file = make_file(path);
    const H5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
    REQUIRE(H5Tset_size(text.get(), H5T_VARIABLE) >= 0);
    for (int i = 0; i < 300; ++i) {
      const std::string name = "x" + std::to_string(i);
      // Some have too many values to be sent with others, and some have none.
      const std::size_t count = i % 50 == 49 ? 5000 : static_cast<std::size_t>(i % 4);
      const std::vector<double> values = counted(count);
      put(file.get(), name, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, {count}, values.data());
      const std::array<const char*, 2> texts{"one", name.c_str()};
      put(file.get(), "t" + name, text.get(), text.get(), {2}, texts.data());
      const H5Id owner(H5Oopen(file.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
      put_attribute(owner.get(), "n", H5T_NATIVE_INT, {}, &i);
    }
  }
  const auto here = arrays::open_hdf5(path);
  auto list = here->list();
  const auto check_all = [&](base::ArraySource& apart) {
    for (const base::ArrayInfo& info : list) {
      INFO(info.path);
      if (base::size_of(info.type) == 0) {
        REQUIRE(read_texts(apart, info.path) == read_texts(*here, info.path));
        REQUIRE(apart.read_texts(info, 1, 1) == here->read_texts(info, 1, 1));
        continue;
      }
      std::vector<std::byte> ours(info.elements() * base::size_of(info.type));
      std::vector<std::byte> theirs(ours.size());
      here->read(info, 0, info.elements(), ours);
      apart.read(info, 0, info.elements(), theirs);
      REQUIRE(ours == theirs);
    }
  };
  const auto onwards = open_arrays(path);
  REQUIRE(onwards->list() == list);
  check_all(*onwards);
  std::reverse(list.begin(), list.end());
  check_all(*onwards);
  check_all(*open_arrays(path));
}

TEST_CASE("reader process: a small array that ends it takes no other with it") {
  const TempHome home;
  const auto path = home / "endless.h5";
  make_endless_hdf5(path);  // "a" and "b" are sent with "x", which is read for ever
  for (const char* first : {"a", "b"}) {
    const auto source = open_arrays(path, {}, within(seconds(20)));
    CHECK(read_all<std::int32_t>(*source, first) == std::vector<std::int32_t>{1, 2, 3, 4});
    CHECK(read_all<std::int32_t>(*source, "a") == std::vector<std::int32_t>{1, 2, 3, 4});
    CHECK(read_all<std::int32_t>(*source, "b") == std::vector<std::int32_t>{1, 2, 3, 4});
  }
}

TEST_CASE("reader process: what HDF5 refuses has the same words") {
  const TempHome home;
  const auto path = home / "cut.h5";
  make_plain_hdf5(path);
  std::filesystem::resize_file(path, 1000);
  const auto words = [&](const auto& open) -> std::string {
    try {
      open();
    } catch (const base::Error& error) {
      CHECK(error.kind() == base::ErrorKind::integrity);
      return error.what();
    }
    return "it was opened";
  };
  const std::string here = words([&] { arrays::open_hdf5(path); });
  CHECK(here == words([&] { arrays::open_hdf5_apart(path); }));
  CHECK_THAT(here, Contains("cut.h5: cannot open as HDF5: "));
}

TEST_CASE("reader process: one that has answered with an error reads no other file") {
  const TempHome home;
  make_plain_hdf5(home / "plain.h5");
  make_plain_hdf5(home / "cut.h5");
  std::filesystem::resize_file(home / "cut.h5", 1000);
  open_arrays(home / "plain.h5");
  const std::set<int> before = children();
  open_arrays(home / "plain.h5");
  REQUIRE(children() == before);  // a good file leaves its process to the next one
  CHECK_THROWS_AS(arrays::open_hdf5_apart(home / "cut.h5"), base::Error);
  const std::set<int> after = children();
  CHECK_FALSE(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  CHECK(read_all<std::int32_t>(*open_arrays(home / "plain.h5"), "b") ==
        std::vector<std::int32_t>{1, 2, 3, 4});
}

TEST_CASE("reader process: a crash ends it alone, and is said") {
  const TempHome home;
  make_plain_hdf5(home / "plain.h5");
  make_crashing_hdf5(home / "crash.h5");
  const std::string said = end_of([&] { open_arrays(home / "crash.h5"); });
  // A sanitizer ends the process itself.
  const auto is_crash = [](const std::string& text) {
    return text.find("was killed by signal 11") != std::string::npos ||
           text.find("exited with status 1") != std::string::npos;
  };
  CHECK_THAT(said, Contains("crash.h5: cannot be read: the reader process "));
  CHECK(is_crash(said));
  CHECK(read_all<std::int32_t>(*open_arrays(home / "plain.h5"), "b") ==
        std::vector<std::int32_t>{1, 2, 3, 4});
  CHECK(is_crash(end_of([&] { arrays::outside_values(home / "crash.h5"); })));
  CHECK(is_crash(end_of([&] { arrays::read_series(home / "crash.h5"); })));
}

TEST_CASE("reader process: one that never answers is ended at its limit, and the rest is read",
          "[long]") {
  const TempHome home;
  make_endless_hdf5(home / "endless.h5");
  const auto source = open_arrays(home / "endless.h5", {}, within(seconds(2)));
  CHECK(read_all<std::int32_t>(*source, "b") == std::vector<std::int32_t>{1, 2, 3, 4});
  CHECK_THAT(end_of([&] { read_texts(*source, "x"); }),
             Contains("endless.h5:/x: cannot be read: the reader process was ended"));
  const auto again = open_arrays(home / "endless.h5");
  const auto begin = steady_clock::now();
  CHECK_THAT(end_of([&] { read_texts(*again, "x"); }),
             Contains("the reader process took more than its limit of 10.0 s"));
  CHECK(steady_clock::now() - begin >= seconds(9));
  CHECK(read_all<std::int32_t>(*again, "b") == std::vector<std::int32_t>{1, 2, 3, 4});
  CHECK(read_all<std::int32_t>(*again, "a") == std::vector<std::int32_t>{1, 2, 3, 4});
}

TEST_CASE("reader process: a stop request ends the wait for it") {
  const TempHome home;
  make_endless_hdf5(home / "endless.h5");
  std::stop_source stop;
  base::ReadLimits limits;
  limits.stop = stop.get_token();
  const auto source = open_arrays(home / "endless.h5", {}, limits);
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  const auto begin = steady_clock::now();
  try {
    read_texts(*source, "x");
    FAIL("it was read");
  } catch (const base::Error& error) {
    CHECK(error.kind() == base::ErrorKind::interrupted);
  }
  CHECK(steady_clock::now() - begin < seconds(5));
}

TEST_CASE("reader process: a file that is gone can still be read, and many can be open") {
  const TempHome home;
  std::vector<std::unique_ptr<base::ArraySource>> sources;
  for (int i = 0; i < 8; ++i) {
    const auto path = home / ("a" + std::to_string(i) + ".h5");
    make_plain_hdf5(path);
    sources.push_back(open_arrays(path));
    std::filesystem::remove(path);
  }
  for (const auto& source : sources) {
    CHECK(read_all<std::int32_t>(*source, "b") == std::vector<std::int32_t>{1, 2, 3, 4});
    CHECK(read_texts(*source, "x") == std::vector<std::string>{"one", "two"});
  }
}

TEST_CASE("reader process: one that was killed from outside is replaced") {
  const TempHome home;
  make_plain_hdf5(home / "a.h5");
  std::unique_ptr<base::ArraySource> source;
  // It dies with the thread that started it.
  std::jthread([&] { source = open_arrays(home / "a.h5"); }).join();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(read_texts(*source, "x") == std::vector<std::string>{"one", "two"});
}
