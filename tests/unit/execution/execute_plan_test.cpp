#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_host.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/execution/execute_plan.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/stage_template.hpp>

#include <unistd.h>

using namespace sabath;

namespace {

/// Its only stage makes and needs nothing.
spec::RunPlan one_stage_plan(const test::FakeHost& host) {
  auto plan = test::full_plan();
  plan.environment = {};
  plan.slots.reset();
  plan.task.reset();
  plan.variants.reset();
  plan.stop_when_diverged.reset();
  plan.state_directory = (host.root() / "state").string();
  plan.cache_directory = (host.root() / "cache").string();
  auto& stage = plan.stages.front();
  stage.outputs.clear();
  stage.not_due.reset();
  stage.variant.reset();
  stage.retry.reset();
  stage.parallel.reset();
  return plan;
}

execution::NodeSettings on_node(const test::FakeHost& host) {
  execution::NodeSettings node;
  node.sources.root = host.root();
  node.sources.run_tools = false;
  node.sources.nvml_library = "libsabath-no-such-nvml.so.1";
  return node;
}

/// A stop comes just after a command ended by itself.
class StoppedAfterwards : public base::ProcessRunner {
 public:
  base::ProcessResult run(const base::Command& command, std::stop_token) override {
    const base::ProcessResult result = processes_.run(command, {});
    stop.request_stop();
    return result;
  }

  std::stop_source stop;

 private:
  base::SystemProcessRunner processes_;
};

}  // namespace

TEST_CASE("execute: a run that goes on already is refused and left as it is") {
  const test::TempHome home;
  const home::RunFiles files(home / "run");
  base::make_directories(files.directory());
  planning::write_plan(files.plan(), test::full_plan());
  spec::RunStatus status;
  home::stamp_process(status);
  status.state = spec::RunState::running;
  status.attempt = 1;
  files.write_status(status);
  base::SystemProcessRunner processes;
  test::FakeClock clock;
  test::RecordingObserver observer;
  const base::Error error = test::error_of(
      [&] { execution::execute_plan(files.directory(), processes, clock, observer, {}); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(test::contains(
      error.what(),
      ": this run is being executed already, as process " + std::to_string(::getpid())));
  CHECK(files.read_status() == status);
  CHECK_FALSE(std::filesystem::exists(files.attempt(2)));
}

TEST_CASE("execute: a stop between the end of a command and another try ends the run") {
  const test::FakeHost host;
  const home::RunFiles files(host.root() / "run");
  base::make_directories(files.directory());
  auto plan = one_stage_plan(host);
  plan.stages.front().argv = {"/bin/sh", "-c", "exit 75"};
  plan.stages.front().retry = spec::Retry{1, std::chrono::hours(1), {75}, {}, {}, {}};
  planning::write_plan(files.plan(), plan);
  files.write_status({});
  StoppedAfterwards processes;
  base::SystemClock clock;
  test::RecordingObserver observer;
  const auto record = execution::execute_plan(
      files.directory(), processes, clock, observer, processes.stop.get_token(), on_node(host));
  CHECK(record.state == spec::RunState::interrupted);
  REQUIRE(record.stages.size() == 1);
  CHECK(record.stages.front().state == "interrupted");
  CHECK(test::contains(record.message, "; the run was stopped before it was tried again"));
  for (const std::string& warning : observer.warnings)
    CHECK_FALSE(test::contains(warning, "it is tried again"));
}

TEST_CASE("execute: the record has where the run lay, what was not quiet, and its energy") {
  const test::FakeHost host;
  host.put("proc/self/mountinfo", "27 1 254:0 / / rw,relatime - xfs https://ada:pw@disk rw\n");
  host.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  host.put("proc/loadavg", "0.00 0.00 0.00 1/100 8779\n");
  const std::string zone = "sys/class/powercap/intel-rapl:0/";
  host.put(zone + "name", "package-0\n");
  host.put(zone + "energy_uj", "1000000\n");
  const home::RunFiles files(host.root() / "run");
  base::make_directories(files.directory());
  auto plan = one_stage_plan(host);
  plan.stages.front().argv = {
      "/bin/sh", "-c", "echo 3500000 > " + (host.root() / zone / "energy_uj").string()};
  planning::write_plan(files.plan(), plan);
  files.write_status({});
  base::SystemProcessRunner processes;
  base::SystemClock clock;
  test::RecordingObserver observer;
  const auto record =
      execution::execute_plan(files.directory(), processes, clock, observer, {}, on_node(host));
  CHECK(record.message.empty());
  CHECK(record.energy == "2.5 J: package-0 2.5 J (rapl)");
  REQUIRE(record.energy_readings);
  CHECK(record.energy_readings->front().device == "package-0");
  CHECK(record.usage.scope == "process tree");

  REQUIRE(record.hosts.size() == 1);
  const auto& facts = record.hosts.front();
  REQUIRE(facts.mounts);
  std::vector<std::string> roles;
  for (const auto& mount : *facts.mounts) {
    roles.push_back(mount.role);
    CHECK(mount.type == "xfs");
    CHECK(mount.source == "https://[redacted]@disk");
  }
  CHECK(roles == std::vector<std::string>{"input.train", "run", "cache"});
  REQUIRE(observer.warnings.size() == 1);
  CHECK(test::contains(observer.warnings.front(), " was not quiet: the frequency governor is"));
}
