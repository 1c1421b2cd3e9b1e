// What a run took from its surroundings without anybody saying so: variables of the session, and
// files that its code opened by itself.
#include "support/answers.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

using namespace sabath;
using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string keys = R"({"metrics": {"loss": {"unit": "1", "better": "lower"}}})";

std::string tell(const std::string& loss) {
  return R"(echo "{{\"step\": 1, \"loss\": )" + loss + R"(}}" >> $SABATH_METRICS)";
}

json facet_of(const std::string& record, const std::string& name) {
  const json document = json::parse(record);
  for (const json& facet : document["facets"]) {
    if (facet["name"] == name) return facet["items"];
  }
  return nullptr;
}

void tagged(const Sabath& sabath, const std::string& folder, const std::string& tag) {
  done(sabath, {"run", folder, "--seed", "1", "--tag", tag});
}

std::string compared(const Sabath& sabath) {
  return sabath({"compare", "tag=a", "tag=b"}).output;
}

/// A short stage of Python that multiplies by what stands in a file of its own choice.
std::string reader(const Sabath& sabath, const fs::path& file) {
  const std::string folder = sabath.recipe("reads", R"({"schema": 1, "name": "reads",
    "environment": {"layers": []},
    "stages": [{"name": "go", "run": ["python3", "{code}/train.py"]}],
    "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  fs::create_directories(fs::path(folder) / "code");
  write_text(fs::path(folder) / "code/train.py",
             "import json, os\n"
             "factor = float(open('" +
                 file.string() +
                 "').read())\n"
                 "with open(os.environ['SABATH_METRICS'], 'a') as out:\n"
                 "    print(json.dumps({'step': 1, 'loss': 1.5 * factor}), file=out)\n");
  return folder;
}

}  // namespace

TEST_CASE("cli: a variable of the user's own that changes the result is named by compare") {
  Sabath sabath;
  const std::string folder = sabath.shell_recipe("factor", tell("$((${{MYFACTOR:-1}} % 7))"), keys);
  tagged(sabath, folder, "a");
  CHECK_FALSE(facet_of(sabath.newest(), "session").contains("MYFACTOR"));
  sabath.environment()["MYFACTOR"] = "27182818284591";
  tagged(sabath, folder, "b");
  const std::string value = facet_of(sabath.newest(), "session")["MYFACTOR"];
  CHECK(value.size() == 64);
  CHECK(value.find("27182818284591") == std::string::npos);
  CHECK(facet_of(sabath.newest(), "session").contains("PATH"));
  CHECK_THAT(compared(sabath),
             Contains("session: MYFACTOR") && Contains("(absent)") &&
                 Contains("MYFACTOR differs between the sessions") &&
                 !Contains("nothing that is") && !Contains("a race") &&
                 !Contains("27182818284591"));
  struct stat status {};
  REQUIRE(::stat((sabath.home() / "state" / "session-key").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);

  // The same value again is no difference.
  tagged(sabath, folder, "c");
  CHECK_THAT(sabath({"compare", "tag=b", "tag=c"}).output, Contains("repeat: nothing differs"));
}

TEST_CASE("cli: what changes with each login is no difference, and secrets are only digests") {
  Sabath sabath;
  const std::string folder = sabath.shell_recipe("plain", tell("1.5"), keys);
  sabath.environment()["MY_API_TOKEN"] = "tok-5f4dcc3b5aa765d61d8327deb882cf99";
  const auto log_in = [&](const std::string& number) {
    for (const char* name : {"SSH_CONNECTION",
                             "XDG_SESSION_ID",
                             "DISPLAY",
                             "TERM",
                             "SHLVL",
                             "OLDPWD",
                             "TMUX_PANE",
                             "SLURM_JOB_ID"})
      sabath.environment()[name] = number;
  };
  log_in("1");
  tagged(sabath, folder, "a");
  log_in("2");
  tagged(sabath, folder, "b");
  const json session = facet_of(sabath.newest(), "session");
  CHECK(session.contains("SSH_CONNECTION"));
  CHECK(session["MY_API_TOKEN"].get<std::string>().size() == 64);
  CHECK_THAT(sabath.newest(), !Contains("5f4dcc3b"));
  CHECK_THAT(compared(sabath), Contains("repeat: nothing differs"));
}

TEST_CASE("cli: variables of a stage, of a layer and of sabath itself are not the session's") {
  Sabath sabath;
  sabath.environment()["OWN"] = "1";
  sabath.environment()["SABATH_ANY"] = "1";
  const std::string folder =
      sabath.shell_recipe("own", tell("1.5"), keys, R"({"variables": {"OWN": "2"}})");
  tagged(sabath, folder, "a");
  const json session = facet_of(sabath.newest(), "session");
  CHECK_FALSE(session.contains("OWN"));
  for (const auto& [name, digest] : session.items())
    CHECK_FALSE(name.starts_with("SABATH_"));
}

TEST_CASE("cli: digests of another home are unknown, not different") {
  Sabath sabath;
  const std::string folder = sabath.shell_recipe("moved", tell("1.${{MYFACTOR:-1}}"), keys);
  tagged(sabath, folder, "a");
  fs::remove(sabath.home() / "state" / "session-key");  // as it is in any other home
  sabath.environment()["MYFACTOR"] = "2";
  tagged(sabath, folder, "b");
  CHECK_THAT(compared(sabath),
             Contains("repeat: nothing differs") &&
                 Contains("not looked at: variables of the session "
                          "(unknown: digests of two homes") &&
                 !Contains("session: MYFACTOR"));
}

TEST_CASE("cli: runs are grouped by a variable of the session only where its values are known") {
  Sabath sabath;
  const std::string folder = sabath.shell_recipe("groups", tell("1.${{MYFACTOR:-1}}"), keys);
  const auto run_with = [&](const std::string& value) {
    sabath.environment().erase("MYFACTOR");
    if (!value.empty()) sabath.environment()["MYFACTOR"] = value;
    done(sabath, {"run", folder});
  };
  run_with("");
  run_with("");
  run_with("27182818284591");
  run_with("27182818284591");
  const std::vector<std::string> by{"recipe=groups", "--by", "session.MYFACTOR"};
  const auto groups = [&] {
    std::vector<std::string> words{"compare"};
    words.insert(words.end(), by.begin(), by.end());
    return answered(sabath, words);
  };
  const auto report = [&] {
    const std::string file = (sabath.folder() / "report.json").string();
    std::vector<std::string> words{"report", "-o", file};
    words.insert(words.end(), by.begin(), by.end());
    done(sabath, words);
    return json::parse(text_of(file));
  };
  const json known = groups();
  INFO(known.dump(1));
  REQUIRE(known["groups"].size() == 2);
  CHECK(known["groups"][0]["levels"][0] == "not set");
  CHECK_THAT(known["groups"][1]["levels"][0].get<std::string>(), Contains("set (digest "));
  CHECK(known["groups"][1]["runs"] == 2);

  // The same value, and another one, in another home.
  fs::remove(sabath.home() / "state" / "session-key");
  run_with("27182818284591");
  run_with("3");
  const json of_two = groups();
  INFO(of_two.dump(1));
  CHECK(of_two["groups"].size() == 1);
  CHECK(of_two["groups"][0]["levels"][0] == "not set");
  CHECK_THAT(of_two["left_out"].dump(),
             Contains("session.MYFACTOR is unknown (digests of several homes cannot be compared)"));
  const json told = report();
  std::size_t unknown = 0;
  for (const json& run : told["runs"])
    unknown += run.dump().find("\"unknown\"") != std::string::npos ? 1 : 0;
  CHECK(unknown == 4);

  // A run that was not recorded with its session, as imported ones.
  for (const fs::path& run : sabath.run_directories()) {
    json record = json::parse(text_of(run / "record.json"));
    json facets = json::array();
    for (const json& facet : record["facets"]) {
      if (facet["name"] != "session" || run == sabath.run_directories().back())
        facets.push_back(facet);
    }
    record["facets"] = facets;
    base::write_file_atomically(run / "record.json", record.dump(2));
  }
  done(sabath, {"catalog", "reindex"});
  const json unrecorded = groups();
  INFO(unrecorded.dump(1));
  CHECK(unrecorded["groups"].size() == 1);
  CHECK_THAT(unrecorded["left_out"].dump(), Contains("session.MYFACTOR is unknown (not recorded)"));
}

TEST_CASE("cli: an earlier record without the two facets is not told to differ") {
  Sabath sabath;
  const std::string folder = sabath.shell_recipe("before", tell("1.${{MYFACTOR:-1}}"), keys);
  tagged(sabath, folder, "a");
  json record = json::parse(sabath.newest());
  json facets = json::array();
  for (const json& facet : record["facets"]) {
    if (facet["name"] != "session" && facet["name"] != "opened") facets.push_back(facet);
  }
  record["facets"] = facets;
  base::write_file_atomically(sabath.run_directories().back() / "record.json", record.dump(2));
  sabath.environment()["MYFACTOR"] = "2";
  tagged(sabath, folder, "b");
  CHECK_THAT(
      compared(sabath),
      Contains("repeat: nothing differs") && Contains("(not recorded by A)") && Contains("a race"));
}

TEST_CASE("cli: a file that the code opens by an absolute path is named, with what changed in it") {
  if (!is_root()) {
    WARN("SKIPPED: the kernel reports opened files to root only");
    return;
  }
  const Sabath sabath;
  const fs::path file = sabath.folder() / "data" / "factor.txt";
  fs::create_directories(file.parent_path());
  write_text(file, "1.0\n");
  const std::string folder = reader(sabath, file);
  tagged(sabath, folder, "a");
  const json opened = facet_of(sabath.newest(), "opened");
  INFO(opened.dump(1));
  CHECK(opened["method"] == "fanotify");
  CHECK(opened[file.string()] == "4 bytes, " + base::digest_file(file).text());
  write_text(file, "2.0\n");
  tagged(sabath, folder, "b");
  CHECK_THAT(compared(sabath),
             Contains("opened: " + file.string()) && Contains("which is the likely cause") &&
                 !Contains("a race"));
  CHECK_THAT(sabath({"show", "@last", "--libraries"}).output, Contains(file.string()));

  SECTION("what a run has written itself is not listed") {
    const fs::path log = sabath.folder() / "data" / "log.txt";
    const std::string writer = sabath.shell_recipe(
        "writes", "echo x >> " + log.string() + "; cat " + log.string() + "; " + tell("1.5"), keys);
    tagged(sabath, writer, "w");
    CHECK_FALSE(facet_of(sabath.newest(), "opened").contains(log.string()));
  }
}

TEST_CASE("cli: without root a file that is open for long is found by looking") {
  if (!is_root()) return;
  const Sabath sabath;
  const fs::path file = sabath.folder() / "data" / "factor.txt";
  fs::create_directories(file.parent_path());
  write_text(file, "1.0\n");
  const std::string folder =
      sabath.shell_recipe("holds", "exec 3<" + file.string() + "; sleep 0.5; " + tell("1.5"), keys);
  fs::create_directories(sabath.home());
  REQUIRE(sabath.program({"chown", "-R", "65534:65534", sabath.folder().string()}).status == 0);
  const Answer answer = sabath.as_nobody({"run", folder, "--seed", "1"});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  const json opened = facet_of(sabath.newest(), "opened");
  INFO(opened.dump(1));
  CHECK(opened["method"] == "sampling");
  CHECK(opened[file.string()] == "4 bytes, " + base::digest_file(file).text());
}
