#include "held_process.hpp"
#include "probe/software/library_view.hpp"

#include <sabath/probe/library_watch.hpp>

#include <catch2/catch.hpp>
#include <pthread.h>

#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <thread>

#include <unistd.h>

using namespace sabath;
using namespace sabath::test;

namespace {

double thread_cpu_s() {
  struct timespec time {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A default for new threads that no machine can give them.
class NoNewThreads {
 public:
  NoNewThreads() {
    ::pthread_attr_init(&before_);
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 50U);
    is_set_ = ::pthread_setattr_default_np(&huge) == 0;
    ::pthread_attr_destroy(&huge);
  }
  ~NoNewThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;
  bool is_set() const { return is_set_; }

 private:
  pthread_attr_t before_{};
  bool is_set_ = false;
};

}  // namespace

TEST_CASE("watch: what a process loads is seen by itself", "[long]") {
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
  INFO("took " << took.count() << " s, " << seen.cpu_s << " s of CPU time");
  CHECK(seen.notes == std::vector<std::string>{});
  std::size_t found = 0;
  for (const auto& file : seen.files)
    found += file.path == library && file.stages.size() == 20 ? 1 : 0;
  CHECK(found == 1);
}

TEST_CASE("watch: looking takes no more than its share, however much there is to look at",
          "[long]") {
  const std::string library = test_libraries + "/new/libopenblas.so";
  std::vector<std::unique_ptr<HeldProcess>> held;
  std::map<std::string, int> stages;
  for (int i = 0; i < 20; ++i) {
    held.push_back(
        std::make_unique<HeldProcess>(std::vector<std::string>{hold_library, "600", library}));
    stages["stage" + std::to_string(i)] = held.back()->pid();
  }
  // A look that has begun is ended, so that one more than the allowance is no breach of it.
  probe::LibraryView view("/proc");
  const double before = thread_cpu_s();
  view.look(stages);
  const double one_look = thread_cpu_s() - before;

  probe::LibraryWatch watch;
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& [stage, pid] : stages)
    watch.begin(stage, pid);
  // What begins again and again would be looked at each 5 ms.
  for (int i = 0; i < 150; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    watch.begin("stage0", held.front()->pid());
  }
  const auto seen = watch.finish();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  INFO("took " << took.count() << " s, " << seen.cpu_s << " s of CPU time, one look " << one_look);
  CHECK(seen.cpu_s < 0.010 + 0.01 * took.count() + 3 * one_look);
}

TEST_CASE("watch: where no thread can be made the run goes on, and it is told") {
  std::unique_ptr<probe::LibraryWatch> watch;
  {
    const NoNewThreads limit;
    REQUIRE(limit.is_set());
    watch = std::make_unique<probe::LibraryWatch>();
  }
  watch->begin("go", ::getpid());
  watch->end("go");
  const auto seen = watch->finish();
  CHECK(seen.files.empty());
  REQUIRE(seen.notes.size() == 1);
  CHECK(seen.notes.front().find("loaded libraries were not looked for: no thread for it") == 0);
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
