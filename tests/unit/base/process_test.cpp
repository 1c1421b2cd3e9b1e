#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/programs.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/unique_fd.hpp>

#include <catch2/catch.hpp>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::base;
using test::contains;
using test::error_of;

namespace {

ProcessResult run(const Command& command, std::stop_token stop = {}) {
  return SystemProcessRunner().run(command, std::move(stop));
}

Command command_of(std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  return command;
}

/// The rest of the line of `text` that begins with `start`.
std::string line_of(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return "(no line " + start + ")";
}

void write_script(const std::filesystem::path& path, const std::string& text, unsigned mode) {
  write_file_atomically(path, text, Durability::ordered_only, mode);
}

}  // namespace

TEST_CASE("process: what is given as input is read at stdin, to its end") {
  Command command = test::shell("wc -c; cat /dev/stdin | tail -c 3");
  command.input = std::string(200'000, 'x') + "end";
  const auto result = run(command);
  CHECK(result.ok());
  CHECK(contains(result.output, "200003"));
  command = test::shell("head -c 3; cat");
  command.input = "a\nb";
  CHECK(run(command).output == "a\nb");
}

TEST_CASE("process: a command that succeeds is ok and its output is captured") {
  const auto result = run(test::shell("echo out; echo err >&2"));
  CHECK(result.ok());
  CHECK(result.output == "out\n");
  CHECK(result.errors == "err\n");
  CHECK(result.output_bytes == 4);
  CHECK(result.error_bytes == 4);
  CHECK(result.leftovers == 0);
  CHECK(result.describe() == "exited with status 0");
}

TEST_CASE("process: a non-zero exit is a result, not an error") {
  const auto result = run(test::shell("exit 3"));
  CHECK(result.end == ProcessEnd::exited);
  CHECK(result.exit_code == 3);
  CHECK_FALSE(result.ok());
  CHECK(result.describe() == "exited with status 3");
}

TEST_CASE("process: death by a signal is a result that names it") {
  const auto result = run(test::program("crash"));
  CHECK(result.end == ProcessEnd::signaled);
  CHECK(result.signal == SIGSEGV);
  CHECK_FALSE(result.ok());
  CHECK(result.describe() == "was killed by signal 11 (SIGSEGV)");
}

TEST_CASE("process: arguments reach the program as they are") {
  const std::vector<std::string> arguments{"", "a b", "$HOME", "*", "'\"\\", "line\nbreak"};
  const auto result = run(test::program("introspect", arguments));
  for (const auto& argument : arguments) {
    INFO(argument);
    CHECK(contains(result.output, "argument: [" + argument + "]\n"));
  }
}

TEST_CASE("process: the child has a clean start: descriptors, session, signals") {
  // What this process has open, blocks and ignores must not be seen by the child.
  const UniqueFd leak(::open("/dev/null", O_RDONLY));  // no O_CLOEXEC: it would be inherited
  const UniqueFd high(::fcntl(leak.get(), F_DUPFD, 700));
  sigset_t blocked;
  sigset_t old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &old);
  const auto old_handler = ::signal(SIGPIPE, SIG_IGN);
  const auto result = run(test::program("introspect"));
  ::signal(SIGPIPE, old_handler);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);

  REQUIRE(result.ok());
  CHECK(line_of(result.output, "descriptors:") == " 0 1 2");
  CHECK(line_of(result.output, "stdin: ") == "/dev/null");
  CHECK(line_of(result.output, "SigBlk:\t") == "0000000000000000");
  CHECK(line_of(result.output, "SigIgn:\t") == "0000000000000000");
  const std::string pid = line_of(result.output, "pid: ");
  CHECK(line_of(result.output, "group: ") == pid);
  CHECK(line_of(result.output, "session: ") == pid);
}

TEST_CASE("process: it works when the caller has closed its own 0, 1 and 2") {
  CHECK(test::status_in_child([] {
          for (int fd = 0; fd < 3; ++fd)
            ::close(fd);
          const auto result = run(test::shell("echo out; echo err >&2"));
          return result.ok() && result.output == "out\n" && result.errors == "err\n" ? 0 : 1;
        }) == 0);
}

TEST_CASE("process: a given environment is the complete one, and none means the caller's") {
  Command command = command_of({"/usr/bin/env"});
  command.environment = Environment{{"ONLY", "this one"}, {"EMPTY", ""}};
  CHECK(run(command).output == "EMPTY=\nONLY=this one\n");

  ::setenv("SABATH_TEST_MARK", "inherited", 1);
  command.environment.reset();
  CHECK(contains(run(command).output, "SABATH_TEST_MARK=inherited\n"));
  CHECK(current_environment().at("SABATH_TEST_MARK") == "inherited");
  ::unsetenv("SABATH_TEST_MARK");
}

TEST_CASE("process: a name is looked up in the child's own PATH") {
  const test::TempHome home;
  write_script(home / "only-here", "#!/bin/sh\necho found\n", 0755);
  Command command = command_of({"only-here"});
  command.environment = Environment{{"PATH", "/nowhere:" + home.path().string()}};
  CHECK(run(command).output == "found\n");
}

TEST_CASE(
    "process: the working directory is the child's, and relative programs are found from it") {
  const test::TempHome home;
  write_script(home / "here", "#!/bin/sh\npwd\n", 0755);
  Command command = command_of({"./here"});
  command.working_directory = home.path();
  CHECK(run(command).output == std::filesystem::canonical(home.path()).string() + "\n");
}

TEST_CASE("process: what cannot be started is an error that says why") {
  const test::TempHome home;
  const auto launch_error = [](const Command& command) {
    const Error error = error_of([&] { run(command); });
    CHECK(error.kind() == ErrorKind::launch);
    return std::string(error.what()) + " | " + error.hint();
  };

  SECTION("no such command on PATH") {
    CHECK(launch_error(command_of({"sabath-no-such-command"})) ==
          "sabath-no-such-command: cannot be started: no such command on PATH | install it, or add "
          "its folder to PATH");
  }
  SECTION("no such file") {
    CHECK(contains(launch_error(command_of({"/nowhere/program"})),
                   "/nowhere/program: cannot be started: no such file"));
  }
  SECTION("a file that is not executable, by path and on PATH") {
    write_script(home / "data", "#!/bin/sh\n", 0644);
    const std::string path = home / "data";
    CHECK(
        contains(launch_error(command_of({path})), path + " is not executable | chmod +x " + path));
    Command by_name = command_of({"data"});
    by_name.environment = Environment{{"PATH", home.path().string()}};
    CHECK(contains(launch_error(by_name), path + " is not executable"));
  }
  SECTION("a folder") {
    CHECK(contains(launch_error(command_of({home.path().string()})), "is a folder"));
  }
  SECTION("an interpreter that does not exist") {
    write_script(home / "script", "#! /usr/bin/no-such-python -u\n", 0755);
    CHECK(contains(launch_error(command_of({home / "script"})),
                   "its interpreter '/usr/bin/no-such-python' does not exist"));
  }
  SECTION("a script with DOS line ends") {
    write_script(home / "script", "#!/bin/sh\r\necho\r\n", 0755);
    CHECK(contains(launch_error(command_of({home / "script"})), "carriage return"));
  }
  SECTION("neither a binary nor a script: no shell takes it") {
    write_script(home / "script", "echo this must not run\n", 0755);
    CHECK(
        contains(launch_error(command_of({home / "script"})), "is not a program for this machine"));
  }
  SECTION("a working directory that is missing") {
    Command command = command_of({"/bin/true"});
    command.working_directory = home / "missing";
    CHECK(launch_error(command) == "/bin/true: cannot be started: its working directory " +
                                       (home / "missing").string() +
                                       ": No such file or directory | ");
  }
  SECTION("an argument vector that is too long") {
    Command command = command_of({"/bin/true"});
    command.argv.emplace_back(std::size_t{1} << 18U, 'x');
    CHECK(contains(launch_error(command), "too long for the system"));
  }
  SECTION("nothing at all, a NUL, a bad variable") {
    CHECK(contains(launch_error(command_of({})), "it is empty"));
    CHECK(contains(launch_error(command_of({"/bin/true", std::string("a\0b", 3)})), "NUL"));
    Command command = command_of({"/bin/true"});
    command.environment = Environment{{"A=B", ""}};
    CHECK(contains(launch_error(command), "'A=B' cannot be an environment variable"));
  }
}

TEST_CASE("process: a failed start leaves no child and no descriptor behind") {
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS(run(command_of({"/nowhere/program"})), Error);
    CHECK(run(test::shell("echo x")).ok());
  }
  CHECK(open_descriptors() == before);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("process: output goes to files, which are appended to and counted") {
  const test::TempHome home;
  write_file_atomically(home / "out", "before\n");
  Command command = test::shell("echo out; echo error >&2");
  command.stdout_path = home / "out";
  command.stderr_path = home / "err";
  const auto result = run(command);
  CHECK(read_file(home / "out") == "before\nout\n");
  CHECK(read_file(home / "err") == "error\n");
  CHECK(result.output.empty());
  CHECK(result.errors.empty());
  CHECK(result.output_bytes == 4);
  CHECK(result.error_bytes == 6);
}

TEST_CASE("process: both streams may share one file without overwriting each other") {
  const test::TempHome home;
  Command command = test::shell("echo one; echo two >&2; echo three");
  command.stdout_path = command.stderr_path = home / "log";
  CHECK(run(command).ok());
  CHECK(read_file(home / "log") == "one\ntwo\nthree\n");
}

TEST_CASE("process: an output file that cannot be written is a storage error, and nothing ran") {
  const test::TempHome home;
  Command command = test::shell("touch " + (home / "ran").string());
  command.stdout_path = home / "missing" / "out";
  const Error error = error_of([&] { run(command); });
  CHECK(error.kind() == ErrorKind::storage);
  CHECK(contains(error.what(), (home / "missing" / "out").string()));
  CHECK_FALSE(std::filesystem::exists(home / "ran"));
}

TEST_CASE("process: of captured output the last bytes are kept and all are counted") {
  Command command = test::program("endless", {"5000000"});
  command.capture_limit = 1000;
  const auto result = run(command);
  REQUIRE(result.ok());
  CHECK(result.output.size() == 1000);
  CHECK(result.output.ends_with("yyyend\n"));
  CHECK(result.output_bytes == 5000004);
}

TEST_CASE("process: on_start is told the pid, which is also the process group") {
  int pid = 0;
  Command command = test::program("introspect");
  command.on_start = [&](int started) { pid = started; };
  const auto result = run(command);
  CHECK(line_of(result.output, "pid: ") == std::to_string(pid));
  CHECK(line_of(result.output, "group: ") == std::to_string(pid));
}

TEST_CASE("process: an exception out of on_start ends the command") {
  int pid = 0;
  Command command = test::program("stubborn");
  command.on_start = [&](int started) {
    pid = started;
    throw std::runtime_error("no");
  };
  CHECK_THROWS_AS(run(command), std::runtime_error);
  CHECK(::kill(pid, 0) == -1);
  CHECK(errno == ESRCH);
}

TEST_CASE("process: the resources it used are measured") {
  const auto result =
      run(test::shell("i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 0.05"));
  CHECK(result.wall >= std::chrono::milliseconds(50));
  CHECK(result.user > std::chrono::milliseconds(1));
  CHECK(result.user < result.wall);
  CHECK(result.max_rss_bytes > 500'000);
}

TEST_CASE("process: a status arrives although SIGCHLD was left ignored") {
  const auto old = ::signal(SIGCHLD, SIG_IGN);
  const auto result = run(test::shell("exit 4"));
  CHECK(::signal(SIGCHLD, old) == SIG_IGN);
  CHECK(result.exit_code == 4);
}

TEST_CASE("process: waiting is no polling") {
  const auto sleeps = [] {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  const auto before = sleeps();
  CHECK(run(test::shell("sleep 0.5")).ok());
  CHECK(sleeps() - before < 20);
}
