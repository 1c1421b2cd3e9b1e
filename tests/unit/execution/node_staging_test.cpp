#include "execution/stage_in/node_staging.hpp"

#include "execution/stage_in/staged_copy.hpp"
#include "support/errors.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

const std::string key_1(64, '1');
const std::string key_2(64, '2');

struct Staging {
  test::TempHome home{};
  test::RecordingObserver observer{};
  base::SystemClock clock{};
  fs::path source = home / "source";
  fs::path folder = home / "local";

  Staging() {
    fs::create_directories(source / "a");
    base::write_file_atomically(source / "a" / "x", "hello");
    fs::create_symlink("x", source / "a" / "link");
    fs::create_directories(folder);
  }
  std::optional<execution::StagedCopy> copy(const std::string& key = key_1) {
    return execution::StagedCopy::make(
        folder, execution::files_to_copy(key, source, {}), clock, observer, {});
  }
  execution::Loan loan(const std::string& name) const {
    base::write_file_atomically(home / "wanted", "");
    return {name, home / "wanted", home / "record"};
  }
  std::optional<execution::StagedCopy> find(const std::string& name) {
    return execution::StagedCopy::find(folder, key_1, name, clock);
  }
  void end(const std::string& name) {
    execution::StagedCopy::end_loans(folder, {key_1}, name, clock);
  }
  /// Another that uses it, or is about to.
  void add_user(const std::string& user) const {
    fs::create_directories(root() / key_1 / "users");
    base::write_file_atomically(root() / key_1 / "users" / user, "");
  }
  fs::path root() const { return folder / ("sabath-staged-" + std::to_string(::getuid())); }
};

/// As long as it lives, the soft limit is this.
class Limited {
 public:
  Limited(__rlimit_resource what, rlim_t most) : what_(what) {
    ::getrlimit(what_, &before_);
    const struct rlimit now { most, before_.rlim_max };
    ::setrlimit(what_, &now);
  }
  ~Limited() { ::setrlimit(what_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource what_;
  struct rlimit before_ {};
};

std::string gone_process() {
  auto gone = base::ProcessIdentity::current();
  gone.boot = std::string(gone.boot.size(), '0');
  return gone.text();
}

std::size_t entries_beneath(const fs::path& folder) {
  const fs::recursive_directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("staging: a copy needs nothing of its source, and is removed with its last user") {
  Staging staging;
  {
    const auto copy = staging.copy();
    REQUIRE(copy);
    CHECK(base::read_file(copy->path() / "a" / "link") == "hello");
    CHECK_FALSE(fs::is_symlink(copy->path() / "a" / "link"));
    CHECK(fs::exists(staging.root() / key_1));
  }
  CHECK(fs::is_empty(staging.root()));
}

TEST_CASE("staging: whoever comes while it is made waits for it, and nobody makes it twice") {
  Staging staging;
  {
    const auto first = staging.copy();
    const auto time_of = [&](const fs::path& file) { return fs::last_write_time(file); };
    const auto made = time_of(first->path() / "a" / "x");
    const int pid = ::fork();
    if (pid == 0) {
      // Another process of this node.
      bool same = false;
      {
        const auto copy = staging.copy();
        same = copy && time_of(copy->path() / "a" / "x") == made;
      }
      ::_exit(same ? 0 : 1);
    }
    int status = 1;
    ::waitpid(pid, &status, 0);
    CHECK(status == 0);
    CHECK(fs::exists(first->path() / "a" / "x"));  // that process was not the last user
  }
  CHECK(fs::is_empty(staging.root()));
}

TEST_CASE("staging: what killed processes left is removed by the next, half a copy is made anew") {
  Staging staging;
  const int pid = ::fork();
  if (pid == 0) {
    const auto copy = staging.copy(key_2);
    fs::create_directories(staging.root() / key_1 / "users");
    const std::string self = base::ProcessIdentity::current().text();
    base::write_file_atomically(staging.root() / key_1 / "maker", self);
    base::write_file_atomically(staging.root() / key_1 / "users" / self, "");
    ::_exit(0);  // as kill -9: nothing is tidied up
  }
  ::waitpid(pid, nullptr, 0);
  REQUIRE(fs::exists(staging.root() / key_2 / "data"));
  const auto copy = staging.copy();
  REQUIRE(copy);
  CHECK(base::read_file(copy->path() / "a" / "x") == "hello");
  CHECK_FALSE(fs::exists(staging.root() / key_2));
}

TEST_CASE("staging: a copy cannot be written to") {
  Staging staging;
  fs::permissions(staging.source / "a" / "x", fs::perms::owner_all);
  base::write_file_atomically(staging.source / "plain", "1");
  const auto copy = staging.copy();
  REQUIRE(copy);
  const auto mode = [](const fs::path& file) {
    return static_cast<unsigned>(fs::status(file).permissions());
  };
  CHECK(mode(copy->path()) == 0555);
  CHECK(mode(copy->path() / "a") == 0555);
  CHECK(mode(copy->path() / "a" / "x") == 0555);
  CHECK(mode(copy->path() / "plain") == 0444);
}

TEST_CASE("staging: a folder for copies that is somebody's link is not used") {
  Staging staging;
  const fs::path elsewhere = staging.home / "elsewhere";
  fs::create_directories(elsewhere / key_2 / "users");
  fs::create_directory_symlink(elsewhere, staging.root());
  CHECK_FALSE(staging.copy());
  REQUIRE(staging.observer.warnings.size() == 1);
  CHECK(test::contains(staging.observer.warnings.front(), "is not a folder of this user's own"));
  CHECK(fs::exists(elsewhere / key_2));
}

TEST_CASE("staging: what is no copy is left where it is") {
  Staging staging;
  fs::create_directories(staging.root() / "mine" / "users");
  fs::create_directories(staging.root() / key_2 / "no users");
  fs::create_directories(staging.root() / ".gone-mine");
  CHECK(staging.copy());
  CHECK(fs::exists(staging.root() / "mine"));
  CHECK(fs::exists(staging.root() / key_2));
  CHECK(fs::exists(staging.root() / ".gone-mine"));
}

TEST_CASE("staging: where there is no room it is told, and the source is used") {
  Staging staging;
  const fs::path large = staging.source / "large";
  base::write_file_atomically(large, "");
  fs::resize_file(large, fs::space(staging.folder).available + (1U << 20U));
  CHECK_FALSE(staging.copy());
  REQUIRE(staging.observer.warnings.size() == 1);
  CHECK(
      test::contains(staging.observer.warnings.front(), ": is not copied to this node: it takes"));
  CHECK(fs::is_empty(staging.root()));
}

TEST_CASE("staging: where copying fails, others who wait for it are not kept waiting") {
  Staging staging;
  base::write_file_atomically(staging.source / "large", std::string(1U << 20U, 'x'));
  staging.add_user(base::ProcessIdentity::of(::getppid()).text());
  {
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    const Limited disk(RLIMIT_FSIZE, 1U << 16U);
    CHECK_FALSE(staging.copy());
    ::signal(SIGXFSZ, handler);
  }
  REQUIRE(staging.observer.warnings.size() == 1);
  REQUIRE_FALSE(fs::exists(staging.root() / key_1 / "maker"));
  const auto copy = staging.copy();
  REQUIRE(copy);
  CHECK(fs::file_size(copy->path() / "large") == 1U << 20U);
}

TEST_CASE("staging: what a killed process held is taken over by one alone") {
  Staging staging;
  const std::string gone = gone_process();
  staging.add_user(gone);
  const fs::path maker = staging.root() / key_1 / "maker";
  const fs::path right = staging.root() / key_1 / ("after-" + base::sha256_of(gone).hex);
  base::write_file_atomically(maker, gone);
  base::write_file_atomically(right, base::ProcessIdentity::of(::getppid()).text());
  staging.add_user(base::ProcessIdentity::of(::getppid()).text());
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  const base::Error error = test::error_of([&] {
    execution::StagedCopy::make(staging.folder,
                                execution::files_to_copy(key_1, staging.source, stop.get_token()),
                                staging.clock,
                                staging.observer,
                                stop.get_token());
  });
  CHECK(error.kind() == base::ErrorKind::interrupted);
  CHECK(base::read_file(maker) == gone);
  // Who was about to take it over is gone, too.
  base::write_file_atomically(right, gone);
  CHECK(staging.copy());
  CHECK_FALSE(fs::exists(right));
  CHECK_FALSE(fs::exists(maker));
}

TEST_CASE("staging: a copy that cannot be given up ends nothing") {
  Staging staging;
  const int pid = ::fork();
  if (pid == 0) {
    auto copy = staging.copy();
    const bool is_made = copy.has_value();
    {
      const Limited files(RLIMIT_NOFILE, 0);  // so nobody can say who he is
      copy.reset();
    }
    ::_exit(is_made ? 0 : 1);
  }
  int status = 1;
  ::waitpid(pid, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(staging.copy());  // that process is gone
}

TEST_CASE("staging: a folder that is linked from within itself is copied once") {
  Staging staging;
  fs::create_directory_symlink(".", staging.source / "self");
  fs::create_directory_symlink("..", staging.source / "a" / "up");
  fs::create_directory_symlink("a", staging.source / "other");
  fs::create_symlink("nothing", staging.source / "a" / "dangling");
  fs::create_symlink("endless", staging.source / "a" / "endless");
  const auto copy = staging.copy();
  REQUIRE(copy);
  CHECK(staging.observer.warnings.empty());
  CHECK(base::read_file(copy->path() / "self" / "a" / "up" / "other" / "x") == "hello");
  CHECK(fs::read_symlink(copy->path() / "self") == ".");
  CHECK(fs::read_symlink(copy->path() / "a" / "up") == "..");
  CHECK(entries_beneath(copy->path()) == 6);  // a, a/x, a/link, a/up, other, self
}

TEST_CASE("staging: folders outside are copied with what links to them, each a finite time") {
  Staging staging;
  const fs::path outside = staging.home / "outside";
  fs::create_directories(outside / "deep");
  base::write_file_atomically(outside / "deep" / "y", "far");
  fs::create_directory_symlink(outside, outside / "deep" / "up");
  fs::create_directory_symlink(staging.source, outside / "back");
  fs::create_directory_symlink(outside, staging.source / "out");
  fs::create_directory_symlink(outside / "deep", staging.source / "a" / "deep");
  const auto copy = staging.copy();
  REQUIRE(copy);
  fs::remove_all(outside);
  CHECK(base::read_file(copy->path() / "out" / "deep" / "up" / "deep" / "y") == "far");
  CHECK(base::read_file(copy->path() / "a" / "deep" / "y") == "far");
  CHECK(base::read_file(copy->path() / "out" / "back" / "a" / "x") == "hello");
  CHECK(fs::is_symlink(copy->path() / "out" / "back"));
}

TEST_CASE("staging: what is lent stays for those who come later, until it is given back") {
  Staging staging;
  staging.copy().value().lend(staging.loan("run"));
  CHECK(fs::exists(staging.root() / key_1 / "data"));
  {
    const auto found = staging.find("run");
    REQUIRE(found);
    CHECK(base::read_file(found->path() / "a" / "x") == "hello");
  }
  staging.copy(key_2).value().lend(staging.loan("run"));
  // Nothing of another's is given back, and what is another's, too, stays.
  CHECK_FALSE(staging.find("other"));
  staging.end("other");
  REQUIRE(fs::exists(staging.root() / key_1 / "data"));
  staging.copy().value().lend(staging.loan("other"));
  staging.end("run");
  REQUIRE(fs::exists(staging.root() / key_1 / "data"));
  CHECK_FALSE(staging.find("run"));
  staging.end("other");
  CHECK_FALSE(fs::exists(staging.root() / key_1));
  CHECK(fs::exists(staging.root() / key_2));
  // Nobody finds what is not there, and nothing is left of the question.
  CHECK_FALSE(staging.find("other"));
  CHECK_FALSE(fs::exists(staging.root() / key_1));
}

TEST_CASE("staging: a loan is over when the run has ended, or its node was started anew") {
  Staging staging;
  staging.copy().value().lend(staging.loan("run"));
  CHECK(staging.copy(key_2));
  REQUIRE(staging.find("run"));
  SECTION("its file is gone") {
    fs::remove(staging.loan("").while_there);
  }
  SECTION("its record is there") {
    base::write_file_atomically(staging.loan("").until_there, "");
  }
  SECTION("what was not written when the node went down is lost") {
    const fs::path users = staging.root() / key_1 / "users";
    const fs::path loan = fs::directory_iterator(users)->path();
    const std::string own = base::ProcessIdentity::current().text();
    std::string name = loan.filename().string();
    name.replace(name.find(own), own.size(), gone_process());
    fs::rename(loan, users / name);
  }
  CHECK_FALSE(staging.find("run"));
  CHECK(staging.copy(key_2));
  CHECK_FALSE(fs::exists(staging.root() / key_1));
}

TEST_CASE("staging: a leftover that nobody was lent is not taken for a copy") {
  Staging staging;
  fs::create_directories(staging.root() / key_1 / "users");
  base::write_file_atomically(staging.root() / key_1 / "data", "half of it");
  staging.add_user(gone_process());
  CHECK_FALSE(staging.find("run"));
}

TEST_CASE("staging: who ends soon is waited for when a loan ends") {
  Staging staging;
  staging.copy().value().lend(staging.loan("run"));
  const int pid = ::fork();
  if (pid == 0) {
    const auto rank = staging.find("run");
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    ::_exit(rank ? 0 : 1);  // as one that became another program: no word of it
  }
  while (entries_beneath(staging.root() / key_1 / "users") < 2)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::thread reaper([&] { ::waitpid(pid, nullptr, 0); });
  staging.end("run");
  reaper.join();
  CHECK_FALSE(fs::exists(staging.root() / key_1));
}

TEST_CASE("staging: stages see the copy wherever they would see the source") {
  spec::PlannedStage stage;
  stage.argv = {"--in=/cache/trees/1/a.h5", "/cache/trees/12/b", "/cache/trees/1:/cache/trees/1"};
  stage.environment = {{"SABATH_DATASET_TRAIN", "/cache/trees/1"}};
  execution::see_instead("/cache/trees/1", "/local/data", stage);
  CHECK(stage.argv == std::vector<std::string>{
                          "--in=/local/data/a.h5", "/cache/trees/12/b", "/local/data:/local/data"});
  CHECK(stage.environment.at("SABATH_DATASET_TRAIN") == "/local/data");
}

TEST_CASE("staging: a folder may begin with a variable, and one that is none is told") {
  test::RecordingObserver observer;
  ::setenv("SABATH_TEST_FOLDER", "/local/disk", 1);
  CHECK(execution::expanded("$SABATH_TEST_FOLDER", base::current_environment(), observer) ==
        fs::path("/local/disk"));
  CHECK(execution::expanded("$SABATH_TEST_FOLDER/x", base::current_environment(), observer) ==
        fs::path("/local/disk/x"));
  CHECK(execution::expanded("${SABATH_TEST_FOLDER}/x", base::current_environment(), observer) ==
        fs::path("/local/disk/x"));
  CHECK(execution::expanded("/x", base::current_environment(), observer) == fs::path("/x"));
  CHECK_FALSE(execution::expanded("", base::current_environment(), observer));
  CHECK(observer.warnings.empty());
  ::unsetenv("SABATH_TEST_FOLDER");
  CHECK_FALSE(execution::expanded("$SABATH_TEST_FOLDER/x", base::current_environment(), observer));
  CHECK(observer.warnings.size() == 1);
}

TEST_CASE("scratch: a folder of this process, and none of those that are gone") {
  const test::TempHome home;
  auto gone = base::ProcessIdentity::current();
  gone.boot = std::string(gone.boot.size(), '0');
  auto elsewhere = gone;
  elsewhere.host = std::string(gone.host.size(), '0');
  fs::create_directories(home / ("sabath-work-" + gone.text()) / "x");
  fs::create_directories(home / ("sabath-work-" + elsewhere.text()));
  {
    const execution::ScratchFolder scratch(home.path());
    CHECK(fs::is_directory(scratch.path()));
    CHECK_FALSE(fs::exists(home / ("sabath-work-" + gone.text())));
    CHECK(fs::exists(home / ("sabath-work-" + elsewhere.text())));
  }
  CHECK_FALSE(fs::exists(home / ("sabath-work-" + base::ProcessIdentity::current().text())));
}

TEST_CASE("staging: behind a link in a folder of a group all is removed, too") {
  Staging staging;
  fs::create_directories(staging.home / "group");
  fs::create_symlink(staging.folder, staging.home / "group/link");
  fs::permissions(staging.home / "group", fs::perms(0777));
  const fs::path named = staging.home / "group/link";
  {
    const execution::ScratchFolder scratch(named);
    fs::create_directories(scratch.path() / "work");
    CHECK(fs::exists(staging.folder / scratch.path().filename() / "work"));
    const auto copy =
        execution::StagedCopy::make(named,
                                    execution::files_to_copy(key_1, staging.source, {}),
                                    staging.clock,
                                    staging.observer,
                                    {});
    REQUIRE(copy);
    CHECK(base::read_file(copy->path() / "a/x") == "hello");
  }
  CHECK(fs::is_empty(staging.root()));
  fs::remove(staging.root());
  CHECK(fs::is_empty(staging.folder));
}

TEST_CASE("scratch: a folder in which others can exchange things is not used, a sticky one is") {
  Staging staging;
  fs::permissions(staging.folder, fs::perms(0777));
  CHECK_THROWS_AS(execution::ScratchFolder(staging.folder), base::Error);
  CHECK(fs::is_empty(staging.folder));
  fs::permissions(staging.folder, fs::perms(01777));
  CHECK(fs::exists(execution::ScratchFolder(staging.folder).path()));
  CHECK(fs::is_empty(staging.folder));
}
