// Data sets by choice at a site whose scheduler the user describes.
#include "cli/batch/described_site.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <sstream>

using namespace sabath::test;
using Catch::Contains;

TEST_CASE("described site: each run of a study has the data set of its own choice on its node") {
  const DescribedSite user(json{{"staging", {{"folder", "$OURS_STATE/node"}, {"inputs", true}}}});
  fs::create_directories(user.sabath.folder() / "node");
  user.tool("osub",
            "echo \"$1\" >> \"$OURS_STATE/jobs\"; echo \"job $(wc -l < \"$OURS_STATE/jobs\")\"");
  for (const std::string name : {"small", "large"}) {
    write_text(user.sabath.folder() / (name + ".txt"), name + "\n");
    user.sabath.asset(name,
                      R"({"schema": 1, "kind": "dataset", "name": ")" + name +
                          R"(", "files": [{"path": "t.txt", "sources": ["file://)" +
                          (user.sabath.folder() / (name + ".txt")).string() + R"("]}]})");
  }
  const std::string folder = user.sabath.shell_recipe(
      "choice",
      "cat {dataset.train}/t.txt > {run}/seen; echo {dataset.train} >> {run}/seen",
      R"({"datasets": {"train": [{"asset": "small", "when": {"size": "s"}},
                                 {"asset": "large", "when": {"size": "l"}}]},
          "parameters": {"size": {"type": "enum", "values": ["s", "l"], "default": "s"}}})",
      R"({"resources": {"cpus": 1}})");
  const Answer handed = user.sabath(
      {"run", folder, "--sweep", "size=s,l", "--seeds", "1..2", "--on", "here", "--detach"});
  INFO(handed.output << handed.errors);
  REQUIRE(handed.status == 0);
  // The test is the node that executes the jobs.
  ::setenv("OURS_STATE", user.sabath.folder().c_str(), 1);
  std::istringstream jobs(text_of(user.sabath.folder() / "jobs"));
  for (std::string script; std::getline(jobs, script);)
    CHECK(std::system(("bash " + script + " > /dev/null 2>&1").c_str()) == 0);
  user.say("E");
  CHECK(user.sabath({"wait", "recipe=choice"}).status == 0);
  REQUIRE(user.sabath.count_runs() == 4);
  for (const fs::path& run : user.sabath.run_directories()) {
    const json record = json::parse(text_of(run / "record.json"));
    const bool is_small = record["parameters"]["size"] == "s";
    const std::string seen = text_of(run / "seen");
    CHECK_THAT(seen, Catch::StartsWith(is_small ? "small\n" : "large\n") && Contains("/node/"));
    CHECK(record["inputs"].size() == 1);
    CHECK(record["inputs"][0]["asset"] == (is_small ? "small" : "large"));
  }
}
