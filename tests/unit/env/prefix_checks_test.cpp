#include "env/store/prefix_checks.hpp"

#include "env_workshop.hpp"
#include "support/child_process.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace fs = std::filesystem;
using namespace sabath;

namespace {

const env::Expectations two({"import b", "import a", "import a"});
const env::CheckRecord passed{
    .state = "passed", .expected = two.lines, .checked = "2026-01-01T00:00:00Z"};

struct Place {
  test::TempHome home{};
  env::AttemptFolder attempt{home / "envs/pip/0123/abcd"};
  Place() {
    base::make_directories(attempt.path);
    for (fs::path at = attempt.path; at != home.path().parent_path(); at = at.parent_path())
      fs::permissions(at, fs::perms(0755));
  }
};

}  // namespace

TEST_CASE("checks: what is expected counts, not its order") {
  CHECK(two.lines == std::vector<std::string>{"import a", "import b"});
  CHECK(two.digest == env::Expectations({"import a", "import b"}).digest);
  CHECK(two.digest != env::Expectations({"import a"}).digest);
}

TEST_CASE("checks: each expectation has an answer of its own, read as it was written") {
  const Place place;
  const env::PrefixChecks checks(place.attempt, {});
  CHECK_FALSE(checks.find(two).has_value());
  checks.keep(two, passed);
  const env::Expectations one({"import a"});
  env::CheckRecord failed = passed;
  failed.state = "failed";
  failed.problem = "no module a";
  failed.present = {{"library.libm.so.6", "/lib/libm.so.6"}};
  checks.keep(one, failed);
  CHECK(checks.find(two)->has_passed());
  CHECK(checks.find(one)->problem == "no module a");
  CHECK(checks.find(one)->present == failed.present);
  CHECK(checks.all().size() == 2);
  checks.keep(one, passed);
  CHECK(checks.find(one)->has_passed());
  std::map<std::string, std::string> present{{"tool.installer", "uv"}};
  checks.keep(one, failed);
  env::add_checked(place.attempt, present);
  CHECK(present.size() == 2);
}

TEST_CASE("checks: who cannot write beside a prefix keeps them among the own things") {
  const Place place;
  const fs::path state = place.home / "state";
  base::make_directories(state);
  fs::permissions(state, fs::perms::all);
  const int status = test::status_as_ordinary_user([&] {
    if (::access(place.attempt.path.c_str(), W_OK) == 0) return 7;  // the tests' user owns it
    const env::PrefixChecks own(place.attempt, state);
    own.keep(two, passed);
    const env::PrefixChecks nowhere(place.attempt, {});
    nowhere.keep(two, passed);
    if (nowhere.find(two) || nowhere.log_of(two)) return 2;
    return own.find(two) && own.find(two)->has_passed() ? 0 : 3;
  });
  if (WEXITSTATUS(status) == 7) {
    WARN("only root can be another user: not tested");
    return;
  }
  CHECK(status == 0);
  CHECK(env::PrefixChecks(place.attempt, state).find(two).has_value());
  CHECK_FALSE(env::PrefixChecks(place.attempt, {}).find(two).has_value());
}
