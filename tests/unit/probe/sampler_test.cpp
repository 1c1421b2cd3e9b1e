#include "support/temp_home.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process.hpp>
#include <sabath/probe/sampler.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace sabath;
using namespace std::chrono_literals;

namespace {

std::vector<nlohmann::json> samples_in(const std::filesystem::path& path) {
  std::vector<nlohmann::json> samples;
  std::istringstream lines(base::read_file(path));
  for (std::string line; std::getline(lines, line);)
    samples.push_back(nlohmann::json::parse(line));
  return samples;
}

base::Command shell(const std::string& script) {
  base::Command command;
  command.argv = {"/bin/sh", "-c", script};
  return command;
}

/// Works for about as much CPU time as a hundred thousand steps of a shell take, in a child of a
/// child that is waited for.
constexpr const char* work = "(i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done); exit 0";

}  // namespace

TEST_CASE("sampler: what dead children and grandchildren used is counted, and grows only") {
  const test::TempHome home;
  base::SystemClock clock;
  base::SystemProcessRunner processes;
  probe::UsageSampler sampler(home / "samples.jsonl", 20ms, clock);
  const auto first = processes.run(shell(work));
  const auto second = processes.run(shell(work));
  const auto summary = sampler.finish();

  const auto samples = samples_in(home / "samples.jsonl");
  REQUIRE_FALSE(samples.empty());
  CHECK(summary.samples == samples.size());
  const double used_s =
      std::chrono::duration<double>(first.user + first.system + second.user + second.system)
          .count();
  CHECK(samples.back().at("cpu_s").get<double>() == Approx(used_s).margin(0.03));
  for (std::size_t i = 1; i < samples.size(); ++i) {
    CHECK(samples[i].at("cpu_s") >= samples[i - 1].at("cpu_s"));
    CHECK(samples[i].at("t_s") >= samples[i - 1].at("t_s"));
  }
  CHECK(summary.mean_cpus > 0);
  CHECK(summary.interval_s == 0.02);
  CHECK(summary.sampler_cpu_s > 0);
}

TEST_CASE("sampler: living processes are seen with their threads and memory, this one is not") {
  const test::TempHome home;
  base::SystemClock clock;
  base::SystemProcessRunner processes;
  probe::UsageSampler sampler(home / "samples.jsonl", 10ms, clock);
  processes.run(shell("sleep 0.3 & wait"));
  const auto summary = sampler.finish();
  std::uint64_t of_both = 0;
  for (const auto& sample : samples_in(home / "samples.jsonl")) {
    CHECK(sample.at("threads").get<int>() >= sample.at("processes").get<int>());
    CHECK(sample.at("processes").get<int>() <= 2);  // the shell and sleep
    if (sample.at("processes") == 2) of_both = sample.at("rss_bytes").get<std::uint64_t>();
  }
  CHECK(of_both > 100'000);
  CHECK(of_both < 20'000'000);  // this process is larger, with its sanitizers
  CHECK(summary.max_rss_bytes >= of_both);
}

TEST_CASE("sampler: it ends at once, with one last sample") {
  const test::TempHome home;
  base::SystemClock clock;
  probe::UsageSampler sampler(home / "samples.jsonl", 1h, clock);
  const auto begin = std::chrono::steady_clock::now();
  const auto summary = sampler.finish();
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
  CHECK(summary.samples == 1);
  CHECK(sampler.finish() == summary);
  CHECK(samples_in(home / "samples.jsonl").size() == 1);
}

TEST_CASE("sampler: a file that cannot be made is an error before anything runs") {
  const test::TempHome home;
  base::SystemClock clock;
  CHECK_THROWS_AS(probe::UsageSampler(home / "none/samples.jsonl", 1s, clock), base::Error);
}

TEST_CASE("sampler: a full disk ends the sampling, not the run") {
  base::SystemClock clock;
  probe::UsageSampler sampler("/dev/full", 10ms, clock);
  CHECK(sampler.finish().samples == 0);
}
