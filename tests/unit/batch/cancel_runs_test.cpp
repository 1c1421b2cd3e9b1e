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
