#include "held_process.hpp"

#include <sabath/probe/library_watch.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <optional>
#include <thread>

using namespace sabath;
using namespace sabath::test;

TEST_CASE("watch: what a process loads is seen by itself, and costs little") {
  probe::LibraryWatch watch;
  const std::string library = test_libraries + "/new/libopenblas.so";
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<HeldProcess>> held;
  for (int i = 0; i < 20; ++i) {
    held.push_back(
        std::make_unique<HeldProcess>(std::vector<std::string>{hold_library, "600", library}));
    watch.begin("stage" + std::to_string(i), held.back()->pid());
  }
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const auto seen = watch.finish();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  // One look more than the allowance may have begun when it was used up.
  INFO("took " << took.count() << " s, " << seen.cpu_s << " s of CPU time");
  CHECK(seen.cpu_s < 0.010 + 0.01 * took.count() + 0.2);
  CHECK(seen.notes.empty());
  std::size_t found = 0;
  for (const auto& file : seen.files)
    found += file.path == library && file.stages.size() == 20 ? 1 : 0;
  CHECK(found == 1);
}

TEST_CASE("watch: without a stage there is nothing, and nothing runs") {
  probe::LibraryWatch watch;
  const auto seen = watch.finish();
  CHECK(seen.files.empty());
  CHECK(seen.notes.empty());
  CHECK(seen.cpu_s == 0);
}

TEST_CASE("watch: a stage that ended at once is told") {
  probe::LibraryWatch watch;
  watch.begin("go", 2'000'000'000);
  watch.end("go");
  CHECK(watch.finish().notes.size() == 1);
}
