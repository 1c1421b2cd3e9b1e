// States that the catalog does not have yet.
#include "unit/live/small_home.hpp"

#include <sabath/home/batch_files.hpp>
#include <sabath/home/study_files.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace std::chrono_literals;
using nlohmann::json;
using test::SmallHome;

namespace {

/// A home with a study whose runs are handed in as one batch.
class StudyHome : public SmallHome {
 public:
  explicit StudyHome(int points) {
    spec::StudyPlan plan;
    plan.recipe = plan.recipe_name = "tiny";
    plan.recipe_digest = base::sha256_of(recipe);
    plan.points.resize(static_cast<std::size_t>(points));
    files.emplace(home::make_study(folders.studies(), "tiny", plan, clock));
    id_of_study = plan.study_id;
    std::filesystem::create_directories(batch().started());
  }
  /// Makes a run of the batch; its job waits.
  void hand_in(int number) {
    const home::RunFiles run = start(number);
    spec::RunPlan plan = run.read_plan();
    plan.study_id = id_of_study;
    plan.batch = "../../studies/" + id_of_study + "/jobs/1";
    base::write_file_atomically(run.plan(), base::pretty_json(spec::to_json(plan)));
    catalog->put_plan(plan, run.directory().string());
    catalog->put_state(plan.run_id, spec::RunState::planned, "");
    set_state(number, spec::RunState::planned);
    files->add_run({static_cast<std::size_t>(number - 1), plan.run_id});
  }
  home::BatchFiles batch() const {
    return home::BatchFiles(folders.studies() / id_of_study / "jobs/1");
  }
  std::vector<std::string> states() {
    clock.move(5s);
    std::vector<std::string> all;
    const json answer = ask({"study", id_of_study});
    for (const json& point : answer["points"])
      all.push_back(point["state"].get<std::string>());
    return all;
  }

  std::optional<home::StudyFiles> files{};
  std::string id_of_study{};
};

}  // namespace

TEST_CASE("study: its points have the states that status tells, before the catalog has them") {
  StudyHome home(3);
  for (const int number : {1, 2, 3})
    home.hand_in(number);
  CHECK(home.states() == std::vector<std::string>{"planned", "planned", "planned"});
  // The mark of a node comes before the status of the run can be seen, or after.
  home.batch().note_started(SmallHome::id(1), 1);
  home.batch().note_started(SmallHome::id(2), 1);
  home.set_state(2, spec::RunState::running);
  CHECK(home.states() == std::vector<std::string>{"running", "running", "planned"});
  home.set_state(2, spec::RunState::ok);
  CHECK(home.states() == std::vector<std::string>{"running", "ok", "planned"});
  const json all = home.ask({"studies"});
  CHECK(all["studies"][0]["states"] == json{{"ok", 1}, {"running", 1}, {"planned", 1}});
  // An interrupted attempt comes back, or somebody closes the run.
  home.set_state(1, spec::RunState::interrupted);
  CHECK(home.states() == std::vector<std::string>{"running", "ok", "planned"});
  const json runs = home.ask({"runs"});
  REQUIRE(runs["runs"].size() == 3);
  CHECK(runs["runs"][2]["state"] == "running");
  CHECK(runs["runs"][0]["state"] == "planned");
  CHECK(home.ask({"now"})["counts"] == json{{"running", 1}, {"planned", 1}});
  // Nothing of that is written.
  CHECK(home.catalog->select(SmallHome::id(2), {}).front().state == spec::RunState::planned);
}

TEST_CASE("now: what waits at a scheduler costs no look at its files") {
  StudyHome home(40);
  for (int number = 1; number <= 40; ++number)
    home.hand_in(number);
  home.start(41);
  home.clock.move(5s);
  CHECK(home.ask({"now"})["counts"] == json{{"running", 1}, {"planned", 40}});
}
