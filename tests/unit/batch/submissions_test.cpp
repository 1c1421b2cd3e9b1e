// Batches of which nobody wrote down, or not to the end, what the scheduler accepted.
#include "unit/batch/watched_batch.hpp"

#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Batch = test::WatchedBatch;
using Catch::Matchers::Contains;
using spec::RunState;
using std::chrono::seconds;
namespace fs = std::filesystem;

namespace {

using Jobs = std::vector<std::string>;

/// That of a login node which cannot be seen from here.
std::string process_elsewhere() {
  base::ProcessIdentity process = base::ProcessIdentity::current();
  process.host = "elsewhere";
  return process.text();
}

/// As `sabath exec` leaves it on its node.
void begin(const Batch& batch, std::size_t index, const std::string& job) {
  spec::RunStatus status;
  status.state = RunState::running;
  status.attempt = 1;
  status.process = process_elsewhere();
  status.job = spec::JobStart{};
  status.job->id = job;
  batch.run(batch.id(index)).write_status(status);
  batch.files->note_started(batch.id(index), 1);
}

void interrupt(const Batch& batch, std::size_t index) {
  const home::RunFiles files = batch.run(batch.id(index));
  spec::RunRecord record = test::full_record();
  record.run_id = batch.id(index);
  record.state = RunState::interrupted;
  fs::create_directories(files.attempt(1));
  std::ofstream(home::RunFiles(files.attempt(1)).record()) << home::record_text(record);
  spec::RunStatus status;
  status.state = RunState::interrupted;
  status.attempt = 1;
  files.write_status(status);
  batch.files->note_ended(batch.id(index));
}

void lose_submitter(const Batch& batch) {
  base::ProcessIdentity process = base::ProcessIdentity::current();
  ++process.start_ticks;  // an earlier one, which had the same pid
  std::ofstream(batch.files->directory() / "submitter") << process.text() << "\n";
}

/// Three steps, of which the first is written down as job 12.
struct ThreeSteps : Batch {
  explicit ThreeSteps(std::size_t runs) : Batch(runs, true, 3) {}
  static constexpr const char* word = "supercell-study-20261122-080000-abcdef-1";
};

}  // namespace

TEST_CASE("submission: the job of a run that has begun is looked for at once") {
  Batch batch(1, false);
  begin(batch, 0, "99");
  SECTION("where the queue has it") {
    batch.queue.found = "99|supercell-study-20261122-080000-abcdef-1\n";
    batch.queue.state_of = [](const std::string&) { return "RUNNING|None"; };
  }
  SECTION("where the queue has forgotten it") {
    batch.queue.state_of = [](const std::string&) { return ""; };
  }
  batch::RunWatch watch = batch.watch();
  watch.look({});
  REQUIRE(batch.files->read_jobs());
  CHECK(batch.files->read_jobs()->jobs == Jobs{"99"});
  CHECK(watch.going_on() == 1);
  CHECK_THAT(watch.runs()[0].detail, !Contains("handed"));
}

TEST_CASE("submission: a run that has ended is over although nobody knows its job") {
  Batch batch(1, false);
  begin(batch, 0, "99");
  batch.finish(0);
  batch.files->note_ended(batch.id(0));
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::ok);
  CHECK(batch.queue.searches == 0);
}

TEST_CASE("submission: an array that began and is not found has patience, and then is not there") {
  Batch batch(2, false);
  begin(batch, 0, "99_1");
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::running);
  CHECK(watch.runs()[1].state == RunState::planned);
  CHECK(watch.runs()[1].detail == "is being handed to the scheduler");
  batch.clock.move(std::chrono::minutes(16));
  watch.look({});
  CHECK(watch.runs()[0].state == RunState::unknown);
  CHECK(watch.runs()[1].state == RunState::interrupted);
  CHECK_THAT(watch.runs()[1].detail, Contains("it did not begin"));
}

TEST_CASE("submission: what another machine still hands in is not ended by who looks on") {
  Batch batch(1, false, 3);
  std::ofstream(batch.files->directory() / "submitter") << process_elsewhere() << "\n";
  begin(batch, 0, "12");
  batch.queue.found = std::string("12|") + ThreeSteps::word + "-1\n";
  batch.queue.state_of = [](const std::string&) { return "COMPLETED|None"; };
  batch::RunWatch watch = batch.watch();
  for (int i = 0; i < 10; ++i) {
    watch.look({});
    batch.clock.move(seconds(11));
  }
  CHECK(watch.going_on() == 1);
  CHECK(batch.queue.ended.empty());
  CHECK_FALSE(batch.files->read_jobs());  // the submitter writes it, and may know of more
  batch.clock.move(std::chrono::minutes(16));
  watch.look({});
  CHECK(batch.queue.ended == Jobs{"12"});
}

TEST_CASE("submission: a job that nobody wrote down is cancelled") {
  Batch batch(1, false);
  batch.files->note_submitter();
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(watch.runs()[0].detail == "is being handed to the scheduler");
  CHECK_THROWS_WITH(batch.cancel(watch.runs()), Contains("has not got it yet"));
  batch.queue.found = "99|supercell-study-20261122-080000-abcdef-1\n";
  batch.cancel(watch.runs());
  CHECK(batch.queue.ended == Jobs{"99"});
  watch.look({});
  CHECK(watch.runs()[0].detail == "it was cancelled before it began");
}

TEST_CASE("submission: steps that nobody wrote down are found") {
  ThreeSteps batch(2);
  lose_submitter(batch);
  const std::string word = ThreeSteps::word;
  batch.queue.found = "13|" + word + "-2\n14|" + word + "-3\n";
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(batch.files->read_jobs()->jobs == Jobs{"12", "13", "14"});
  CHECK(batch.queue.ended.empty());
  CHECK(watch.going_on() == 2);
}

TEST_CASE("submission: steps that are still handed in are waited for") {
  ThreeSteps batch(1);
  batch.files->note_submitter();
  begin(batch, 0, "12");
  batch.run(batch.id(0)).write_status({});  // between two steps
  batch.queue.state_of = [](const std::string&) { return "COMPLETED|None"; };
  batch::RunWatch watch = batch.watch();
  for (int i = 0; i < 10; ++i) {
    watch.look({});
    batch.clock.move(seconds(11));
  }
  CHECK(watch.going_on() == 1);
  CHECK(watch.runs()[0].detail == "waits for its next job to be handed in");
  CHECK(batch.queue.searches == 0);
  CHECK(batch.queue.ended.empty());
}

TEST_CASE("submission: where later steps were never handed in the first is ended") {
  ThreeSteps batch(3);
  lose_submitter(batch);
  begin(batch, 1, "12_2");
  batch.run(batch.id(1)).write_status({});  // its first step is done
  begin(batch, 2, "12_3");
  batch.queue.state_of = [](const std::string& task) {
    return task == "12_2" ? "COMPLETED|None" : "RUNNING|None";
  };
  batch::RunWatch watch = batch.watch();
  watch.look({});
  CHECK(batch.queue.ended == Jobs{"12"});
  interrupt(batch, 2);
  watch.look({});
  batch.clock.move(seconds(21));
  watch.look({});
  for (const batch::WatchedRun& run : watch.runs())
    CHECK(run.state == RunState::interrupted);
  CHECK(watch.runs()[0].detail ==
        "steps 2 to 3 were never handed in: the submitting process ended before that");
  CHECK(watch.runs()[1].detail == "steps 2 to 3 were never handed in");
  CHECK(batch.queue.ended == Jobs{"12"});
}

TEST_CASE("cancel: an attempt that it interrupted is the end of its run before its job is gone") {
  Batch batch(1);
  begin(batch, 0, "12");
  batch.queue.state_of = [](const std::string&) { return "RUNNING|None"; };
  batch::RunWatch watch = batch.watch();
  watch.look({});
  const bool is_cancelled = GENERATE(true, false);
  if (is_cancelled) batch.cancel(watch.runs());
  interrupt(batch, 0);
  watch.look({});
  CHECK((watch.going_on() == 0) == is_cancelled);
  CHECK(fs::exists(batch.run(batch.id(0)).record()) == is_cancelled);
}
