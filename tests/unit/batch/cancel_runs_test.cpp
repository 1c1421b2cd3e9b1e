#include "unit/batch/watched_batch.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using Batch = test::WatchedBatch;
using Catch::Matchers::Contains;
using spec::RunState;
using std::chrono::seconds;
namespace fs = std::filesystem;

TEST_CASE("cancel: a run that is cancelled before it begins is over at once") {
  Batch batch(2);
  batch::RunWatch watch = batch.watch();
  watch.look({});
  REQUIRE(watch.runs()[0].detail == "waits: PENDING (Resources)");
  SECTION("whatever the scheduler said last") {
    batch.cancel({watch.runs()[0]});
  }
  SECTION("where the scheduler forgets it") {
    batch.cancel({watch.runs()[0]});
    fs::remove(batch.files->ended() / batch.id(0));  // as earlier versions did
    batch.queue.state_of = [](const std::string& task) {
      return task == "12_1" ? "" : "PENDING|Resources";
    };
    batch.clock.move(seconds(11));
  }
  CHECK(batch.queue.ended == std::vector<std::string>{"12_1"});
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::interrupted);
  CHECK(watch.runs()[0].detail == "it was cancelled before it began");
  CHECK(watch.runs()[1].goes_on());
}

TEST_CASE("cancel: a run that nobody knows any more is cancelled all the same") {
  Batch batch(1);
  batch.queue.state_of = [](const std::string&) { return ""; };
  batch::RunWatch watch = batch.watch();
  watch.look({});
  batch.clock.move(seconds(21));
  watch.look({});
  REQUIRE(watch.runs()[0].state == RunState::unknown);
  batch.cancel(watch.runs());
  CHECK(batch.queue.ended == std::vector<std::string>{"12"});
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::interrupted);
}

TEST_CASE("cancel: of batches one that cannot be cancelled goes on, and the other is ended") {
  const Batch one(1);
  Batch other(1);
  std::vector<batch::WatchedRun> runs{one.watched(0), other.watched(0)};
  other.queue.is_deaf = true;  // to the one whose folder comes first
  CHECK_THROWS_WITH(other.cancel(runs), Contains("Socket timed out"));
  CHECK(other.queue.ended.size() == 2);
  const bool is_first = one.files->directory() < other.files->directory();
  const Batch& deaf = is_first ? one : other;
  const Batch& ended = is_first ? other : one;
  CHECK_FALSE(deaf.files->is_cancelled(deaf.id(0)));
  CHECK(deaf.run(deaf.id(0)).read_status().state == RunState::planned);
  CHECK(ended.files->is_cancelled(ended.id(0)));
  CHECK(ended.run(ended.id(0)).read_status().state == RunState::interrupted);
}

TEST_CASE("cancel: the runs of a copied home are not cancelled, those of a moved home are") {
  Batch batch(1);
  const fs::path copy = batch.home / "copy";
  const fs::path first = batch.runs() / batch.id(0);
  const fs::path second = copy / "runs" / batch.id(0);
  fs::create_directories(copy / "studies/s/jobs");
  fs::copy(batch.runs(), copy / "runs", fs::copy_options::recursive);
  fs::copy(batch.files->directory(), copy / "studies/s/jobs/1", fs::copy_options::recursive);
  batch::WatchedRun run = batch.watched(0);
  run.directory = second;
  run.batch = copy / "studies/s/jobs/1";
  const home::BatchFiles files(run.batch);
  CHECK(files.read_plan().runs_directory == (copy / "runs").string());
  CHECK(batch.files->read_plan().runs_directory == batch.runs().string());
  SECTION("copied") {
    CHECK_THROWS_WITH(batch.cancel({run}),
                      Contains("is a copy") && Contains(batch.runs().string()));
    CHECK(batch.queue.ended.empty());
    CHECK(home::RunFiles(first).read_status().state == RunState::planned);
    CHECK(home::RunFiles(second).read_status().state == RunState::planned);
    CHECK_FALSE(files.is_cancelled(batch.id(0)));
  }
  SECTION("moved") {
    fs::remove_all(batch.runs());
    batch.cancel({run});
    CHECK(batch.queue.ended == std::vector<std::string>{"12"});
    CHECK(home::RunFiles(second).read_status().state == RunState::interrupted);
    CHECK_FALSE(fs::exists(batch.runs()));
  }
}
