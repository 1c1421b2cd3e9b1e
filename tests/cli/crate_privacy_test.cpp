// What leaves the house with a run: secrets are refused, and what is private is named.
#include "two_users.hpp"

#include <sabath/base/archive/zip_reader.hpp>

#include <set>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace base = sabath::base;
namespace fs = std::filesystem;

namespace {

void put(const fs::path& file, const std::string& text) {
  base::make_directories(file.parent_path());
  write_text(file, text);
}

std::set<std::string> members_of(const fs::path& crate) {
  std::set<std::string> names;
  base::ZipReader zip(crate);
  while (const auto member = zip.next())
    names.insert(member->path);
  return names;
}

const std::string token = "ghp_" + std::string(36, 'a');

}  // namespace

TEST_CASE("cli: a secret is found in every text of a run, whatever it is called") {
  const TwoUsers users;
  const fs::path run = users.author.runs() / users.run;
  const auto refused = [&](const std::string& place) {
    const Answer answer = users.author({"export", users.run, "-o", users.crate, "--with-code"});
    CAPTURE(answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains(place));
    CHECK_FALSE(fs::exists(users.crate));
  };
  put(run / "outputs/go/a.txt", "x3\n" + token + "\n");
  refused("run/outputs/go/a.txt:2");
  put(run / "outputs/go/a.txt", "x3\n");
  put(run / "Makefile", "all:\n\techo " + token + "\n");
  refused("run/Makefile:2");
  // A text of several pieces, in whose last one it stands.
  std::string many;
  while (many.size() < (9U << 20U))
    many += "a line of words that say nothing\n";
  const auto lines = std::count(many.begin(), many.end(), '\n');
  put(run / "Makefile", many + token);
  refused("run/Makefile:" + std::to_string(lines + 1));
  // One line without an end: it is read in halves that overlap.
  std::string line(4U << 20U, ' ');
  line.replace(line.size() - 20, 20, " " + token.substr(0, 19));
  put(run / "Makefile", line + token.substr(19) + std::string(1U << 20U, ' '));
  refused("run/Makefile:1");
}

TEST_CASE("cli: files that are not text are not searched for secrets, and named") {
  const TwoUsers users;
  const fs::path run = users.author.runs() / users.run;
  put(run / "table.bin", std::string("a\0b", 3) + token);
  const Answer answer = done(users.author, {"export", users.run, "-o", users.crate, "--with-code"});
  CHECK_THAT(answer.output, Contains("not scanned for secrets") && Contains("run/table.bin"));
  CHECK_FALSE(members_of(users.crate).contains("run/code.tar.gz/recipe.json"));
  CHECK_THAT(answer.output, !Contains("run/record.json"));
}

TEST_CASE("cli: users, hosts and paths of all documents are named, and how many more there are") {
  const TwoUsers users;
  const fs::path run = users.author.runs() / users.run;
  std::string text = "see /scratch/project-7/data, not </b/c>; 1/2 of https://example.org/a/b\n";
  for (int i = 10; i < 30; ++i)
    text += "/gpfs/p" + std::to_string(i) + "/x\n";
  put(run / "README", text);
  const Answer answer = done(users.author, {"export", users.run, "-o", users.crate, "--with-code"});
  CHECK_THAT(answer.output, Contains("/gpfs/p10") && Contains(" more"));
  const json all =
      json::parse(done(users.author,
                       {"export", users.run, "-o", users.crate, "--with-code", "--force", "--json"})
                      .output);
  const std::set<std::string> paths(all["paths"].begin(), all["paths"].end());
  CHECK(paths.contains("/gpfs/p29"));
  CHECK(paths.contains("/scratch/project-7"));
  CHECK_FALSE(paths.contains("/a/b"));
  CHECK_FALSE(paths.contains("/bin/sh"));
  CHECK(all["users"].size() == 1);
  CHECK(all["hosts"].size() == 1);
}

TEST_CASE("cli: no output is in a crate that shall have none, also not an empty one") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe("empty",
                                                 ": > {output}/nothing; echo 1 > {output}/one",
                                                 R"({"x-license": "MIT"})",
                                                 R"({"outputs": ["nothing", "one"]})");
  done(sabath, {"run", recipe, "--seed", "1"});
  const std::string crate = sabath.folder() / "e.zip";
  const Answer none =
      done(sabath, {"export", "@last", "-o", crate, "--with-code", "--outputs", "none"});
  CHECK_THAT(none.output, Contains("left out go/nothing, go/one"));
  for (const std::string& member : members_of(crate))
    CHECK_FALSE(member.starts_with("run/outputs/"));
  done(sabath, {"export", "@last", "-o", crate, "--with-code", "--outputs", "0", "--force"});
  CHECK(members_of(crate).contains("run/outputs/go/nothing"));
  CHECK_FALSE(members_of(crate).contains("run/outputs/go/one"));
  const Answer huge = sabath(
      {"export", "@last", "-o", crate, "--with-code", "--force", "--outputs", "99999999999999TiB"});
  CHECK(huge.status == 2);
  CHECK_THAT(huge.errors, Contains("is not all, none or a size"));
}

TEST_CASE("cli: digests of a session's variables are no secrets") {
  Sabath sabath;
  sabath.environment()["HF_TOKEN"] = "s3cr3tTok9abcXYZ";
  const std::string recipe = sabath.shell_recipe(
      "drawn", "echo 1 > {output}/one", R"({"x-license": "MIT"})", R"({"outputs": ["one"]})");
  done(sabath, {"run", recipe, "--seed", "1"});
  const std::string crate = sabath.folder() / "e.zip";
  done(sabath, {"export", "@last", "-o", crate, "--with-code"});
  put(sabath.run_directories().back() / "note.txt", "HF_TOKEN=s3cr3tTok9abcXYZ\n");
  CHECK(sabath({"export", "@last", "-o", crate, "--with-code", "--force"}).status == 2);
}

TEST_CASE("cli: an anonymous crate names no folder of files that the run opened") {
  Sabath sabath;
  const fs::path data = sabath.folder() / "own/data.txt";
  put(data, "7\n");
  const std::string recipe = sabath.shell_recipe(
      "reader", "echo 1 > {output}/one", R"({"x-license": "MIT"})", R"({"outputs": ["one"]})");
  done(sabath, {"run", recipe, "--seed", "1"});
  const fs::path run = sabath.run_directories().back();
  json record = json::parse(text_of(run / "record.json"));
  for (json& facet : record["facets"])
    if (facet["name"] == "opened") facet["items"][data.string()] = "2 bytes";
  write_text(run / "record.json", record.dump());
  const std::string crate = sabath.folder() / "e.zip";
  done(sabath, {"export", "@last", "-o", crate, "--anonymous", "--without-code"});
  base::ZipReader zip(crate);
  while (const auto member = zip.next()) {
    std::string text;
    for (auto bytes = zip.read(); !bytes.empty(); bytes = zip.read())
      text += base::as_text(bytes);
    INFO(member->path);
    if (member->path == "run/record.json") CHECK_THAT(text, Contains("/anonymous/"));
    CHECK(text.find(sabath.folder().string() + "/own") == std::string::npos);
  }
}

TEST_CASE("cli: an output that was changed after its run is in no crate") {
  const TwoUsers users;
  const fs::path output = users.author.runs() / users.run / "outputs/go/a.txt";
  users.write();
  users.change_and_list("members['run/outputs/go/a.txt'] = b'forged\\n'");
  for (const char* command : {"validate", "import"}) {
    const Answer refused = users.reader({command, users.crate});
    INFO(command << refused.output << refused.errors);
    CHECK(refused.status == 11);
    CHECK_THAT(refused.output + refused.errors, Contains("was changed after the run"));
  }
  CHECK(users.reader.count_runs() == 0);
  fs::remove(output);
  write_text(output, "forged\n");
  const Answer refused =
      users.author({"export", users.run, "-o", users.crate, "--with-code", "--force"});
  CHECK(refused.status == 11);
  CHECK_THAT(refused.errors, Contains("a.txt: was changed after the run"));
  done(users.author,
       {"export", users.run, "-o", users.crate, "--with-code", "--force", "--outputs", "none"});
  const Answer archived = done(users.author, {"archive", users.run});
  CHECK_THAT(archived.errors, Contains("was changed after the run; the changed file is archived"));
}
