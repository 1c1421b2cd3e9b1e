#include "unit/app/workbench.hpp"

#include <sabath/app/import_table.hpp>
#include <sabath/spec/run_record.hpp>

using namespace sabath;
using test::contains;
using test::error_of;

namespace {

struct ImportBench : test::Workbench {
  ImportBench() {
    request_.table = home / "t.csv";
    request_.recipe = "mnist";
    request_.facets = {"site"};
    request_.metrics = {"acc"};
    write("site,acc\nA,0.5\nB,\nC,0.75\n");
  }
  void write(const std::string& text) const { base::write_file_atomically(request_.table, text); }
  app::ImportReport import(std::stop_token stop = {}) {
    app::index_inbox(catalog, folders.runs(), clock, observer);
    return app::import_table(request_, catalog, folders.runs(), clock, observer, stop);
  }
  app::ImportRequest request_{};
};

}  // namespace

TEST_CASE("import table: each row is a run, with the cells that have a value") {
  ImportBench bench;
  const app::ImportReport report = bench.import();
  CHECK(report.rows == 3);
  CHECK(report.imported == 3);
  CHECK(report.missing == 1);
  const auto rows = bench.rows("tag=import:" + report.id);
  REQUIRE(rows.size() == 3);
  const spec::RunRecord record = bench.record(rows.front().directory);
  CHECK(record.state == spec::RunState::imported);
  CHECK(record.recipe_name == "mnist");
  REQUIRE(record.facet("imported") != nullptr);
  CHECK(record.facet("imported")->items.contains("site"));
}

TEST_CASE("import table: the same bytes are imported once, and the rest after a stop") {
  ImportBench bench;
  std::stop_source source;
  source.request_stop();
  CHECK(error_of([&] { bench.import(source.get_token()); }).kind() == base::ErrorKind::interrupted);
  CHECK(bench.import().imported == 3);
  const app::ImportReport again = bench.import();
  CHECK(again.imported == 0);
  CHECK(again.present == 3);
}

TEST_CASE("import table: what cannot be imported is refused before anything is written") {
  ImportBench bench;
  bench.request_.recipe = "Not A Name";
  CHECK(contains(error_of([&] { bench.import(); }).what(), "--recipe"));
  bench.request_.recipe = "mnist";
  bench.request_.facets = {"acc"};
  CHECK(contains(error_of([&] { bench.import(); }).what(), "twice"));
  bench.request_.metrics.clear();
  CHECK(error_of([&] { bench.import(); }).kind() == base::ErrorKind::usage);
  CHECK(std::filesystem::is_empty(bench.folders.runs()));
}
