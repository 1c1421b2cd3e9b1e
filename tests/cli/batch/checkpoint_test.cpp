#include "support/planned_batch.hpp"
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <string>

using namespace sabath;
using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("requeue: a code that goes on from its checkpoint has reported all that another has") {
  Sabath sabath;
  const std::string go = (sabath.folder() / "go").string();
  // Its checkpoint is at step 3, and it is stopped at step 5.
  const std::string line =
      "from=$(cat {output}/at 2>/dev/null || echo 0); for i in $(seq $((from + 1)) 8); do "
      R"(echo "{{\"step\": $i, \"loss\": 1.$i}}" >> $SABATH_METRICS; )"
      "if [ $i = 3 ]; then echo 3 > {output}/at; fi; "
      "if [ $i = 5 ]; then while [ ! -e " +
      go + " ]; do sleep 0.05; done; fi; done; echo end > {output}/done";
  PlannedBatch batch(
      sabath,
      sabath.shell_recipe("toy", line, "{}", R"({"checkpoint": true, "outputs": ["done"]})"),
      2);
  batch.be_job("7");
  Running running = sabath.start(batch.command());
  const fs::path metrics = batch.run(0).attempt(1) / "go" / "metrics-0.jsonl";
  REQUIRE(eventually(
      [&] { return fs::exists(metrics) && text_of(metrics).find("1.5") != std::string::npos; }));
  running.signal(SIGTERM);
  running.wait();
  write_text(go, "");
  batch.be_job("7", 1);
  REQUIRE(batch.exec().status == 0);
  batch.be_job("8");
  REQUIRE(sabath(batch.command(2)).status == 0);
  const json record = batch.record(0);
  REQUIRE(record["metrics"].size() == 1);
  CHECK(record["metrics"][0]["points"] == 8);
  CHECK(record["metrics"][0]["first"] == 1.1);
  CHECK(record["stages"][0]["earlier_attempts"] == 1);
  CHECK_FALSE(batch.record(1)["stages"][0].contains("earlier_attempts"));
  const std::string& one = batch.plan().runs[0];
  const Answer shown = sabath({"show", one});
  CHECK_THAT(shown.output, Contains("attempt 1") && Contains("interrupted in stage go"));
  const Answer compared = sabath({"compare", one, batch.plan().runs[1]});
  INFO(compared.output << compared.errors);
  CHECK(compared.status == 0);
  CHECK_THAT(compared.output, Contains("equal to the bit") && Contains("the last attempt alone"));
  // A later collection joins them, too.
  const std::string patterns = (sabath.folder() / "patterns.json").string();
  write_text(patterns, R"({"schema": 1, "metrics": {"loss": {"unit": "1"}}})");
  REQUIRE(sabath({"collect", one, "--with", patterns}).status == 0);
  const Answer again = sabath({"show", one, "--json"});
  CHECK(json::parse(again.output)["metrics"][0]["points"] == 8);
}
