// A second user moves, links, exchanges and plants what a group may write to, while the victim
// works with the program itself.
#include "support/second_user.hpp"

#include "support/program.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iostream>
#include <map>

using namespace sabath;
using nlohmann::json;
using test::Answer;

namespace fs = std::filesystem;

namespace {

constexpr unsigned sources = 3;

std::string right_text(unsigned number) {
  return "right " + std::to_string(number) + "\n";
}

const std::string evil_text = "evil! 0\n";

/// The evil object under its own, right name; then records that lead to it, and its bytes under
/// the names of other objects.
class Planter {
 public:
  explicit Planter(fs::path cache) : cache_(std::move(cache)) {}

  void plant() {
    put(object(base::sha256_of(evil_text).hex), evil_text);
    const std::string right =
        base::sha256_of(right_text(static_cast<unsigned>(random_() % sources))).hex;
    if (random_() % 3 == 0) return put(object(right), evil_text);
    const fs::path folder =
        cache_ /
        std::vector<std::string>{"sources", "assets", "stages", "trees/from"}[random_() % 4];
    std::error_code code;
    std::vector<fs::path> records;
    for (fs::directory_iterator at(folder, code); !code && at != fs::directory_iterator();
         at.increment(code))
      records.push_back(at->path());
    if (records.empty()) return;
    const fs::path record = records[random_() % records.size()];
    std::string text = test::text_of(record);
    const std::string evil = base::sha256_of(evil_text).hex;
    for (unsigned number = 0; number < sources; ++number) {
      const std::string hex = base::sha256_of(right_text(number)).hex;
      for (auto at = text.find(hex); at != std::string::npos; at = text.find(hex))
        text.replace(at, hex.size(), evil);
    }
    put(record, text);
  }

 private:
  fs::path object(const std::string& hex) const {
    return cache_ / "objects/sha256" / hex.substr(0, 2) / hex.substr(2);
  }
  static void put(const fs::path& file, const std::string& text) {
    try {
      base::make_directories(file.parent_path());
      base::write_file_atomically(file, text, base::Durability::ordered_only);
    } catch (const base::Error&) {
      return;  // not for this user to write
    }
  }

  fs::path cache_;
  std::minstd_rand random_{7};
};

/// The victim, with a cache and two folders for scratch that the group may write to.
class Victim {
 public:
  Victim() {
    fs::create_directories(sabath.home());
    for (const char* const name : {"cache", "scratch"})
      test::make_for_group(sabath.folder() / "shared" / name, 02775);
    test::make_for_group(sabath.folder() / "shared/sticky", 03775);
    auto& variables = sabath.environment();
    variables["SABATH_CACHE"] = cache().string();
    variables["SABATH_CACHE_SHARED"] = "1";
    variables["PATH"] = (sabath.folder() / "tools").string() + ":" + variables["PATH"];
    variables["OURS_STATE"] = sabath.home().string();
    write_sources();
    write_recipes();
    write_sites();
    const Answer owned = sabath.program(
        {"chown",
         "-R",
         std::to_string(test::victim_user) + ":" + std::to_string(test::shared_group),
         sabath.home().string()});
    REQUIRE(owned.status == 0);
  }

  Answer run(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv{"setpriv",
                                  "--reuid=" + std::to_string(test::victim_user),
                                  "--regid=" + std::to_string(test::shared_group),
                                  "--clear-groups",
                                  SABATH_PROGRAM};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const Answer answer = sabath.program(argv);
    auto& [done, refused] = counts_[arguments[0] + (arguments[0] == "cache" || arguments[0] == "env"
                                                        ? " " + arguments[1]
                                                        : std::string())];
    ++(answer.status == 0 ? done : refused);
    if (answer.status != 0)
      last_error_ = base::quote_command(arguments) + ": " + answer.errors + answer.output;
    // A crash, or a fault of the program's own, is never an answer.
    INFO(base::quote_command(arguments) << "\n" << answer.output << answer.errors);
    CHECK(answer.status < 128);
    CHECK(answer.status >= 0);
    CHECK(answer.errors.find("internal") == std::string::npos);
    if (canaries_ != nullptr) REQUIRE(canaries_->harm() == "");
    return answer;
  }

  /// All that makes, moves or removes.
  void work(unsigned number) {
    const std::string which = std::to_string(number % sources);
    const fs::path out = sabath.home() / ("out-" + std::to_string(number));
    run({"fetch", "pinned-" + which, "-o", out.string()});
    run({"fetch", url_of(number % sources)});
    run({"run", work_recipe_, "--set", "n=" + which});
    run({"run", work_recipe_, "--fresh", "--on", number % 2 == 0 ? "here" : "sticky"});
    run({"env", "build", hello_recipe_});
    run({"cache", "repair"});
    run({"verify"});
    run({"env", "gc", "--older-than", "0s"});
    run({"cache", "gc", "--older-than", "0s"});
  }

  /// While nobody attacks: what comes with success is right, whatever was planted before.
  void check(unsigned number) {
    const unsigned which = number % sources;
    for (const std::string& name : {"pinned-" + std::to_string(which), url_of(which)}) {
      const Answer fetched = run({"fetch", name, "--json"});
      if (fetched.status != 0) continue;
      const json result = json::parse(test::last_line(fetched.output))["fetched"][0];
      for (const json& file : result["files"]) {
        INFO(name);
        CHECK(test::text_of(file["object"].get<std::string>()) == right_text(which));
        ++right_;
      }
    }
    const std::size_t before = sabath.count_runs();
    if (this->run({"run", work_recipe_, "--set", "n=" + std::to_string(which)}).status != 0) return;
    REQUIRE(sabath.count_runs() == before + 1);
    const fs::path run = sabath.run_directories().back();
    INFO(test::text_of(run / "record.json"));
    for (const char* const stage : {"make", "read"}) {
      const fs::path file = run / "outputs" / stage / "x";
      struct stat status {};
      REQUIRE(::stat(file.c_str(), &status) == 0);
      CHECK(status.st_uid == test::victim_user);
      CHECK(test::text_of(file) == right_text(which));
    }
    ++right_;
  }

  fs::path cache() const { return sabath.folder() / "shared/cache"; }
  bool can_run() {
    return sabath
               .program({"setpriv",
                         "--reuid=" + std::to_string(test::victim_user),
                         "--regid=" + std::to_string(test::shared_group),
                         "--clear-groups",
                         SABATH_PROGRAM,
                         "--version"})
               .status == 0;
  }
  /// As an administrator makes it whole: new, with what the victim has fetched and run.
  void renew(unsigned number) {
    // Nothing is removed: the attacker may have moved the pool there.
    const fs::path away = sabath.folder() / "away" / std::to_string(number);
    for (const char* const name : {"cache", "scratch", "sticky"}) {
      fs::create_directories(away / name);
      for (const auto& entry : fs::directory_iterator(sabath.folder() / "shared" / name))
        fs::rename(entry.path(), away / name / entry.path().filename());
    }
    fs::permissions(sabath.folder() / "away", fs::perms::owner_all);
    const std::string which = std::to_string(number % sources);
    REQUIRE(run({"fetch", "pinned-" + which}).status == 0);
    REQUIRE(run({"fetch", url_of(number % sources)}).status == 0);
    REQUIRE(run({"run", work_recipe_, "--set", "n=" + which}).status == 0);
  }
  unsigned right() const { return right_; }
  std::string summary() const {
    std::string text;
    for (const auto& [name, count] : counts_)
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count.first) + " done " +
              std::to_string(count.second) + " refused";
    return text + "\nthe last refusal: " + last_error_;
  }

  /// Looked at after each command.
  void watch(const test::Canaries& canaries) { canaries_ = &canaries; }

  test::Sabath sabath{};

 private:
  std::string url_of(unsigned number) const {
    return "file://" + (sabath.home() / ("free-" + std::to_string(number))).string();
  }

  void write_sources() {
    for (unsigned number = 0; number < sources; ++number) {
      const std::string name = "pinned-" + std::to_string(number);
      test::write_text(sabath.home() / name, right_text(number));
      test::write_text(sabath.home() / ("free-" + std::to_string(number)), right_text(number));
      const json file = {{"path", "x"},
                         {"sources", {"file://" + (sabath.home() / name).string()}},
                         {"digest", {{"sha256", base::sha256_of(right_text(number)).hex}}}};
      sabath.asset(
          name,
          json{{"schema", 1}, {"kind", "dataset"}, {"name", name}, {"files", json::array({file})}}
              .dump());
    }
  }

  void write_recipes() {
    json stages = json::parse(R"([{"name": "make", "cache": true, "outputs": ["x"],
      "run": {"shell": "echo right {param.n} > {output}/x"}},
      {"name": "read", "outputs": ["x"], "run": {"shell": ""}}])");
    json datasets;
    std::string line = "case {param.n} in";
    for (unsigned number = 0; number < sources; ++number) {
      const std::string which = std::to_string(number);
      datasets["d" + which] = "pinned-" + which;
      line += " " + which + ") cat {dataset.d" + which + "}/x ;;";
    }
    stages[1]["run"]["shell"] = line + " esac > {output}/x";
    work_recipe_ = sabath.recipe("work",
                                 json{{"schema", 1},
                                      {"name", "work"},
                                      {"parameters", {{"n", {{"type", "int"}, {"default", 0}}}}},
                                      {"datasets", datasets},
                                      {"stages", stages}}
                                     .dump());
    hello_recipe_ = sabath.recipe("hello", R"({"schema": 1, "name": "hello",
      "environment": {"layers": [{"kind": "source", "name": "code", "path": "{recipe}/code",
        "build": "make", "languages": []}]},
      "stages": [{"name": "say", "run": ["hello"]}]})");
    fs::create_directories(hello_recipe_ + "/code");
    test::write_text(hello_recipe_ + "/code/Makefile",
                     "all:\ninstall:\n\tmkdir -p $(PREFIX)/bin\n"
                     "\tprintf '#!/bin/sh\\necho hello\\n' > $(PREFIX)/bin/hello\n"
                     "\tchmod 755 $(PREFIX)/bin/hello\n");
  }

  /// Jobs run as they are handed in.
  void write_sites() {
    const fs::path config = sabath.folder() / "config";
    fs::create_directories(config / "sites");
    fs::create_directories(config / "schedulers");
    fs::create_directories(sabath.folder() / "tools");
    test::write_text(config / "schedulers/ours.json", R"json({"schema": 1, "description": "ours",
      "keep": ["OURS_STATE"],
      "submit": {"directive": "#OURS ", "options": ["-n {comment}"], "command": ["osub", "{script}"],
                 "id": "^job ([0-9]+)"
  }
  , "poll" : [ {
    "command" : [ "ostat", "{ids}" ],
    "rows" : "(?m)^(?<id>[0-9]+) (?<state>[A-Z]+)(?: (?<reason>.*))?$"
  } ],
             "states" : {"W" : "pending", "R" : "running", "E" : "done"},
                        "cancel" : {
    "command" : [ "oend", "{ids}" ]
  }})json");
    const auto tool = [&](const std::string& name, const std::string& script) {
      const fs::path file = sabath.folder() / "tools" / name;
      test::write_text(file, "#!/bin/bash\n" + script + "\n");
      fs::permissions(file, fs::perms(0755));
    };
    tool("osub",
         "bash \"$1\" > \"$OURS_STATE/job.log\" 2>&1 < /dev/null\n"
         "echo >> \"$OURS_STATE/jobs\"; echo \"job $(wc -l < \"$OURS_STATE/jobs\")\"");
    tool("ostat", "for id; do echo \"$id E\"; done");
    tool("oend", "");
    for (const auto& [site, folder] :
         std::map<std::string, std::string>{{"here", "scratch"}, {"sticky", "sticky"}}) {
      const std::string scratch = (sabath.folder() / "shared" / folder).string();
      test::write_text(config / "sites" / (site + ".json"),
                       json{{"schema", 1},
                            {"scheduler", "ours"},
                            {"grace", "1s"},
                            {"scratch", scratch},
                            {"staging", {{"folder", scratch}, {"inputs", true}}}}
                           .dump());
    }
  }

  std::string work_recipe_{};
  std::string hello_recipe_{};
  const test::Canaries* canaries_ = nullptr;
  std::string last_error_{};
  std::map<std::string, std::pair<unsigned, unsigned>> counts_{};
  unsigned right_ = 0;
};

}  // namespace

TEST_CASE("second user: whatever is planted and exchanged, commands touch and believe nothing") {
  if (::geteuid() != 0) {
    WARN("SKIPPED: only root can act as a second user");
    return;
  }
  Victim victim;
  if (!victim.can_run()) {
    WARN("SKIPPED: the program under test is not for other users to run");
    return;
  }
  const fs::path home = victim.sabath.folder();
  const test::Canaries canaries(home);
  victim.watch(canaries);
  victim.renew(0);
  Planter planter(victim.cache());
  test::Attack attack(home, [&] { planter.plant(); });
  attack.heal();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
  const char* const wanted = std::getenv("SABATH_TEST_SECONDS");
  const std::chrono::seconds time(wanted == nullptr ? 40 : std::atoi(wanted));
  const auto begin = std::chrono::steady_clock::now();
  unsigned rounds = 0;
  for (; std::chrono::steady_clock::now() - begin < time; ++rounds) {
    victim.work(rounds);
    attack.pause();
    REQUIRE(canaries.harm() == "");
    victim.check(rounds);
    victim.renew(rounds);
    test::Child planting([&]() -> std::string {
      if (!test::become_member(test::attacking_user)) return "cannot become another";
      for (int i = 0; i < 40; ++i)
        planter.plant();
      return "";
    });
    REQUIRE(planting.wait() == "");
    victim.check(rounds);
    attack.resume();
  }
  attack.end();
  CHECK(canaries.harm() == "");
  CHECK(attack.count() > 0);
  CHECK(victim.right() > 0);
  std::cout << "second user: " << rounds << " rounds in " << time.count() << " s, "
            << attack.count() << " attacks that the kernel allowed, " << victim.right()
            << " answers looked at and right\n"
            << "second user: " << victim.summary() << "\n";
}
