#include "unit/catalog/catalog_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include <cmath>
#include <limits>

using namespace sabath;
using catalog::Catalog;
using test::CatalogHome;
using test::numbered_record;
using test::put;
using Texts = std::vector<std::string>;

namespace {

spec::MetricSummary metric(const std::string& name, double last, bool performance = false) {
  spec::MetricSummary summary;
  summary.stream = "go";
  summary.name = name;
  summary.better = spec::Better::lower;
  summary.performance = performance;
  summary.points = 3;
  summary.last = last;
  summary.median = last / 2;
  return summary;
}

spec::RunRecord imported(int n, const std::string& site) {
  spec::RunRecord record = numbered_record(n);
  record.state = spec::RunState::imported;
  record.hosts.clear();
  record.parameters.clear();
  record.facets = {{"imported", {{"site", site}, {"host", "voh7"}}}};
  return record;
}

}  // namespace

TEST_CASE("run values: metrics of just these runs, in their order") {
  const CatalogHome home;
  Catalog catalog(home.file());
  for (int n = 1; n <= 3; ++n) {
    spec::RunRecord record = numbered_record(n);
    record.metrics = {metric("loss", n), metric("time", 2 * n, true)};
    put(catalog, record);
  }
  std::vector<catalog::RunRow> rows = catalog.select("recipe=tiny", {});
  rows.erase(rows.begin());
  std::swap(rows[0], rows[1]);
  const auto metrics = catalog.metrics_of(rows);
  REQUIRE(metrics.size() == 4);
  CHECK(metrics[0].run == 0);
  CHECK(metrics[0].name == "loss");
  CHECK(metrics[0].last == 3);
  CHECK(metrics[0].better == spec::Better::lower);
  CHECK(metrics[1].performance);
  CHECK(metrics[1].median == 3);
  CHECK(metrics[2].run == 1);
  CHECK(metrics[2].last == 2);
  CHECK(catalog.metrics_of({}).empty());
}

TEST_CASE("run values: NaN comes back as NaN, others with all their bits, no points as nothing") {
  const CatalogHome home;
  Catalog catalog(home.file());
  spec::RunRecord record = numbered_record(1);
  record.metrics = {metric("a", std::numeric_limits<double>::quiet_NaN()),
                    metric("b", -std::numeric_limits<double>::infinity()),
                    metric("c", 1),
                    metric("d", -0.0),
                    metric("e", 3)};
  record.metrics[2].points = 0;
  put(catalog, record);
  const auto metrics = catalog.metrics_of(catalog.runs());
  REQUIRE(metrics.size() == 4);
  CHECK(std::isnan(metrics[0].last));
  CHECK(metrics[1].last == -std::numeric_limits<double>::infinity());
  CHECK(metrics[2].last == 0);
  CHECK(std::signbit(metrics[2].last));
  CHECK(std::signbit(metrics[2].median));
  CHECK(metrics[3].last == 3);
}

TEST_CASE("run values: a metric has the value that it is judged by, with its label") {
  const CatalogHome home;
  Catalog catalog(home.file());
  spec::RunRecord record = numbered_record(1);
  record.metrics = {metric("a", 4), metric("b", 4), metric("c", 4)};
  record.metrics[0].judge = "best";
  record.metrics[0].judged = 2.5;
  record.metrics[1].judge = "mean of last 2";
  record.metrics[1].judged = std::nan("");
  put(catalog, record);
  const auto metrics = catalog.metrics_of(catalog.runs());
  REQUIRE(metrics.size() == 3);
  CHECK(metrics[0].last == 2.5);
  CHECK(metrics[0].judge == "best");
  CHECK(std::isnan(metrics[1].last));
  CHECK(metrics[1].judge == "mean of last 2");
  CHECK(metrics[2].last == 4);
  CHECK_FALSE(metrics[2].judge.has_value());
}

TEST_CASE("run values: what runs can be grouped by") {
  const CatalogHome home;
  Catalog catalog(home.file());
  spec::RunRecord first = numbered_record(1);
  first.tags = {"ci", "b"};
  spec::RunRecord second = numbered_record(2);
  second.tags.clear();
  second.hosts.clear();
  put(catalog, first);
  put(catalog, second);
  const auto rows = catalog.select("recipe=tiny", {});
  CHECK(catalog.values_of(rows, "tag") == Texts{"b+ci", ""});
  CHECK(catalog.values_of(rows, "host") == Texts{"node1", ""});
  CHECK(catalog.values_of(rows, "node") == Texts{"node1", ""});
  CHECK(catalog.values_of(rows, "cpu") == Texts{first.hosts[0].cpu.model, ""});
  CHECK(catalog.values_of(rows, "seed") == Texts{"7", "7"});
  CHECK(catalog.values_of(rows, "epochs") == Texts{"5", "5"});
  CHECK_FALSE(catalog.values_of(rows, "no-such-thing"));
  const Texts keys = catalog.keys_of(rows);
  CHECK(std::find(keys.begin(), keys.end(), "epochs") != keys.end());
  CHECK(std::find(keys.begin(), keys.end(), "host") != keys.end());
}

TEST_CASE("run values: columns of imported tables are keys, selections and hosts") {
  const CatalogHome home;
  Catalog catalog(home.file());
  put(catalog, numbered_record(1));
  put(catalog, imported(2, "WSU"));
  put(catalog, imported(3, "ND"));
  CHECK(catalog.select("site=WSU", {}).size() == 1);
  CHECK(catalog.select("host=voh7", {}).size() == 2);
  CHECK(catalog.select("state=imported", {}).size() == 2);
  CHECK(catalog.values_of(catalog.runs(), "site") == Texts{"ND", "WSU", ""});
  // What was only imported is nobody's last run.
  CHECK(catalog.select("@last", {}).front().id == numbered_record(1).run_id);
}

TEST_CASE("run values: a question that memory ends in its middle leaves no transaction open",
          "[long]") {
  const CatalogHome home;
  {
    Catalog catalog(home.file());
    put(catalog, numbered_record(0));
  }
  const Catalog other(home.file());
  std::uint64_t runs = 1;
  std::size_t failed = 0;
  // So much more than what is used: the question ends at another place each time.
  for (std::int64_t spare = 0; spare < 100'000; spare += 1'000) {
    Catalog catalog(home.file());
    const std::vector<catalog::RunRow> rows(500, catalog.select("recipe=tiny", {}).front());
    sqlite3_hard_heap_limit64(sqlite3_memory_used() + spare);
    try {
      catalog.metrics_of(rows);
    } catch (const base::Error&) {
      ++failed;
    }
    sqlite3_hard_heap_limit64(0);
    put(catalog, numbered_record(1, "after-" + std::to_string(spare)));
    INFO(spare);
    REQUIRE(other.stats().runs == ++runs);
  }
  CHECK(failed > 0);
}
