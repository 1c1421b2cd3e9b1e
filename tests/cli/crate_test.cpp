// A run as one file: written, taken in elsewhere, and repeated there.
#include "two_users.hpp"

#include <sabath/base/archive/zip_writer.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <random>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace base = sabath::base;
namespace fs = std::filesystem;

TEST_CASE("cli: a run is exported, and repeated by somebody else") {
  const TwoUsers users;
  users.write();
  const std::string bytes = base::read_file(users.crate);
  done(users.author, {"export", users.run, "-o", users.crate, "--with-code", "--force"});
  CHECK(base::read_file(users.crate) == bytes);
  const Answer asks = users.reader({"repro", users.crate});
  CHECK(asks.status == 17);
  CHECK_THAT(asks.errors, Contains("--trust sha256:") && Contains("executes"));
  CHECK(users.reader({"repro", users.crate, "--trust", std::string(64, '0')}).status == 11);
  const Answer again = done(users.reader, {"repro", users.crate, "--trust", users.digest()});
  CHECK_THAT(again.output, Contains("PASS"));
  const Answer shown = done(users.reader, {"show", users.run});
  CHECK_THAT(shown.output, Contains("imported-crate") && Contains("as in the paper"));
  CHECK(done(users.reader, {"show", "@last", "--json"}).output.find(users.run + "\"") !=
        std::string::npos);  // what repeats it names it
  CHECK(json::parse(done(users.reader, {"show", "@last", "--json"}).output)["run_id"] != users.run);
}

TEST_CASE("cli: code of an imported run is executed only where it is trusted") {
  const TwoUsers users;
  users.write();
  const std::string digest = users.digest();
  CHECK(users.reader({"repro", users.run}).status == 17);
  const std::string own = users.reader.shell_recipe("own", "true");
  done(users.reader, {"run", own, "--seed", "1"});
  CHECK(users.reader({"explain", users.run, "@last"}).status == 17);
  done(users.reader, {"repro", users.run, "--trust", digest});
  done(users.reader, {"repro", users.run});  // it is remembered
  CHECK(users.reader.count_runs() == 4);
}

TEST_CASE("cli: what is shown of a crate is what would be executed") {
  const TwoUsers users;
  users.write();
  users.change(R"(import json, hashlib
record = json.loads(members['run/record.json'])
record['stages'][0]['argv'] = ['harmless']
members['run/record.json'] = json.dumps(record).encode()
lines = dict(line.split('  ', 1)[::-1] for line in members['manifest-sha256.txt'].decode().splitlines())
lines['run/record.json'] = hashlib.sha256(members['run/record.json']).hexdigest()
members['manifest-sha256.txt'] = ''.join(h + '  ' + n + chr(10) for n, h in lines.items()).encode())");
  const Answer asks = users.reader({"repro", users.crate});
  CHECK(asks.status == 17);
  CHECK_THAT(asks.errors, Contains("a.txt") && !Contains("harmless"));
}

TEST_CASE("cli: an imported run is there once, and an id with other content is refused") {
  const TwoUsers users;
  users.write();
  CHECK_THAT(done(users.reader, {"import", users.crate}).output, Contains("imported"));
  CHECK_THAT(done(users.reader, {"import", users.crate}).output, Contains("is there"));
  const fs::path record = users.reader.runs() / users.run / "record.json";
  json changed = json::parse(base::read_file(record));
  changed["message"] = "other";
  base::write_file_atomically(record, changed.dump());
  const Answer refused = users.reader({"import", users.crate});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, Contains("is there with other content"));
}

TEST_CASE("cli: damaged and hostile crates leave the home as it was") {
  const TwoUsers users;
  const std::map<std::string, std::pair<std::string, int>> attacks{
      {"a flipped byte",
       {"members['run/record.json'] = members['run/record.json'][:-2] + b' \\n'", 11}},
      {"a missing member", {"del members['run/plan.json']", 11}},
      {"a member twice", {"extra = [('run/plan.json', members['run/plan.json'])]", 11}},
      {"a member in another case",
       {"members['RUN/plan.json'] = b'x'; del members['README.md']", 11}},
      {"a way out", {"members['../evil'] = b'x'", 11}},
      {"an absolute path", {"members['/evil'] = b'x'", 11}},
      {"a link",
       {"i = zipfile.ZipInfo('run/link'); i.external_attr = 0o120777 << 16; i.create_system = 3; "
        "extra = [(i, b'/etc/passwd')]",
        11}},
      {"a tail", {"tail = b'x' * 70000", 11}},
      {"no manifest", {"del members['manifest-sha256.txt']", 2}},
      {"another tool",
       {"members = {'ro-crate-metadata.json': members['ro-crate-metadata.json']}", 2}},
      {"a bomb",
       {"members['zeros'] = b'0' * (600 << 20); import zlib; zipfile.ZIP_STORED = 8", 11}},
  };
  for (const auto& [what, attack] : attacks) {
    if (what == "a bomb") continue;  // too slow here; the limits have their own tests
    CAPTURE(what);
    done(users.author, {"export", users.run, "-o", users.crate, "--with-code", "--force"});
    users.change(attack.first);
    const Answer answer = users.reader({"import", users.crate});
    CAPTURE(answer.errors);
    CHECK(answer.status == attack.second);
    CHECK(users.reader.count_runs() == 0);
    CHECK_FALSE(fs::exists(users.reader.home() / "evil"));
  }
}

TEST_CASE("cli: a member that the manifest does not name is told and not used") {
  const TwoUsers users;
  users.write();
  users.change("members['run/extra.txt'] = b'x'");
  const Answer answer = done(users.reader, {"import", users.crate});
  CHECK_THAT(answer.errors, Contains("does not name 'run/extra.txt'"));
  CHECK_FALSE(fs::exists(users.reader.runs() / users.run / "extra.txt"));
}

TEST_CASE("cli: mutated crates are refused, or are the run") {
  const TwoUsers users;
  users.write();
  const std::string bytes = base::read_file(users.crate);
  done(users.reader, {"import", users.crate});
  const std::string record = base::read_file(users.reader.runs() / users.run / "record.json");
  std::mt19937 random(5);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  for (int round = 0; round < 40; ++round) {
    fs::remove_all(users.reader.runs() / users.run);
    std::string changed = bytes;
    for (int edit = 0; edit < 1 + round % 3; ++edit)
      changed[random() % changed.size()] = static_cast<char>(random());
    base::write_file_atomically(users.crate, changed);
    const Answer answer = users.reader({"import", users.crate});
    CAPTURE(round, answer.errors);
    CHECK((answer.status == 0 || answer.status == 2 || answer.status == 11));
    if (answer.status == 0)
      CHECK(base::read_file(users.reader.runs() / users.run / "record.json") == record);
  }
}

TEST_CASE(
    "cli: an export without a licence, with a secret, and with unknown code asks or refuses") {
  const Sabath sabath;
  const std::string recipe = sabath.shell_recipe("plain", "echo hello");
  done(sabath, {"run", recipe, "--seed", "1"});
  const std::string out = sabath.folder() / "p.zip";
  const Answer unlicensed = sabath({"export", "@last", "-o", out});
  CHECK(unlicensed.status == 2);
  CHECK_THAT(unlicensed.errors, Contains("--license"));
  const Answer unknown = sabath({"export", "@last", "-o", out, "--license", "MIT"});
  CHECK(unknown.status == 17);
  CHECK_THAT(unknown.errors, Contains("recipe.json") && Contains("--with-code"));
  CHECK_FALSE(fs::exists(out));
  base::write_file_atomically(
      sabath.run_directories().back() / "said.txt",
      "password = hunter2-correct-horse\nghp_" + std::string(36, 'a') + "\n");
  const Answer secret = sabath({"export", "@last", "-o", out, "--license", "MIT", "--with-code"});
  CHECK(secret.status == 2);
  CHECK_THAT(secret.errors, Contains("run/said.txt:"));
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("cli: outputs that are too large stay here") {
  const TwoUsers users;
  const Answer answer = done(
      users.author, {"export", users.run, "-o", users.crate, "--with-code", "--outputs", "none"});
  CHECK_THAT(answer.output, Contains("left out go/a.txt"));
  const Answer again =
      users.reader({"repro", users.crate, "--trust", users.digest(), "--require", "bitwise"});
  CAPTURE(again.output, again.errors);
  CHECK(again.status == 0);
}

TEST_CASE("cli: documents and crates are validated, and nothing is written") {
  const TwoUsers users;
  users.write();
  const fs::path folder = users.reader.folder() / "d";
  base::make_directories(folder / "data");
  base::write_file_atomically(folder / "data/a.csv", "1\n");
  const std::string begin =
      R"({"@context": {"cr": "http://mlcommons.org/croissant/"}, "@type": "sc:Dataset", "name": "a",
      "distribution": [{"@type": "cr:FileObject", "@id": "a", "contentUrl": "data/a.csv", "sha256": ")";
  const std::string right = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865";
  base::write_file_atomically(folder / "right.json", begin + right + "\"}]}");
  base::write_file_atomically(folder / "wrong.json", begin + std::string(64, 'a') + "\"}]}");
  base::write_file_atomically(folder / "none.json", "{}");
  const auto check = [&](const std::string& file) {
    return users.reader({"validate", file}).status;
  };
  CHECK(check(folder / "right.json") == 0);
  CHECK(check(folder / "wrong.json") == 11);
  CHECK(check(folder / "none.json") == 1);
  CHECK(check(users.crate) == 0);
  users.change("members['run/plan.json'] += b' '");
  CHECK(check(users.crate) == 11);
  const Answer both = users.reader({"validate", users.crate, folder / "right.json"});
  CHECK(both.status == 11);
  CHECK_THAT(both.output,
             Contains("invalid  " + users.crate) &&
                 Contains("valid    " + (folder / "right.json").string()));
  CHECK_FALSE(fs::exists(users.reader.home() / "assets"));
}

TEST_CASE("cli: a crate with the record of another and other code is not taken for it") {
  const TwoUsers users;
  users.write();
  done(users.reader, {"import", users.crate});
  users.change(R"(import hashlib
members['run/code.tar.gz'] += b'x'
lines = dict(line.split('  ', 1)[::-1] for line in members['manifest-sha256.txt'].decode().splitlines())
lines['run/code.tar.gz'] = hashlib.sha256(members['run/code.tar.gz']).hexdigest()
members['manifest-sha256.txt'] = ''.join(h + '  ' + n + chr(10) for n, h in lines.items()).encode())");
  const Answer refused = users.reader({"import", users.crate});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.errors, Contains("is there with other content"));
}

TEST_CASE("cli: a crate that shows another recipe than it would execute is refused") {
  const TwoUsers users;
  users.write();
  users.change_and_list("members['recipe.json'] += b'\\n'");
  const Answer shown = users.reader({"import", users.crate});
  CHECK(shown.status == 11);
  CHECK_THAT(shown.errors, Contains("its recipe.json is not the recipe of the record"));
  users.write();
  users.change_and_list(R"(import re
record = members['run/record.json'].decode()
members['run/record.json'] = re.sub(r'("recipe_digest": "sha256:)[0-9a-f]{4}', r'\g<1>0000', record).encode())");
  const Answer digest = users.reader({"import", users.crate});
  CHECK(digest.status == 11);
  CHECK_THAT(digest.errors, Contains("not the one of the record's digest"));
  CHECK(users.reader.count_runs() == 0);
}
