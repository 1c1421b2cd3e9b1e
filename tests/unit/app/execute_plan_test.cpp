#include "app/record_files.hpp"
#include "app/stage_template.hpp"
#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/app/execute_plan.hpp>
#include <sabath/app/run_files.hpp>

#include <unistd.h>

using namespace sabath;

TEST_CASE("execute: a run that goes on already is refused and left as it is") {
  const test::TempHome home;
  const app::RunFiles files(home / "run");
  base::make_directories(files.directory());
  app::write_plan(files.plan(), test::full_plan());
  spec::RunStatus status;
  app::stamp_process(status);
  status.state = spec::RunState::running;
  status.attempt = 1;
  files.write_status(status);
  base::SystemProcessRunner processes;
  test::FakeClock clock;
  test::RecordingObserver observer;
  const base::Error error =
      test::error_of([&] { app::execute_plan(files.directory(), processes, clock, observer, {}); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(test::contains(error.what(),
                       ": this run goes on already, as process " + std::to_string(::getpid())));
  CHECK(files.read_status() == status);
  CHECK_FALSE(std::filesystem::exists(files.attempt(2)));
}
