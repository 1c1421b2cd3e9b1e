// Environments of a source layer, which needs no network: shared with others, used in a job, and
// gone when they are needed.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Of users that every Debian has: the second is no member of the first's group.
struct User {
  std::string name{};
  std::string id{};
};
const User daemon_user{"daemon", "1"};
const User bin_user{"bin", "2"};

/// A recipe whose environment has one program, "hello", which says so.
std::string hello_recipe(const Sabath& sabath,
                         const std::string& stages = R"([{"name": "say", "run": ["hello"]}])") {
  const std::string folder = sabath.recipe("hello", R"({"schema": 1, "name": "hello",
    "environment": {"layers": [
      {"kind": "source", "name": "code", "path": "{recipe}/code", "build": "make", "languages": []}]},
    "stages": )" + stages + "}");
  fs::create_directories(folder + "/code");
  write_text(folder + "/code/Makefile",
             "all:\n\techo compiling\n"
             "install:\n"
             "\tmkdir -p $(PREFIX)/bin\n"
             "\tprintf '#!/bin/sh\\necho hello\\n' > $(PREFIX)/bin/hello\n"
             "\tchmod 755 $(PREFIX)/bin/hello\n");
  return folder;
}

/// Several users of one machine, each with a home, and a cache that they may share.
class Machine {
 public:
  Machine() { fs::permissions(sabath.folder(), fs::perms(0755)); }

  Answer as(const User& user,
            const std::vector<std::string>& arguments,
            const std::string& groups = {}) {
    const fs::path home = home_of(user);
    auto& variables = sabath.environment();
    variables["SABATH_HOME"] = (home / "sabath").string();
    variables["SABATH_CONFIG"] = (home / "config").string();
    variables["HOME"] = home.string();
    std::vector<std::string> argv{"setpriv", "--reuid=" + user.id, "--regid=" + user.id};
    argv.push_back(groups.empty() ? "--clear-groups" : "--groups=" + groups);
    argv.emplace_back(SABATH_PROGRAM);
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return sabath.program(argv);
  }
  void configure(const User& user, const json& document) {
    const fs::path folder = home_of(user) / "config";
    fs::create_directories(folder);
    json whole = document;
    whole["schema"] = 1;
    write_text(folder / "config.json", whole.dump());
  }
  /// May others run the program under test at all?
  bool has_users() {
    if (is_root() && as(daemon_user, {"--version"}).status == 0) return true;
    WARN("not root, or the program is not for others to run: not tested");
    return false;
  }
  fs::path shared() const { return sabath.folder() / "shared"; }
  void make_shared(const User& owner, mode_t mode) const {
    fs::create_directories(shared());
    REQUIRE(::chown(shared().c_str(), id(owner), id(owner)) == 0);
    REQUIRE(::chmod(shared().c_str(), mode) == 0);
  }

  Sabath sabath{};

 private:
  fs::path home_of(const User& user) const {
    fs::path home = sabath.folder() / user.name;
    fs::create_directories(home);
    REQUIRE(::chown(home.c_str(), id(user), id(user)) == 0);
    return home;
  }
  static unsigned id(const User& user) { return static_cast<unsigned>(std::stoul(user.id)); }
};

/// Of the only layer, as `env build --json` says it.
std::string prefix_in(const Answer& answer) {
  INFO(answer.output << answer.errors);
  REQUIRE(answer.status == 0);
  return json::parse(answer.output)["layers"][0]["prefix"];
}

std::size_t built_in(const fs::path& cache) {
  std::error_code code;
  const fs::directory_iterator keys(cache / "envs" / "source", code);
  return code ? 0 : static_cast<std::size_t>(std::distance(keys, fs::directory_iterator()));
}

}  // namespace

TEST_CASE("cli: what a trusted user built is used by others out of that user's cache") {
  Machine machine;
  if (!machine.has_users()) return;
  const std::string recipe = hello_recipe(machine.sabath);
  machine.make_shared(daemon_user, 0755);
  machine.sabath.environment()["SABATH_CACHE"] = machine.shared().string();
  const std::string shared = prefix_in(machine.as(daemon_user, {"env", "build", recipe, "--json"}));
  REQUIRE(shared.starts_with(machine.shared().string()));
  machine.sabath.environment().erase("SABATH_CACHE");

  const json lower = {{"lower", {machine.shared().string()}}};
  const fs::path own = machine.sabath.folder() / "bin/sabath/cache";
  SECTION("nobody is trusted") {
    machine.configure(bin_user, {{"cache", lower}});
    const Answer built = machine.as(bin_user, {"env", "build", recipe, "--json"});
    CHECK_THAT(built.errors, Contains("is ready in another cache and not used: "));
    CHECK_THAT(built.errors, Contains("belongs to user 1"));
    CHECK_THAT(built.errors, Contains("trusted_owners"));
    CHECK(prefix_in(built).starts_with(own.string()));
  }
  SECTION("the builder is trusted") {
    const std::string owner = GENERATE("daemon", "1");
    machine.configure(bin_user,
                      {{"cache", lower}, {"environments", {{"trusted_owners", {owner}}}}});
    CHECK(prefix_in(machine.as(bin_user, {"env", "build", recipe, "--json"})) == shared);
    CHECK(machine.as(bin_user, {"env", "exec", recipe, "--", "hello"}).output == "hello\n");
    const Answer ran = machine.as(bin_user, {"run", recipe});
    INFO(ran.errors);
    CHECK(ran.status == 0);
    CHECK(built_in(own) == 0);
    CHECK_THAT(machine.as(bin_user, {"env", "show", recipe}).output, Contains(shared));
    CHECK_THAT(machine.as(bin_user, {"env", "list"}).output, Contains("no environments yet"));
    const std::string key = fs::path(shared).parent_path().parent_path().filename().string();
    CHECK(machine.as(bin_user, {"env", "rm", key}).status == 10);
    // Trust is checked right before use, too.
    REQUIRE(::chmod((shared + "/bin/hello").c_str(), 0777) == 0);
    const Answer refused = machine.as(bin_user, {"env", "exec", recipe, "--", "hello"});
    CHECK(refused.status == 13);
    CHECK_THAT(refused.errors, Contains("can be written by everybody"));
  }
  SECTION("somebody else is trusted, and one whom this machine does not know") {
    machine.configure(
        bin_user,
        {{"cache", lower}, {"environments", {{"trusted_owners", {"games", "no-such-user"}}}}});
    const Answer built = machine.as(bin_user, {"env", "build", recipe, "--json"});
    CHECK(prefix_in(built).starts_with(own.string()));
    CHECK_THAT(built.errors,
               Contains("/environments/trusted_owners: 'no-such-user' is not known on this"));
  }
  SECTION("others may write the configuration that trusts") {
    machine.configure(bin_user,
                      {{"cache", lower}, {"environments", {{"trusted_owners", {"daemon"}}}}});
    fs::permissions(machine.sabath.folder() / "bin/config/config.json", fs::perms::all);
    const Answer refused = machine.as(bin_user, {"env", "build", recipe});
    CHECK(refused.status == 2);
    CHECK_THAT(refused.errors,
               Contains("names trusted owners of environments, but cannot be trusted"));
  }
}

TEST_CASE("cli: what root built is used by everybody, whoever may not write there") {
  Machine machine;
  if (!machine.has_users()) return;
  const std::string recipe = hello_recipe(machine.sabath);
  machine.sabath.environment()["SABATH_CACHE"] = machine.shared().string();
  const std::string shared =
      prefix_in(machine.as({"root", "0"}, {"env", "build", recipe, "--json"}));
  machine.sabath.environment().erase("SABATH_CACHE");
  machine.configure(bin_user, {{"cache", {{"lower", {machine.shared().string()}}}}});
  CHECK(prefix_in(machine.as(bin_user, {"env", "build", recipe, "--json"})) == shared);
  CHECK(machine.as(bin_user, {"run", recipe}).status == 0);
}

TEST_CASE("cli: a group shares one cache where its members trust it") {
  Machine machine;
  if (!machine.has_users()) return;
  const std::string recipe = hello_recipe(machine.sabath);
  machine.make_shared(daemon_user, 0755);
  machine.sabath.environment()["SABATH_CACHE"] = machine.shared().string();
  machine.sabath.environment()["SABATH_CACHE_SHARED"] = "1";
  const Answer distrustful = machine.as(daemon_user, {"env", "build", recipe});
  CHECK(distrustful.status == 13);
  CHECK_THAT(distrustful.errors, Contains("can be written by its group"));
  CHECK_THAT(distrustful.errors, Contains("trusted_groups"));

  const json trusting = {{"environments", {{"trusted_groups", {"daemon"}}}}};
  machine.configure(daemon_user, trusting);
  machine.configure(bin_user, trusting);
  const std::string shared = prefix_in(machine.as(daemon_user, {"env", "build", recipe, "--json"}));
  // By its first group "daemon" is a member; "bin" has it among its others.
  CHECK(prefix_in(machine.as(bin_user, {"env", "build", recipe, "--json"}, "1")) == shared);
  CHECK(machine.as(bin_user, {"env", "exec", recipe, "--", "hello"}, "1").output == "hello\n");

  write_text(recipe + "/code/more", "another key");
  const std::string second =
      prefix_in(machine.as(bin_user, {"env", "build", recipe, "--json"}, "1"));
  CHECK(second.starts_with(machine.shared().string()));
  CHECK(built_in(machine.shared()) == 2);
  struct stat status {};
  REQUIRE(::stat(second.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0555);
  // By /etc/group "bin" is no member, however it came by the group's rights.
  const Answer stranger = machine.as(daemon_user, {"env", "build", recipe});
  CHECK(stranger.status == 13);
  CHECK_THAT(stranger.errors, Contains("belongs to user 2"));
}

TEST_CASE("cli: in a job of a scheduler env exec uses what is ready and builds nothing") {
  Sabath sabath;
  const std::string recipe = hello_recipe(sabath);
  const std::vector<std::string> exec{"env", "exec", recipe, "--", "hello"};
  const std::string variable = GENERATE("SLURM_JOB_ID", "PBS_JOBID", "SABATH_JOB_ID");
  sabath.environment()[variable] = "7";
  const Answer refused = sabath(exec);
  CHECK(refused.status == 13);
  CHECK_THAT(refused.errors, Contains("nothing is built in a job of a scheduler"));
  CHECK_THAT(refused.errors, Contains("'sabath env build " + recipe + "' on a login node"));
  CHECK(built_in(sabath.cache()) == 0);
  CHECK(sabath({"env", "exec", "--build", recipe, "--", "hello"}).output == "hello\n");
  CHECK(sabath(exec).output == "hello\n");
}

TEST_CASE("cli: a command in a hint names the recipe as it was typed") {
  const Sabath sabath;
  const std::string recipe = hello_recipe(sabath);
  const Answer shown = sabath({"env", "show", recipe});
  CHECK(shown.status == 13);
  CHECK_THAT(shown.errors, Contains("hint: sabath env build " + recipe + "\n"));
  const std::string spaced = (sabath.folder() / "my recipe").string();
  std::filesystem::copy(recipe, spaced, std::filesystem::copy_options::recursive);
  CHECK_THAT(sabath({"env", "show", spaced}).errors,
             Contains("hint: sabath env build '" + spaced + "'\n"));
}

TEST_CASE("cli: env exec --no-build builds nothing anywhere") {
  const Sabath sabath;
  const std::string recipe = hello_recipe(sabath);
  const Answer refused = sabath({"env", "exec", "--no-build", recipe, "--", "hello"});
  CHECK(refused.status == 13);
  CHECK_THAT(refused.errors, Contains("is not ready, and --no-build"));
  CHECK(built_in(sabath.cache()) == 0);
  CHECK(sabath({"env", "exec", "--no-build", "--build", recipe, "--", "hello"}).status == 2);
}

TEST_CASE("cli: an environment that is removed between two stages is told as that") {
  const Sabath sabath;
  const std::string recipe = hello_recipe(sabath, R"([
    {"name": "spoil", "run": {"shell": "chmod -R u+w {env}; rm -r {env}"}},
    {"name": "say", "needs": ["spoil"], "run": ["hello"]}])");
  const Answer answer = sabath({"run", recipe});
  CHECK(answer.status == 1);
  const json stage = json::parse(sabath.newest())["stages"][1];
  CHECK_THAT(stage["message"].get<std::string>(),
             Contains("environment layer 'code': ") && Contains("was removed since it was ready"));
  // The next run has it again.
  write_text(recipe + "/recipe.json",
             json::parse(text_of(recipe + "/recipe.json"))
                 .patch(json::parse(R"([{"op": "remove", "path": "/stages/0"},
                                        {"op": "remove", "path": "/stages/0/needs"}])"))
                 .dump());
  CHECK(sabath({"run", recipe}).status == 0);
}

TEST_CASE("cli: an environment that is removed under a stage is told with its failure") {
  const Sabath sabath;
  const std::string recipe = hello_recipe(sabath, R"([
    {"name": "spoil", "run": {"shell": "chmod -R u+w {env}; rm -r {env}; hello"},
     "retry": {"times": 2, "exit_codes": [127]}}])");
  CHECK(sabath({"run", recipe}).status == 1);
  const json stage = json::parse(sabath.newest())["stages"][0];
  CHECK_THAT(stage["message"].get<std::string>(),
             Contains("127") && Contains("was removed since it was ready"));
  CHECK_FALSE(stage.contains("tries"));
}

TEST_CASE("cli: an environment that is removed between plan and execution is told as that") {
  const Sabath sabath;
  const std::string recipe = hello_recipe(sabath);
  REQUIRE(sabath({"run", recipe}).status == 0);
  const fs::path done = sabath.run_directories().back();
  const fs::path again = done.parent_path() / "hello-20260101-000000-aaaaaaaa";
  fs::create_directory(again);
  json plan = json::parse(text_of(done / "plan.json"));
  const std::string prefix = plan["environment"]["layers"][0]["prefix"];
  std::string text = plan.dump();
  const std::string name = done.filename().string();
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    text.replace(at, name.size(), again.filename().string());
  write_text(again / "plan.json", text);
  json status = json::parse(text_of(done / "status.json"));
  status["state"] = "planned";
  write_text(again / "status.json", status.dump());
  sabath.program({"rm", "-rf", prefix});
  REQUIRE_FALSE(fs::exists(prefix));
  const Answer answer = sabath({"exec", again.string()});
  INFO(answer.errors);
  CHECK(answer.status == 1);
  const std::string record = text_of(again / "record.json");
  CHECK_THAT(record, Contains("was removed since it was ready"));
  CHECK_THAT(record, !Contains("sabath executes no files that others could change"));
}

TEST_CASE("cli: limits of builds stand in the configuration and change no key") {
  const Sabath sabath;
  const std::string recipe = hello_recipe(sabath);
  const std::string prefix = prefix_in(sabath({"env", "build", recipe, "--json"}));
  const fs::path config = sabath.folder() / "config";
  fs::create_directories(config);
  write_text(
      config / "config.json",
      R"({"schema": 1, "environments": {"limits": {"silence": 1, "wall": "1h", "jobs": 3}}})");
  CHECK(prefix_in(sabath({"env", "build", recipe, "--json"})) == prefix);
  write_text(recipe + "/code/Makefile",
             "all:\n\techo '$(MAKEFLAGS)' > jobs\n\tsleep 30\ninstall:\n");
  const Answer answer = sabath({"env", "build", recipe});
  CHECK(answer.status == 13);
  CHECK_THAT(answer.errors, Contains("wrote nothing"));
  CHECK_THAT(answer.errors, Contains("\"limits\""));
}
