#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/base/file.hpp>
#include <sabath/execution/run_hooks.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/spec/run_plan.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <stop_token>
#include <thread>

using namespace sabath;
using namespace std::chrono_literals;
using spec::RunState;
namespace fs = std::filesystem;

namespace {

/// A run of a batch, and hooks at both places that note what they get.
class HookedRun {
 public:
  HookedRun() {
    spec::RunPlan plan = test::full_plan();
    plan.run_id = "tiny-20261120-103201-abcdefgh";
    files.emplace(home / "runs" / plan.run_id);
    fs::create_directories(files->attempt(1));
    planning::write_plan(files->plan(), plan);
    for (const char* where : {"exec", "submit"}) {
      spec::Hook& hook = settings.hooks.emplace_back();
      hook.on = {"started", "failed", "finished", "lost"};
      hook.command = {
          "/bin/sh", "-c", "cat > /dev/null; echo x >> \"$0\"", (home / where).string()};
      hook.where = where;
    }
  }
  void set_state(RunState state) const {
    spec::RunStatus status;
    status.state = state;
    status.attempt = 1;
    files->write_status(status);
  }
  void write_record(const home::RunFiles& where, RunState state) const {
    spec::RunRecord record = test::full_record();
    record.run_id = "tiny-20261120-103201-abcdefgh";
    record.state = state;
    where.write_record(record);
  }
  void fire() { execution::fire_seen(settings, files->directory(), processes, observer); }
  std::size_t fired(const std::string& where) const {
    std::error_code code;
    return fs::exists(home / where, code) ? fs::file_size(home / where) / 2 : 0;
  }

  test::TempHome home{};
  std::optional<home::RunFiles> files{};
  execution::HookSettings settings{};
  base::SystemProcessRunner processes{};
  test::RecordingObserver observer{};
};

}  // namespace

TEST_CASE("hooks: the end of a run whose exec was killed fires at both places, once") {
  HookedRun run;
  run.set_state(RunState::failed);
  run.fire();
  run.fire();
  CHECK(run.fired("exec") == 1);
  CHECK(run.fired("submit") == 1);
}

TEST_CASE("hooks: an attempt that does not come back ends its run at both places") {
  HookedRun run;
  run.set_state(RunState::interrupted);
  run.write_record(home::RunFiles(run.files->attempt(1)), RunState::interrupted);
  run.fire();  // its job may come back
  CHECK(run.fired("exec") == 0);
  CHECK(run.fired("submit") == 0);
  REQUIRE(home::close_interrupted(*run.files));
  run.fire();
  run.fire();
  CHECK(run.fired("exec") == 1);
  CHECK(run.fired("submit") == 1);
}

TEST_CASE("hooks: a run that exec ended itself fires there, not in who indexes it") {
  HookedRun run;
  run.set_state(RunState::ok);
  run.write_record(*run.files, RunState::ok);
  run.fire();
  CHECK(run.fired("exec") == 0);
  CHECK(run.fired("submit") == 1);
}

TEST_CASE("hooks: a run that is seen running has started, at submit") {
  HookedRun run;
  run.set_state(RunState::running);
  run.fire();
  run.fire();
  CHECK(run.fired("exec") == 0);
  CHECK(run.fired("submit") == 1);
}

TEST_CASE("hooks: a stop ends one that hangs, and one that begins later has little time") {
  const bool is_before = GENERATE(false, true);
  HookedRun run;
  for (spec::Hook& hook : run.settings.hooks)
    hook.command = {"/bin/sleep", "600"};
  run.settings.hooks.pop_back();
  run.settings.hooks.front().timeout = 500s;
  run.set_state(RunState::failed);
  std::stop_source stop;
  run.settings.stop = stop.get_token();
  if (is_before) stop.request_stop();
  const auto begin = std::chrono::steady_clock::now();
  {
    const std::jthread later([&] {
      std::this_thread::sleep_for(300ms);
      stop.request_stop();
    });
    run.fire();
  }
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
  CHECK(run.observer.warnings.size() == 1);
}

TEST_CASE("hooks: what a hook says of itself shows no secret of the session") {
  ::setenv("HOOK_TEST_TOKEN", "s3cr3tTok9abcXYZ", 1);
  HookedRun run;
  run.settings.hooks.pop_back();
  run.settings.hooks.front().command = {
      "/bin/sh", "-c", "echo failed with $HOOK_TEST_TOKEN >&2; exit 3"};
  run.set_state(RunState::failed);
  run.fire();
  ::unsetenv("HOOK_TEST_TOKEN");
  REQUIRE(run.observer.warnings.size() == 1);
  CHECK(run.observer.warnings.front().find("failed with ****") != std::string::npos);
  CHECK(run.observer.warnings.front().find("s3cr3t") == std::string::npos);
}
