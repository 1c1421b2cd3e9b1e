#include "support/errors.hpp"
#include "unit/catalog/catalog_home.hpp"

#include <sabath/spec/run_record.hpp>

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <limits>

using namespace sabath;
using catalog::Catalog;
using test::CatalogHome;
using Ids = std::vector<std::string>;

TEST_CASE("catalog: a planned run is listed with what its plan says") {
  const CatalogHome home;
  Catalog catalog(home.file());
  const spec::RunPlan plan = test::full_plan();
  catalog.put_plan(plan, "/runs/x");
  REQUIRE(catalog.runs().size() == 1);
  const catalog::RunRow row = catalog.runs().front();
  CHECK(row.id == plan.run_id);
  CHECK(row.recipe == "tiny");
  CHECK(row.state == spec::RunState::planned);
  CHECK(row.created == plan.created);
  CHECK(row.seed == "7");
  CHECK(row.tags == plan.tags);
  CHECK(row.directory == "/runs/x");
  CHECK(catalog.stats().metrics == 0);
}

TEST_CASE("catalog: a record replaces the plan of the same run, and itself") {
  const CatalogHome home;
  Catalog catalog(home.file());
  catalog.put_plan(test::full_plan(), "/runs/x");
  spec::RunRecord record = test::full_record();
  record.tags = {"nightly"};
  catalog.put_record(record, "/runs/x");
  catalog.put_record(record, "/runs/y");
  REQUIRE(catalog.runs().size() == 1);
  const catalog::RunRow row = catalog.runs().front();
  CHECK(row.state == spec::RunState::ok);
  CHECK(row.wall_s == 1.25);
  CHECK(row.node == "node1");
  CHECK(row.tags == Ids{"nightly"});
  CHECK(row.directory == "/runs/y");
  CHECK(catalog.stats().metrics == 1);
  CHECK(catalog.search("nightly").size() == 1);
  CHECK(catalog.search("ci").empty());
}

TEST_CASE("catalog: which batch a run was of is known after it has its record") {
  const CatalogHome home;
  Catalog catalog(home.file());
  spec::RunPlan plan = test::full_plan();
  plan.batch = "../../studies/s/jobs/1";
  const std::string directory = home.folder() / "runs/x";
  const std::string batch = home.folder() / "studies/s/jobs/1";
  catalog.put_plan(plan, directory);
  REQUIRE(catalog.runs().front().batch == batch);
  spec::RunRecord record = test::full_record();
  record.run_id = plan.run_id;
  catalog.put_record(record, directory);
  CHECK(catalog.runs().front().batch == batch);
  catalog.put_record(record, directory, "/elsewhere");
  CHECK(catalog.runs().front().batch == "/elsewhere");
}

TEST_CASE("catalog: a home that was moved has its runs and batches where it is now") {
  const CatalogHome home;
  Catalog catalog(home.file());
  spec::RunPlan plan = test::full_plan();
  plan.batch = "../../studies/s/jobs/1";
  catalog.put_plan(plan, "/before/home/runs/x");
  const std::string now = home.folder().string();
  CHECK(catalog.runs().front().directory == now + "/runs/x");
  CHECK(catalog.runs().front().batch == now + "/studies/s/jobs/1");
  CHECK(catalog.search("tiny").front().path == now + "/runs/x");
}

TEST_CASE("catalog: a state is replaced, and that of an unknown run changes nothing") {
  const CatalogHome home;
  Catalog catalog(home.file());
  catalog.put_plan(test::full_plan(), "/runs/x");
  catalog.put_state("no-such-run", spec::RunState::failed, "");
  CHECK(catalog.in_state(spec::RunState::planned).size() == 1);
  catalog.put_state(test::full_plan().run_id, spec::RunState::lost, "its process is gone");
  CHECK(catalog.in_state(spec::RunState::planned).empty());
  CHECK(test::ids_of(catalog.in_state(spec::RunState::lost)) == Ids{test::full_plan().run_id});
}

TEST_CASE("catalog: forgotten runs are neither listed, nor counted, nor found") {
  const CatalogHome home;
  Catalog catalog(home.file());
  for (int n = 1; n <= 3; ++n)
    test::put(catalog, test::numbered_record(n));
  catalog.forget_all_runs();
  CHECK(catalog.runs().empty());
  CHECK(catalog.stats().metrics == 0);
  CHECK(catalog.search("tiny").empty());
}

TEST_CASE("catalog: when all runs are forgotten its tables and indices are as they were") {
  const CatalogHome home;
  const auto definitions = [&] {
    std::vector<std::string> found;
    SQLite::Database database(home.file().string());
    SQLite::Statement query(database, "select type || name || ifnull(sql, '') from sqlite_master");
    while (query.executeStep())
      found.push_back(query.getColumn(0).getString());
    std::sort(found.begin(), found.end());
    return found;
  };
  Catalog catalog(home.file());
  test::put(catalog, test::numbered_record(1));
  const auto before = definitions();
  REQUIRE(before.size() > 20);
  catalog.forget_all_runs();
  CHECK(definitions() == before);
  test::put(catalog, test::numbered_record(1));
  test::put(catalog, test::numbered_record(2));
  CHECK(catalog.runs().size() == 2);
  CHECK(catalog.stats().metrics == 2);
  CHECK(catalog.search("tiny").size() == 2);
}

TEST_CASE("catalog: runs are listed newest first, no more than asked for") {
  const CatalogHome home;
  Catalog catalog(home.file());
  for (const int n : {2, 1, 3})
    test::put(catalog, test::numbered_record(n));
  CHECK(test::ids_of(catalog.runs(2)) ==
        Ids{"tiny-20261120-103203-abcdefgh", "tiny-20261120-103202-abcdefgh"});
  CHECK(catalog.runs().size() == 3);
}

TEST_CASE("catalog: runs of a selection are listed newest first, no more than asked for") {
  const CatalogHome home;
  Catalog catalog(home.file());
  for (const int n : {2, 1, 3, 4}) {
    spec::RunRecord record = test::numbered_record(n);
    record.parameters["epochs"] = std::int64_t{n == 4 ? 9 : 7};
    test::put(catalog, record);
  }
  const std::string third = "tiny-20261120-103203-abcdefgh";
  CHECK(test::ids_of(catalog.runs(2, "epochs=7")) == Ids{third, "tiny-20261120-103202-abcdefgh"});
  CHECK(catalog.runs(0, "epochs=7").size() == 3);
  CHECK(test::ids_of(catalog.runs(1, "tiny-20261120-103201..@last~1")) == Ids{third});
  CHECK(catalog.runs(5, "epochs=8").empty());
}

TEST_CASE("catalog: tags are kept whatever they hold, each once") {
  const CatalogHome home;
  Catalog catalog(home.file());
  spec::RunRecord record = test::numbered_record(1);
  record.tags = {"",
                 "\x1f",
                 "a\x1f"
                 "b",
                 "'; drop table run; --",
                 "\xff\xfe",
                 "größe 100%",
                 "x",
                 "x"};
  test::put(catalog, record);
  std::vector<std::string> tags = catalog.runs().front().tags;
  std::sort(tags.begin(), tags.end());
  record.tags.pop_back();
  std::sort(record.tags.begin(), record.tags.end());
  CHECK(tags == record.tags);
}

TEST_CASE("catalog: metrics that are not numbers, or not finite, are kept as what they are") {
  const CatalogHome home;
  const double inf = std::numeric_limits<double>::infinity();
  {
    Catalog catalog(home.file());
    spec::RunRecord record = test::numbered_record(1);
    record.metrics.front().last = inf;
    record.metrics.front().min = -inf;
    record.wall_s = std::numeric_limits<double>::quiet_NaN();
    test::put(catalog, record);
    CHECK(catalog.runs().front().wall_s == 0);
  }
  SQLite::Database database(home.file().string());
  SQLite::Statement row(database, "select first, last, min, mean from run_metric");
  REQUIRE(row.executeStep());
  CHECK(row.getColumn(0).getDouble() == 0.5);
  CHECK(row.getColumn(1).getDouble() == inf);
  CHECK(row.getColumn(2).getDouble() == -inf);
  CHECK(row.getColumn(3).isNull());
}

TEST_CASE("catalog: a transaction that is not committed leaves everything as it was") {
  const CatalogHome home;
  Catalog catalog(home.file());
  test::put(catalog, test::numbered_record(1));
  {
    Catalog::Transaction transaction(catalog);
    catalog.forget_all_runs();
    test::put(catalog, test::numbered_record(2));
    catalog.put_recipe({}, "/recipes/x/recipe.json");
    catalog.keep_only_documents({});
  }
  CHECK(test::ids_of(catalog.runs()) == Ids{"tiny-20261120-103201-abcdefgh"});
  CHECK(catalog.search("tiny").size() == 1);
  {
    Catalog::Transaction transaction(catalog);
    test::put(catalog, test::numbered_record(2));
    test::put(catalog, test::numbered_record(3));
    transaction.commit();
  }
  CHECK(catalog.runs().size() == 3);
}

TEST_CASE("catalog: a plan that cannot be read changes nothing") {
  const CatalogHome home;
  Catalog catalog(home.file());
  spec::RunPlan plan = test::full_plan();
  plan.recipe_text = "{";
  const base::Error error = test::error_of([&] { catalog.put_plan(plan, "/runs/x"); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(test::contains(error.what(), "/runs/x/plan.json"));
  CHECK(catalog.runs().empty());
}

TEST_CASE("catalog: what was said later replaces tags, is searched, and goes with its run") {
  const test::CatalogHome home;
  Catalog catalog(home.file());
  const spec::RunRecord record = test::numbered_record(1);
  test::put(catalog, record);
  catalog.put_said(record.run_id, {"good"}, {{"2026-11-27", "ada@x", "warm-up too short"}});
  CHECK(catalog.runs().front().tags == std::vector<std::string>{"good"});
  CHECK(catalog.select("tag=good", {}).size() == 1);
  CHECK(catalog.search("warm-up").size() == 1);
  catalog.put_said("no-such-run", {"x"}, {});
  // A record that is put again brings its own tags: what was said is put behind it.
  test::put(catalog, record);
  CHECK(catalog.runs().front().tags == record.tags);
  CHECK(catalog.search("warm-up").empty());
  catalog.put_said(record.run_id, {}, {{"2026-11-27", "ada@x", "again"}});
  catalog.forget_run(record.run_id);
  CHECK(catalog.runs().empty());
  CHECK(catalog.search("again").empty());
  catalog.forget_run(record.run_id);
}

TEST_CASE("catalog: runs that need others are found by these") {
  const test::CatalogHome home;
  Catalog catalog(home.file());
  spec::RunRecord record = test::numbered_record(1);
  record.stages.resize(2);
  record.stages[0].made_by_run = "tiny-20261120-103209-abcdefgh";
  record.stages[1].made_by_run = record.run_id;
  record.repeats = "tiny-20261120-103208-abcdefgh";
  test::put(catalog, record);
  spec::RunRecord hybrid = test::numbered_record(2);
  hybrid.stages.clear();
  hybrid.repeats.reset();
  hybrid.tags = {"explain", "hybrid-0123456789abcdef"};
  hybrid.reproduce = "sabath explain tiny-20261120-103208-abcdefgh " + record.run_id;
  test::put(catalog, hybrid);
  const auto kinds_of = [&](const std::string& id) {
    std::vector<std::string> kinds;
    for (const auto& one : catalog.references_to({id})) {
      CHECK(one.needed == id);
      kinds.push_back(one.kind + " " + one.run);
    }
    return kinds;
  };
  using Kinds = std::vector<std::string>;
  CHECK(kinds_of("tiny-20261120-103209-abcdefgh") == Kinds{"stage " + record.run_id});
  CHECK(kinds_of("tiny-20261120-103208-abcdefgh") ==
        Kinds{"explains " + hybrid.run_id, "repeats " + record.run_id});
  CHECK(kinds_of(record.run_id) == Kinds{"explains " + hybrid.run_id});
  catalog.forget_run(hybrid.run_id);
  CHECK(kinds_of(record.run_id).empty());
}
