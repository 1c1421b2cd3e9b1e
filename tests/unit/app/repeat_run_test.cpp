#include "unit/app/workbench.hpp"

#include <sabath/planning/repeat_run.hpp>
#include <sabath/spec/run_record.hpp>

using namespace sabath;
using test::contains;
using test::error_of;

namespace {

planning::RunRequest repeated(test::Workbench& bench, const std::filesystem::path& run) {
  const auto folder = bench.home / "again";
  base::remove_tree(folder);
  base::make_directories(folder);
  return planning::repeat_run(run, folder, {bench.processes, bench.observer});
}

}  // namespace

TEST_CASE("repeat run: the request has the recipe, values and seed of the run") {
  test::Workbench bench;
  const auto run = bench.made({{"epochs", "3"}});
  const planning::RunRequest request = repeated(bench, run);
  CHECK(request.recipe.text == test::Workbench::recipe_text);
  CHECK(request.set == std::map<std::string, std::string>{{"epochs", "3"}});
  CHECK(request.seed == 7U);
  CHECK(request.fresh);
  CHECK(request.repetition.run_id == run.filename().string());
  REQUIRE(request.repetition.original);
  CHECK(request.repetition.original->run_directory == run);
  CHECK(request.placement.variables);
  CHECK_FALSE(request.placement.slots);
}

TEST_CASE("repeat run: the code is the one that the run kept, whatever became of the folder") {
  test::Workbench bench;
  bench.edit_code("then");
  const auto run = bench.made({});
  bench.edit_code("now");
  const planning::RunRequest request = repeated(bench, run);
  CHECK(request.recipe.directory != bench.home / "recipes/tiny");
  CHECK(base::read_file(request.recipe.directory / "model.py") == "then");
  CHECK(bench.run(request).state == spec::RunState::ok);
}

TEST_CASE("repeat run: kept code that was changed, or is gone, is refused") {
  test::Workbench bench;
  const auto run = bench.made({});
  const auto archive = run / bench.record(run).code_state->kept;
  std::filesystem::remove(archive);
  CHECK(error_of([&] { repeated(bench, run); }).kind() == base::ErrorKind::not_found);
}

TEST_CASE("repeat run: only a run that ended well and is whole can be repeated") {
  test::Workbench bench;
  const auto run = bench.made({});
  const home::RunFiles files(run);
  spec::RunRecord record = bench.record(run);
  const auto problem_of = [&] {
    std::filesystem::remove(files.record());
    base::write_file_once(files.record(), home::record_text(record));
    return std::string(error_of([&] { repeated(bench, run); }).what());
  };
  record.only_stage = "train";
  CHECK(contains(problem_of(), "the run only made an asset"));
  record.only_stage.clear();
  record.state = spec::RunState::failed;
  CHECK(contains(problem_of(), "the run is failed"));
  record.state = spec::RunState::imported;
  CHECK(contains(problem_of(), "imported from a table"));
  std::filesystem::remove(files.record());
  CHECK(error_of([&] { repeated(bench, run); }).kind() == base::ErrorKind::not_found);
}

TEST_CASE("repeat run: a run that was bound to more CPUs than there are here is not bound") {
  test::Workbench bench;
  bench.launcher.end = [](const spec::RunPlan&, spec::RunRecord& record) {
    for (spec::Facet& facet : record.facets) {
      if (facet.name == "launch") facet.items["cpus"] = "100000";
    }
  };
  const planning::RunRequest request = repeated(bench, bench.made({}));
  CHECK_FALSE(request.placement.slots);
  REQUIRE_FALSE(bench.observer.warnings.empty());
  CHECK(contains(bench.observer.warnings.back(), "100000 CPUs"));
}
