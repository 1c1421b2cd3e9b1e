// Places that fail: read-only, full, gone, newer, or open to strangers.
#include "support/program.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sqlite3.h>

#include <set>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// May "nobody" execute the program under test?
bool nobody_can_run(const Sabath& sabath) {
  return is_root() && sabath.as_nobody({"--version"}).status == 0;
}

/// The program as a user for whom permissions count.
Answer ordinarily(const Sabath& sabath, const std::vector<std::string>& arguments) {
  return is_root() ? sabath.as_nobody(arguments) : sabath(arguments);
}

void open_up(const fs::path& folder) {
  fs::permissions(folder, fs::perms(0755));
}

/// A small file system in memory.
class SmallDisk {
 public:
  SmallDisk(fs::path place, const std::string& size) : place_(std::move(place)) {
    fs::create_directories(place_);
    mounted_ = ::mount("none", place_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(place_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  fs::path place_;
  bool mounted_ = false;
};

void change_catalog(const fs::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

void set_catalog_version(const fs::path& file, int version) {
  change_catalog(file, "pragma user_version = " + std::to_string(version));
}

std::string id_of_newest(const Sabath& sabath) {
  return sabath.run_directories().back().filename().string();
}

constexpr const char* one_metric = R"(echo '{{"step": 1, "loss": 2.5}}' >> $SABATH_METRICS)";

}  // namespace

TEST_CASE("cli: a home that cannot be written is an error of storage that names it") {
  Sabath sabath;
  if (is_root() && !nobody_can_run(sabath)) {
    WARN("skipped: 'nobody' cannot execute the program here");
    return;
  }
  open_up(sabath.folder());
  fs::create_directories(sabath.home());
  fs::permissions(sabath.home(), fs::perms(0555));
  const auto folder = sabath.shell_recipe("tiny", "true");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", folder}, {"fetch", "file:///etc/hostname"}, {"list"}}) {
    INFO(arguments.front());
    const Answer answer = ordinarily(sabath, arguments);
    CHECK(answer.status == 16);
    CHECK_THAT(answer.errors, Contains(sabath.home().string()));
    CHECK(answer.output.empty());
  }
  CHECK(fs::is_empty(sabath.home()));
  CHECK(ordinarily(sabath, {"run", folder, "--dry-run"}).status == 0);
  fs::permissions(sabath.home(), fs::perms(0755));
}

TEST_CASE("cli: what a tree in the cache has and cannot be read is fetched") {
  Sabath sabath;
  if (is_root() && !nobody_can_run(sabath)) {
    WARN("skipped: 'nobody' cannot execute the program here");
    return;
  }
  open_up(sabath.folder());
  fs::create_directories(sabath.home());
  fs::permissions(sabath.home(), fs::perms(0777));
  const std::string digest = sabath::base::sha256_of("content").hex;
  const std::string folder = "file://" + sabath.folder().string();
  write_text(sabath.folder() / "x", "content");
  write_text(sabath.folder() / "list", digest + "  x\n");
  sabath.asset(
      "listed",
      R"({"schema": 1, "kind": "dataset", "name": "listed", "list": ")" + folder + R"(/list"})");
  const Answer listed = ordinarily(sabath, {"--json", "fetch", "listed"});
  INFO(listed.errors);
  REQUIRE(listed.status == 0);
  const fs::path tree = json::parse(last_line(listed.output))["fetched"][0]["path"];
  SECTION("from its source") {
    fs::permissions(tree / "x", fs::perms::none);
    const Answer alone = ordinarily(sabath, {"fetch", folder + "/x", "--sha256", digest});
    INFO(alone.errors);
    CHECK(alone.status == 0);
    CHECK_THAT(alone.output, Contains("from " + folder + "/x"));
  }
  SECTION("and taken from there where it can be read") {
    fs::remove(sabath.folder() / "x");
    CHECK(ordinarily(sabath, {"fetch", folder + "/x", "--sha256", digest}).status == 0);
  }
}

TEST_CASE("cli: a full disk fails the fetch, and nothing is kept") {
  Sabath sabath;
  const SmallDisk disk(sabath.home(), "2m");
  if (!disk.mounted()) {
    WARN("skipped: mounting a small tmpfs needs root");
    return;
  }
  const auto big = sabath.folder() / "big";
  write_text(big, std::string(4'000'000, 'x'));
  const Answer answer = sabath({"fetch", "file://" + big.string()});
  CHECK(answer.status == 16);
  CHECK_THAT(answer.errors, Contains("No space left") || Contains("no space"));
  const Answer verified = sabath({"verify"});
  CHECK(verified.status == 0);
  CHECK_THAT(verified.output, Contains("0 objects"));
  write_text(big, std::string(40'000, 'x'));
  CHECK(sabath({"fetch", "file://" + big.string()}).status == 0);
}

TEST_CASE("cli: on a full disk list and show answer with what there is") {
  Sabath sabath;
  const SmallDisk disk(sabath.home(), "3m");
  if (!disk.mounted()) {
    WARN("skipped: mounting a small tmpfs needs root");
    return;
  }
  const auto folder = sabath.shell_recipe("tiny", "true");
  REQUIRE(sabath({"run", folder}).status == 0);
  REQUIRE(sabath({"run", folder}).status == 0);
  CHECK_THROWS(write_text(sabath.home() / "filler", std::string(4'000'000, 'x')));
  // Nothing is in the catalog yet, or all of it is.
  const bool is_new = GENERATE(true, false);
  if (is_new) fs::remove_all(sabath.home() / "state/catalog.sqlite");
  const Answer list = sabath({"list"});
  CAPTURE(list.output + list.errors);
  CHECK(list.status == 0);
  CHECK_THAT(list.errors, !Contains("LOG ERROR"));
  if (!is_new) CHECK_THAT(list.output, Contains(id_of_newest(sabath)));
  CHECK(sabath({"show", id_of_newest(sabath)}).status == 0);
}

TEST_CASE("cli: a limit on the size of files is an error that names it") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("tiny", "true");
  const Answer answer = sabath.program(
      {"sh", "-c", "ulimit -f 1; exec \"$0\" \"$@\"", SABATH_PROGRAM, "run", folder});
  CAPTURE(answer.output + answer.errors);
  CHECK(answer.status == 16);
  CHECK_THAT(answer.errors, Contains("File too large") && Contains("ulimit -f"));
}

TEST_CASE("cli: a full disk fails the run, and the run is not lost") {
  Sabath sabath;
  const SmallDisk disk(sabath.home(), "3m");
  if (!disk.mounted()) {
    WARN("skipped: mounting a small tmpfs needs root");
    return;
  }
  const Answer answer = sabath({"run",
                                sabath.shell_recipe("filler",
                                                    "cat /dev/zero > {output}/big; sync; exit 1",
                                                    "{}",
                                                    R"({"outputs": ["big"]})")});
  INFO(answer.output + answer.errors);
  CHECK((answer.status == 1 || answer.status == 14 || answer.status == 16));
  CHECK(answer.leftovers == 0);
  REQUIRE(sabath.count_runs() == 1);
  fs::remove(sabath.run_directories().back() / "outputs/go/big");
  const Answer list = sabath({"--json", "list"});
  INFO(list.errors);
  REQUIRE(list.status == 0);
  const json runs = json::parse(list.output)["runs"];
  REQUIRE(runs.size() == 1);
  CHECK((runs[0]["state"] == "failed" || runs[0]["state"] == "lost"));
}

TEST_CASE("cli: when the disk fills up in the middle of a run its record is there, and says so") {
  Sabath sabath;
  const SmallDisk disk(sabath.home(), "8m");
  if (!disk.mounted()) {
    WARN("skipped: mounting a small tmpfs needs root");
    return;
  }
  // What the code itself does about it is its own affair: this one takes no notice.
  const auto folder =
      sabath.shell_recipe("filler",
                          std::string(one_metric) + "; cat /dev/zero > {output}/big; sync; true",
                          R"({"metrics": {"loss": {"unit": "1", "better": "lower"}}})",
                          R"({"outputs": ["big"]})");
  const Answer answer = sabath({"run", folder});
  INFO(answer.output + answer.errors);
  CHECK(answer.status != 0);
  CHECK_THAT(answer.output + answer.errors, Contains("No space left on device"));
  REQUIRE(sabath.count_runs() == 1);
  const json record = json::parse(sabath.newest());
  CHECK(record["state"] == "failed");
  CHECK_THAT(
      record["message"].get<std::string>(),
      Contains("series.h5: cannot write: No space left on device") &&
          Contains("(" + sabath.run_directories().back().string() + ": No space left on device)"));
  CHECK(json::parse(sabath.newest("status.json"))["state"] == "failed");
  fs::remove(sabath.run_directories().back() / "outputs/go/big");
  const Answer list = sabath({"--json", "list"});
  CHECK(json::parse(list.output)["runs"][0]["state"] == "failed");
}

TEST_CASE("cli: a disk too full to begin a run says so and does not run") {
  Sabath sabath;
  const SmallDisk disk(sabath.home(), "1m");
  if (!disk.mounted()) {
    WARN("skipped: mounting a small tmpfs needs root");
    return;
  }
  const auto marker = sabath.folder() / "ran";
  const auto folder = sabath.shell_recipe("tiny", "touch " + marker.string());
  // More than there is room for: it fails, and leaves the disk full.
  CHECK_THROWS(write_text(sabath.home() / "filler", std::string(2'000'000, 'x')));
  const Answer answer = sabath({"run", folder});
  INFO(answer.output);
  CHECK(answer.status == 16);
  CHECK_FALSE(fs::exists(marker));
}

TEST_CASE("cli: a run that cannot be announced leaves nothing behind") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("tiny", one_metric);
  fs::create_directories(sabath.runs());
  write_text(sabath.runs() / ".inbox", "not a folder");
  const Answer answer = sabath({"run", folder});
  INFO(answer.output + answer.errors);
  CHECK(answer.status == 16);
  CHECK_THAT(answer.errors, Contains(".inbox"));
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: a run directory that was deleted by hand is said to be gone") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("tiny", one_metric);
  REQUIRE(sabath({"run", folder, "--seed", "1", "--repeat", "2"}).status == 0);
  const std::string id = id_of_newest(sabath);
  fs::remove_all(sabath.runs() / id);

  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"show", id},
                                                    {"compare", "@last~1", id},
                                                    {"compare", id, "@last~1"},
                                                    {"verify", id}}) {
    INFO(arguments.front());
    const Answer answer = sabath(arguments);
    CHECK(answer.status == 10);
    CHECK_THAT(answer.errors, Contains(id));
  }
  CHECK(sabath({"list"}).status == 0);
  CHECK(sabath({"run", folder, "--seed", "1"}).status == 0);
  CHECK_THAT(sabath({"catalog", "reindex"}).output, Contains("2 runs indexed"));
  CHECK(json::parse(sabath({"--json", "list"}).output)["runs"].size() == 2);
  CHECK(sabath({"show", id}).status == 10);
}

TEST_CASE("cli: a torn record is named, and spoils no other run") {
  Sabath sabath;
  REQUIRE(sabath({"run", sabath.shell_recipe("tiny", one_metric), "--repeat", "2"}).status == 0);
  const auto torn = sabath.run_directories().back() / "record.json";
  fs::permissions(torn, fs::perms(0644));
  write_text(torn, "{\"schema\": 1, \"run");
  const Answer reindexed = sabath({"catalog", "reindex"});
  CHECK(reindexed.status == 1);
  CHECK_THAT(reindexed.output, Contains("1 run indexed, 1 could not be read"));
  CHECK_THAT(reindexed.errors, Contains(torn.string()));
  CHECK(sabath({"list"}).status == 0);
}

TEST_CASE("cli: an output that was changed after the run is found by verify") {
  Sabath sabath;
  const auto folder =
      sabath.shell_recipe("maker", "echo 1 > {output}/x", "{}", R"({"outputs": ["x"]})");
  REQUIRE(sabath({"run", folder, "--seed", "1", "--repeat", "2"}).status == 0);
  REQUIRE(sabath({"compare", "@last~1", "@last"}).status == 0);
  const auto output = sabath.run_directories().back() / "outputs/go/x";
  fs::permissions(output, fs::perms(0644));
  write_text(output, "2\n");
  const std::string id = id_of_newest(sabath);
  const Answer verified = sabath({"verify", id});
  CHECK(verified.status == 1);
  CHECK_THAT(verified.output, Contains("go/x") && Contains("changed after the run"));
}

TEST_CASE("cli: doctor finds runs that an older catalog lacks, and reindex brings them back") {
  const Sabath sabath;
  const auto folder = sabath.shell_recipe("tiny", one_metric);
  REQUIRE(sabath({"run", folder, "--seed", "1"}).status == 0);
  CHECK(sabath({"doctor"}).status == 0);
  const fs::path file = sabath.home() / "catalog.db";
  const std::string older = text_of(file);
  REQUIRE(sabath({"run", folder, "--seed", "2"}).status == 0);
  fs::remove_all(sabath.run_directories().front());
  for (const char* name : {"catalog.db", "catalog.db-wal", "catalog.db-shm"})
    fs::remove(sabath.home() / name);
  write_text(file, older);
  const Answer doctor = sabath({"doctor"});
  CHECK(doctor.status == 1);
  CHECK_THAT(doctor.output,
             Contains("1 run folder not in it, 1 run in it without a folder") &&
                 Contains("sabath catalog reindex"));
  REQUIRE(sabath({"catalog", "reindex"}).status == 0);
  CHECK(sabath({"doctor"}).status == 0);
}

TEST_CASE("cli: a catalog of a newer version is left alone, runs are recorded nevertheless") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("tiny", one_metric);
  REQUIRE(sabath({"run", folder}).status == 0);
  set_catalog_version(sabath.home() / "catalog.db", 99);
  const Answer list = sabath({"list"});
  CHECK(list.status == 15);
  CHECK_THAT(list.errors, Contains("is of version 99") && Contains("versions up to 9"));
  CHECK(list.output.empty());

  const Answer run = sabath({"run", folder});
  CHECK(run.status == 0);
  CHECK_THAT(run.errors, Contains("is of version 99"));
  CHECK(json::parse(sabath.newest())["state"] == "ok");

  set_catalog_version(sabath.home() / "catalog.db", 9);
  CHECK(json::parse(sabath({"--json", "list"}).output)["runs"].size() == 2);
}

TEST_CASE("cli: a catalog that is gone or damaged comes back by itself, whoever wants it next") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("tiny", one_metric);
  REQUIRE(sabath({"run", folder}).status == 0);
  const auto file = sabath.home() / "catalog.db";
  const std::string how = GENERATE("gone", "no database", "cut off");
  if (how == "gone") fs::remove(file);
  if (how == "no database") write_text(file, std::string(8192, 'x'));
  if (how == "cut off") fs::resize_file(file, fs::file_size(file) / 2);
  const bool by_run = GENERATE(true, false);
  const Answer next =
      sabath(by_run ? std::vector<std::string>{"run", folder} : std::vector<std::string>{"list"});
  INFO(how << ": " << next.errors);
  CHECK(next.status == 0);
  CHECK((next.errors.find("set aside as catalog.db.damaged") != std::string::npos) ==
        (how != "gone"));
  const Answer list = sabath({"--json", "list"});
  CHECK(list.errors.empty());
  CHECK(json::parse(list.output)["runs"].size() == (by_run ? 2 : 1));
}

TEST_CASE("cli: reindex makes a catalog with other tables or a negative version again") {
  Sabath sabath;
  REQUIRE(sabath({"run", sabath.shell_recipe("tiny", one_metric)}).status == 0);
  const auto file = sabath.home() / "catalog.db";
  const std::string sql = GENERATE("drop table run_tag", "pragma user_version = -1");
  CAPTURE(sql);
  change_catalog(file, sql);
  const Answer reindexed = sabath({"catalog", "reindex"});
  INFO(reindexed.errors);
  CHECK(reindexed.status == 0);
  CHECK_THAT(reindexed.output, Contains("1 run indexed"));
  CHECK_THAT(reindexed.errors, Contains("set aside as catalog.db.damaged"));
  CHECK(json::parse(sabath({"--json", "list"}).output)["runs"].size() == 1);
}

TEST_CASE("cli: a negative version of the catalog ends no command by a signal") {
  Sabath sabath;
  REQUIRE(sabath({"list"}).status == 0);
  set_catalog_version(sabath.home() / "catalog.db", -1);
  const Answer list = sabath({"list"});
  CHECK(list.status == 0);
  CHECK_THAT(list.errors, Contains("set aside as catalog.db.damaged"));
}

TEST_CASE("cli: when the clock jumps durations are those of the steady one, and ids differ") {
  Sabath sabath;
  // A sanitizer wants to be the first library; this shim disturbs none.
  sabath.environment()["ASAN_OPTIONS"] = "verify_asan_link_order=0";
  sabath.environment()["LD_PRELOAD"] = SABATH_TEST_PROGRAMS "/clock_shim.so";
  const auto folder = sabath.shell_recipe("tiny", std::string("sleep 0.2; ") + one_metric);
  const Answer study = sabath({"--json", "run", folder, "--repeat", "4"});
  INFO(study.errors);
  CHECK(study.status == 0);
  REQUIRE(sabath.count_runs() == 4);
  std::set<std::string> days;
  for (const fs::path& directory : sabath.run_directories()) {
    const json record = json::parse(text_of(directory / "record.json"));
    CHECK(record["state"] == "ok");
    CHECK(record["run_id"] == directory.filename().string());
    days.insert(record["created"].get<std::string>().substr(0, 10));
    for (const json& seconds : {record["wall_s"], record["stages"][0]["wall_s"]}) {
      CHECK(seconds.get<double>() >= 0.2);
      CHECK(seconds.get<double>() < 3000);
    }
    const json values = record.flatten();
    for (const auto& [key, value] : values.items()) {
      INFO(key);
      CHECK((!value.is_number() || value.get<double>() >= 0));
    }
  }
  CHECK(days.size() > 1);  // it did jump
  CHECK(json::parse(sabath({"--json", "list"}).output)["runs"].size() == 4);
}

TEST_CASE("cli: a missing compiler is an error of the environment that names it, no run is made") {
  Sabath sabath;
  const auto folder = sabath.recipe("built", R"({"schema": 1, "name": "built",
    "environment": {"layers": [{"kind": "source", "path": "{recipe}/code", "build": "make", "languages": ["c"]}]},
    "stages": [{"name": "go", "run": ["{env}/bin/hello"]}]})");
  fs::create_directories(fs::path(folder) / "code");
  write_text(fs::path(folder) / "code/Makefile", "all install:\n\ttrue\n");
  SECTION("nothing on PATH") {
    sabath.environment()["PATH"] = (sabath.folder() / "empty").string();
    const Answer answer = sabath({"run", folder});
    CHECK(answer.status == 13);
    CHECK_THAT(answer.errors, Contains("'cc'") || Contains("cc:") || Contains("compiler"));
  }
  SECTION("CC that is not there") {
    sabath.environment()["CC"] = "no-such-compiler";
    const Answer answer = sabath({"run", folder});
    CHECK(answer.status == 13);
    CHECK_THAT(answer.errors, Contains("no-such-compiler"));
  }
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE(
    "cli: a build that fails shows the end of its log and where the rest is, no run is made") {
  Sabath sabath;
  const auto folder = sabath.recipe("broken", R"({"schema": 1, "name": "broken",
    "environment": {"layers": [{"kind": "source", "path": "{recipe}/code", "build": "make", "languages": ["c"]}]},
    "stages": [{"name": "go", "run": ["{env}/bin/hello"]}]})");
  fs::create_directories(fs::path(folder) / "code");
  write_text(
      fs::path(folder) / "code/Makefile",
      "all install:\n\t@echo first words\n\t@echo the flux capacitor is missing >&2; exit 7\n");
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 13);
  CHECK_THAT(answer.errors, Contains("the flux capacitor is missing"));
  const std::string before = "hint: the whole log is ";
  const auto at = answer.errors.find(before);
  REQUIRE(at != std::string::npos);
  std::string log = answer.errors.substr(at + before.size());
  log.erase(log.find_first_of(";\n"));
  CHECK_THAT(text_of(log), Contains("first words"));
  CHECK(sabath.count_runs() == 0);
  CHECK_THAT(sabath({"list", "envs"}).output, !Contains("ready"));
}

TEST_CASE("cli: a program that the host layer asks for and that is missing is named") {
  Sabath sabath;
  const Answer answer = sabath({"run", sabath.recipe("host", R"({"schema": 1, "name": "host",
    "environment": {"layers": [{"kind": "host", "commands": ["no-such-program-xyz"]}]},
    "stages": [{"name": "go", "run": ["true"]}]})")});
  CHECK(answer.status == 13);
  CHECK_THAT(answer.errors, Contains("no-such-program-xyz"));
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: an environment that somebody else can write is not used") {
  Sabath sabath;
  const auto folder = sabath.recipe("built", R"({"schema": 1, "name": "built",
    "environment": {"layers": [{"kind": "source", "path": "{recipe}/code", "build": "make", "languages": ["c"]}]},
    "stages": [{"name": "go", "run": ["{env}/bin/hello"]}]})");
  fs::create_directories(fs::path(folder) / "code");
  write_text(
      fs::path(folder) / "code/Makefile",
      "all:\ninstall:\n\tmkdir -p $(PREFIX)/bin\n\tprintf '#!/bin/sh\\n' > $(PREFIX)/bin/hello\n"
      "\tchmod 755 $(PREFIX)/bin/hello\n");
  const Answer first = sabath({"run", folder});
  INFO(first.output + first.errors);
  REQUIRE(first.status == 0);
  const json environments = json::parse(sabath({"--json", "list", "envs"}).output)["environments"];
  const fs::path prefix = environments[0]["prefix"].get<std::string>();
  const std::string part = GENERATE("", "bin", "bin/hello", "..");
  const fs::path spoiled = (prefix / part).lexically_normal();
  INFO(spoiled.string());
  fs::permissions(spoiled, fs::perms::others_write, fs::perm_options::add);
  const Answer answer = sabath({"run", folder});
  CHECK(answer.status == 13);
  CHECK_THAT(answer.errors, Contains("envs/source"));
  CHECK(sabath.count_runs() == 1);
}

TEST_CASE("trouble: a home in which others can exchange folders gets no runs") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe("tiny", "true");
  fs::create_directories(sabath.runs());
  const bool is_home = GENERATE(true, false);
  const fs::path open = is_home ? sabath.home() : sabath.runs();
  fs::permissions(open, fs::perms(0777));
  const Answer refused = sabath({"run", recipe});
  CHECK(refused.status == 16);
  CHECK_THAT(refused.errors,
             Contains(open.string() + ": others can exchange what is in it") &&
                 Contains("chmod go-w " + open.string()));
  CHECK(sabath.count_runs() == 0);
  fs::permissions(open, fs::perms(01777));
  CHECK(sabath({"run", recipe}).status == 0);
}

TEST_CASE("cli: logs refuse a link in the place of a log") {
  Sabath sabath;
  REQUIRE(sabath({"run", sabath.shell_recipe("tiny", "echo printed")}).status == 0);
  write_text(sabath.folder() / "private", "a private text");
  fs::path log;
  for (const auto& entry : fs::recursive_directory_iterator(sabath.run_directories().back())) {
    if (entry.path().filename() == "stdout.log") log = entry.path();
  }
  REQUIRE(text_of(log) == "printed\n");
  fs::remove(log);
  fs::create_symlink(sabath.folder() / "private", log);
  const Answer answer = sabath({"logs", "@last"});
  CHECK(answer.status == 16);
  CHECK_THAT(answer.errors, Contains(log.string()));
  CHECK_THAT(answer.output, !Contains("private text"));
}

TEST_CASE("cli: a run that leaves no file free has its record") {
  Sabath sabath;
  const SmallDisk disk(sabath.home(), "8m,nr_inodes=60");
  if (!disk.mounted()) {
    WARN("skipped: mounting a small tmpfs needs root");
    return;
  }
  const Answer answer = sabath(
      {"run",
       sabath.shell_recipe("filler",
                           "i=0; while touch {output}/$i 2>/dev/null; do i=$((i+1)); done; true")});
  INFO(answer.output + answer.errors);
  CHECK(answer.status != 14);
  REQUIRE(sabath.count_runs() == 1);
  const fs::path run = sabath.run_directories().back();
  CHECK(json::parse(text_of(run / "record.json"))["run_id"] == run.filename().string());
  CHECK_THAT(text_of(run / "exec.log"), Contains("No space left on device"));
  CHECK_THAT(answer.output + answer.errors, !Contains("LOG ERROR"));
  fs::remove_all(run / "outputs");
  CHECK_THAT(sabath({"list"}).output, Contains(run.filename().string()));
}

TEST_CASE("cli: a log that leads elsewhere, or is a pipe, is neither written nor waited for") {
  const Sabath sabath;
  const fs::path state = sabath.home() / "state";
  fs::create_directories(state);
  const fs::path log = state / "sabath.log";
  const fs::path elsewhere = sabath.folder() / "elsewhere";
  write_text(elsewhere, "mine\n");
  fs::create_symlink(elsewhere, log);
  CHECK(sabath({"list", "runs"}).status == 0);
  CHECK(text_of(elsewhere) == "mine\n");
  fs::remove(log);
  REQUIRE(::mkfifo(log.c_str(), 0600) == 0);
  CHECK(sabath({"list", "runs"}).status == 0);
  fs::remove(log);
  fs::permissions(state, fs::perms::others_write, fs::perm_options::add);
  CHECK(sabath({"list", "runs"}).status == 0);
  CHECK_FALSE(fs::exists(log));
  fs::permissions(state, fs::perms::others_write, fs::perm_options::remove);
  CHECK(sabath({"list", "runs"}).status == 0);
  CHECK(fs::exists(log));
}
