#include "support/child_process.hpp"
#include "unit/catalog/catalog_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/stop_signal.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <thread>

using namespace sabath;
using catalog::Catalog;
using test::CatalogHome;

namespace {

void put_many(const std::filesystem::path& file, const std::string& recipe) {
  Catalog catalog(file);
  for (int n = 0; n < 25; ++n)
    test::put(catalog, test::numbered_record(n, recipe));
}

}  // namespace

TEST_CASE("catalog: threads that make and fill one file at once all succeed") {
  const CatalogHome home;
  std::vector<std::thread> writers;
  for (const std::string recipe : {"alpha", "beta", "gamma"}) {
    writers.emplace_back([&home, recipe] { put_many(home.file(), recipe); });
  }
  for (std::thread& writer : writers)
    writer.join();
  CHECK(Catalog(home.file()).stats().runs == 75);
}

TEST_CASE("catalog: processes that write the same runs at once all succeed") {
  const CatalogHome home;
  std::vector<int> writers;
  for (int n = 0; n < 2; ++n) {
    writers.push_back(test::start_child([&] {
      put_many(home.file(), "tiny");
      return 7;
    }));
  }
  for (const int writer : writers) {
    int status = -1;
    REQUIRE(::waitpid(writer, &status, 0) == writer);
    CHECK(WEXITSTATUS(status) == 7);
  }
  const Catalog catalog(home.file());
  CHECK(catalog.stats().runs == 25);
  CHECK(catalog.search("tiny").size() == 25);
}

TEST_CASE("catalog: a reader is not disturbed by a transaction that is still open") {
  const CatalogHome home;
  Catalog writer(home.file());
  test::put(writer, test::numbered_record(1));
  const Catalog reader(home.file());
  Catalog::Transaction transaction(writer);
  test::put(writer, test::numbered_record(2));
  CHECK(reader.runs().size() == 1);
  transaction.commit();
  CHECK(reader.runs().size() == 2);
}

TEST_CASE("catalog: a process that is asked to stop does not wait long for another one's lock",
          "[long]") {
  const CatalogHome home;
  Catalog holder(home.file());
  const Catalog::Transaction transaction(holder);
  const auto begun = std::chrono::steady_clock::now();
  const int writer = test::start_child([&] {
    const base::StopSignal stop;
    ::raise(SIGTERM);
    try {
      Catalog catalog(home.file());
      test::put(catalog, test::numbered_record(1));
    } catch (const base::Error& error) {
      return error.kind() == base::ErrorKind::catalog ? 7 : 8;
    }
    return 0;
  });
  int status = -1;
  REQUIRE(::waitpid(writer, &status, 0) == writer);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));
}
