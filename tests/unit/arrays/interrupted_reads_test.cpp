// Large files of every format stop being read when that is asked for, also while they are opened.
#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/arrays/array_file.hpp>
#include <sabath/base/error.hpp>

#include <catch2/catch.hpp>

#include <fstream>
#include <thread>

using namespace sabath;
using namespace sabath::test;
using arrays::open_arrays;
using base::ErrorKind;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

/// Opens the file and reads all of it in blocks.
void read_whole(const std::filesystem::path& path, const base::ReadLimits& limits) {
  const auto source = open_arrays(path, {}, limits);
  REQUIRE(source);
  std::vector<std::byte> block;
  for (const base::ArrayInfo& info : source->list()) {
    const std::uint64_t size = base::size_of(info.type);
    for (std::uint64_t first = 0; size > 0 && first < info.elements();) {
      const std::uint64_t count = std::min<std::uint64_t>(info.elements() - first, 65'536);
      block.resize(count * size);
      source->read(info, first, count, block);
      first += count;
    }
  }
}

ErrorKind kind_of_end(const std::filesystem::path& path, const base::ReadLimits& limits) {
  try {
    read_whole(path, limits);
  } catch (const base::Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

}  // namespace

TEST_CASE("interrupted reads: a large table is left while it is opened") {
  const TempHome home;
  const auto path = home / "large.csv";
  {
    std::ofstream file(path);
    file << "a,b\n";
    for (int i = 0; i < 3'000'000; ++i)
      file << i << ",0.25\n";
  }
  std::stop_source stop;
  base::ReadLimits limits;
  limits.stop = stop.get_token();
  steady_clock::time_point stopped{};
  ErrorKind kind{};
  {
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(milliseconds(100));
      stopped = steady_clock::now();
      stop.request_stop();
    });
    kind = kind_of_end(path, limits);
  }
  CHECK(kind == ErrorKind::interrupted);
  CHECK(steady_clock::now() - stopped < milliseconds(500));
}

TEST_CASE("interrupted reads: every format looks at the request and at the time") {
  const std::filesystem::path made = std::filesystem::path(SABATH_TEST_DATA) / "arrays";
  std::stop_source stop;
  stop.request_stop();
  base::ReadLimits stopped;
  stopped.stop = stop.get_token();
  base::ReadLimits late;
  late.until = steady_clock::now() - milliseconds(1);
  std::size_t tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator(made)) {
    const std::string ending = entry.path().extension();
    if (ending == ".py" || !open_arrays(entry.path())) continue;
    INFO(entry.path());
    CHECK(kind_of_end(entry.path(), stopped) == ErrorKind::interrupted);
    ++tried;
  }
  CHECK(tried >= 15);
  CHECK(kind_of_end(made / "c.npy", late) == ErrorKind::integrity);
}
