#include "conformance/launcher_conformance.hpp"

#include <sabath/base/process/process_identity.hpp>

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

using namespace sabath;
using sabath::test::LauncherConformance;

namespace {

std::string output(const LauncherConformance& test, const launch::Job& job) {
  test.finished(test.launcher().submit(job));
  return base::read_file(test.path("exec.log"));
}

}  // namespace

TEST_CASE("local launcher: conforms") {
  test::check_launcher(*launch::local_launcher());
}

TEST_CASE("local launcher: what cannot be started is told at once, with the reason") {
  const auto launcher = launch::local_launcher();
  const LauncherConformance test(*launcher);
  CHECK_THROWS_WITH(
      launcher->submit(test.job({"/no/such/program"})),
      Catch::Matchers::EndsWith(": /no/such/program: cannot be started: no such file"));
  CHECK_THROWS_AS(launcher->submit(test.job({})), base::Error);
  auto job = test.shell("exit 0");
  job.run_directory /= "none";
  CHECK_THROWS_WITH(launcher->submit(job), Catch::Matchers::Contains("none/exec.log"));
}

TEST_CASE("local launcher: a job has its own process group, so that Ctrl-C passes it by") {
  const auto launcher = launch::local_launcher();
  const LauncherConformance test(*launcher);
  std::istringstream fields(output(test, test.shell("cut -d' ' -f1,5 /proc/$$/stat")));
  int pid = 0;
  int group = 0;
  fields >> pid >> group;
  CHECK(pid > 0);
  CHECK(group == pid);
}

TEST_CASE("local launcher: a job inherits no descriptor and no blocked signal") {
  const auto launcher = launch::local_launcher();
  const LauncherConformance test(*launcher);
  const base::UniqueFd leaky(::open("/dev/null", O_RDONLY));  // without CLOEXEC, as libraries do
  const base::UniqueFd high(::fcntl(leaky.get(), F_DUPFD, 200));
  sigset_t term;
  sigset_t before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &before);
  const auto text =
      output(test, test.shell("ls /proc/$$/fd | sort -n | tail -1; grep SigBlk /proc/self/status"));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::istringstream stream(text);
  int highest = 0;
  std::string label;
  std::string blocked;
  stream >> highest >> label >> blocked;
  CHECK(highest < 200);
  CHECK(blocked == "0000000000000000");
}

TEST_CASE("local launcher: another process can follow and cancel a job, and sees it vanish") {
  const auto launcher = launch::local_launcher();
  const LauncherConformance test(*launcher);
  const auto id = launcher->submit(test.job({"/bin/sleep", "600"}));
  const auto other = launch::local_launcher();
  CHECK(std::holds_alternative<launch::Running>(other->poll(id)));
  other->cancel(id);
  CHECK(test.finished(id).signal == SIGTERM);  // its parent learns how it ended
  const auto state = other->poll(id);
  REQUIRE(std::holds_alternative<launch::Vanished>(state));
  CHECK_THAT(std::get<launch::Vanished>(state).reason, Catch::Matchers::EndsWith(" is gone"));
}

TEST_CASE("local launcher: a pid that another process got since is not taken for the job") {
  const auto launcher = launch::local_launcher();
  auto process = base::ProcessIdentity::current();
  process.start_ticks -= 1;
  const auto id = process.text();
  CHECK(std::holds_alternative<launch::Vanished>(launcher->poll(id)));
  launcher->cancel(id);  // or this test would end here
}

TEST_CASE("local launcher: output of several attempts is kept") {
  const auto launcher = launch::local_launcher();
  const LauncherConformance test(*launcher);
  output(test, test.shell("echo one"));
  CHECK(output(test, test.shell("echo two >&2")) == "one\ntwo\n");
}
