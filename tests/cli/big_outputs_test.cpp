// What a run leaves may have ten gigabytes. The files have holes: they take no room here.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t ten_gb = 10'000'000'000;

}  // namespace

TEST_CASE("cli: an output and a log of 10 GB are recorded, hashed and searched") {
  Sabath sabath;
  sabath.environment()["WANDB_API_KEY"] = "0a1b2c3d4e5f60718293";
  const auto folder = sabath.shell_recipe(
      "vast",
      "echo loss=0.5; truncate -s 10000000000 /dev/stdout; truncate -s 10000000000 {output}/x.bin",
      R"({"metrics": {"loss": {"from": {"kind": "key_value", "file": "stdout"}}}})",
      R"({"outputs": ["x.bin"]})");
  const Answer answer = sabath({"run", folder});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  const json record = json::parse(sabath.newest());
  CHECK(record["state"] == "ok");
  const json& output = record["outputs"][0];
  CHECK(output["size_bytes"] == ten_gb);
  // head -c 10000000000 /dev/zero | sha256sum
  CHECK(output["digest"] ==
        "sha256:1a0a850851f333647936c0a1b4576e7ab90398b9e1ae2faf4bb66ca6b72cf724");
  CHECK_THAT(output["kept"].get<std::string>(), Contains("of cache.largest_output"));
  CHECK(record["metrics"][0]["last"] == 0.5);
  CHECK(fs::file_size(sabath.run_directories().back() / "attempts/1/go/stdout.log") == ten_gb);
}

TEST_CASE("cli: a stage that writes more than runs.largest_log is ended, and the limit is told") {
  Sabath sabath;
  const fs::path configuration = sabath.folder() / "configuration";
  fs::create_directories(configuration);
  write_text(configuration / "config.json", R"({"schema": 1, "runs": {"largest_log": "1 MiB"}})");
  sabath.environment()["SABATH_CONFIG"] = configuration.string();
  const bool ends = GENERATE(false, true);
  const auto folder = sabath.shell_recipe(
      "loud", "truncate -s 2000000 /dev/stdout" + std::string(ends ? "" : "; sleep 60"));
  const Answer answer = sabath({"run", folder});
  INFO(answer.output + answer.errors);
  const json record = json::parse(sabath.newest());
  // One that has ended by itself was not ended for what it wrote.
  CHECK(answer.status == (ends ? 0 : 1));
  CHECK(record["state"] == (ends ? "ok" : "failed"));
  if (!ends) {
    CHECK_THAT(record["stages"][0]["message"].get<std::string>(),
               Contains("wrote more than its limit (1.9 MiB by then) and was ended: "
                        "runs.largest_log is 1.0 MiB"));
  }
}
