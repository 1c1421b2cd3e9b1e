#include "support/fake_host.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/probe/sampler.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <future>
#include <sstream>
#include <thread>

using namespace sabath;
using namespace std::chrono_literals;

namespace {

std::vector<nlohmann::json> samples_in(const std::filesystem::path& path) {
  std::vector<nlohmann::json> samples;
  std::istringstream lines(base::read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (nlohmann::json::accept(line)) samples.push_back(nlohmann::json::parse(line));
  }
  return samples;
}

/// Samples as often as it is told to, whatever that costs.
probe::SamplerOptions each(std::chrono::milliseconds interval) {
  probe::SamplerOptions options;
  options.interval = interval;
  options.share = 1;
  options.sources.nvml_library = "libsabath-no-such-nvml.so.1";
  return options;
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
  probe::UsageSampler sampler(home / "samples.jsonl", each(20ms), clock);
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
  CHECK(summary.scope == "process tree");
  CHECK(summary.read_bytes == samples.back().at("read_bytes").get<std::uint64_t>());
  CHECK(summary.interval_s == 0.02);
  CHECK(summary.sampler_cpu_s > 0);
}

TEST_CASE("sampler: living processes are seen with their threads and memory, this one is not") {
  const test::TempHome home;
  base::SystemClock clock;
  base::SystemProcessRunner processes;
  probe::UsageSampler sampler(home / "samples.jsonl", each(10ms), clock);
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
  probe::UsageSampler sampler(home / "samples.jsonl", each(1h), clock);
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
  CHECK_THROWS_AS(probe::UsageSampler(home / "none/samples.jsonl", each(1s), clock), base::Error);
}

TEST_CASE("sampler: a full disk ends the sampling, not the run") {
  base::SystemClock clock;
  probe::UsageSampler sampler("/dev/full", each(10ms), clock);
  CHECK(sampler.finish().samples == 0);
}

TEST_CASE("sampler: GPUs and energy are in each line and in the summary") {
  const test::FakeHost host;
  const std::string zone = "sys/class/powercap/intel-rapl:0/";
  host.put(zone + "name", "package-0\n");
  host.put(zone + "energy_uj", "1000000\n");
  base::SystemClock clock;
  auto options = each(1h);
  options.sources.root = host.root();
  options.sources.nvml_library = SABATH_FAKE_NVML;
  const auto file = host.root() / "samples.jsonl";
  probe::UsageSampler sampler(file, options, clock);
  host.put(zone + "energy_uj", "3500000\n");
  const auto summary = sampler.finish();
  const auto samples = samples_in(file);
  REQUIRE(samples.size() == 1);
  const auto& gpus = samples.front().at("gpus");
  REQUIRE(gpus.size() == 2);
  const auto expected = nlohmann::json::parse(R"({
    "uuid": "GPU-00000000-1111-2222-3333-444444444444", "utilisation": 0.75,
    "memory_bytes": 21474836480, "clock_mhz": 1410, "memory_clock_mhz": 1593,
    "temperature_c": 41.0, "power_w": 200.0, "throttled": ["power_cap"]})");
  CHECK(gpus[0] == expected);
  CHECK_FALSE(gpus[1].contains("clock_mhz"));
  CHECK(samples.front().at("energy_j").at("package-0") == 2.5);

  REQUIRE(summary.gpus);
  REQUIRE(summary.gpus->size() == 2);
  const auto& gpu = summary.gpus->front();
  CHECK(gpu.mean_utilisation == 0.75);
  CHECK(gpu.mean_power_w == 200);
  CHECK(gpu.max_temperature_c == 41);
  CHECK(gpu.throttled == std::map<std::string, std::uint64_t>{{"power_cap", 1}});
  CHECK_FALSE(summary.gpus->back().max_clock_mhz);

  const auto energy = sampler.energy();
  CHECK(energy.readings.size() == 3);
  CHECK_THAT(energy.text, Catch::Matchers::Contains("package-0 2.5 J (rapl)"));
}

TEST_CASE("sampler: a run that was given GPUs answers for these, by a part's name too") {
  const test::TempHome home;
  base::SystemClock clock;
  auto options = each(1h);
  options.sources.nvml_library = SABATH_FAKE_NVML;
  SECTION("by its own") {
    options.gpus.names = {"GPU-00000000-1111-2222-3333-444444444444"};
  }
  SECTION("by a part's") {
    options.gpus.names = {"MIG-bbbbbbbb-1111-2222-3333-444444444444"};
  }
  SECTION("shortened") {
    options.gpus.names = {"GPU-0000"};
  }
  SECTION("by a part's as older drivers have it") {
    options.gpus.names = {"MIG-GPU-00000000-1111-2222-3333-444444444444/1/0"};
  }
  probe::UsageSampler sampler(home / "samples.jsonl", options, clock);
  const auto gpus = sampler.finish().gpus;
  REQUIRE(gpus);
  REQUIRE(gpus->size() == 1);
  CHECK(gpus->front().uuid == "GPU-00000000-1111-2222-3333-444444444444");
}

TEST_CASE("sampler: a run that sees no GPU has none") {
  const test::TempHome home;
  base::SystemClock clock;
  auto options = each(1h);
  options.sources.nvml_library = SABATH_FAKE_NVML;
  options.gpus.names = std::vector<std::string>();
  probe::UsageSampler sampler(home / "samples.jsonl", options, clock);
  CHECK_FALSE(sampler.finish().gpus);
  for (const spec::EnergyReading& reading : sampler.energy().readings)
    CHECK_FALSE(reading.device.starts_with("GPU-"));
  if (sampler.energy().readings.empty())
    CHECK_THAT(sampler.energy().text, Catch::Matchers::Contains("nvml: the run sees none"));
}

TEST_CASE("sampler: of GPUs of one model a number says which") {
  const test::TempHome home;
  base::SystemClock clock;
  auto options = each(1h);
  options.sources.nvml_library = SABATH_FAKE_NVML_ALIKE;
  options.gpus.names = {"1"};
  probe::UsageSampler sampler(home / "samples.jsonl", options, clock);
  const auto gpus = sampler.finish().gpus.value();
  REQUIRE(gpus.size() == 1);
  CHECK(gpus[0].uuid == "GPU-55555555-6666-7777-8888-999999999999");
  const auto readings = sampler.energy().readings;
  CHECK(std::count_if(readings.begin(), readings.end(), [](const auto& reading) {
          return reading.device.starts_with("GPU-");
        }) == 1);
}

TEST_CASE("sampler: with numbers of divided or different GPUs all are looked at") {
  const test::TempHome home;
  base::SystemClock clock;
  auto options = each(1h);
  options.sources.nvml_library = SABATH_FAKE_NVML;
  options.gpus.names = {"1"};
  options.gpus.by_bus = GENERATE(false, true);
  probe::UsageSampler sampler(home / "samples.jsonl", options, clock);
  CHECK(sampler.finish().gpus.value().size() == 2);
}

TEST_CASE("sampler: what costs too much is done less often") {
  const test::TempHome home;
  base::SystemClock clock;
  base::SystemProcessRunner processes;
  auto options = each(10ms);
  options.share = 1e-9;  // whatever a sample costs, it is more
  probe::UsageSampler sampler(home / "samples.jsonl", options, clock);
  processes.run(shell("sleep 0.3"));
  CHECK(sampler.finish().samples == 2);  // the first, and the last
}

TEST_CASE("sampler: two hundred processes are all seen") {
  const test::TempHome home;
  base::SystemClock clock;
  base::SystemProcessRunner processes;
  probe::UsageSampler sampler(home / "samples.jsonl", each(10ms), clock);
  const std::string go = (home / "go").string();
  auto command = shell("i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done; while [ ! -e " +
                       go + " ]; do sleep 0.05; done; kill $(jobs -p)");
  auto ended = std::async(std::launch::async, [&] { return processes.run(command); });
  const auto are_seen = [&] {
    const auto samples = samples_in(home / "samples.jsonl");
    return !samples.empty() && samples.back().at("processes") >= 201;
  };
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (!are_seen() && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(10ms);
  base::write_file_atomically(go, "");
  ended.wait();
  const auto summary = sampler.finish();
  CHECK(summary.max_processes.value() >= 201);
  CHECK(summary.max_threads.value() >= summary.max_processes.value());
}
