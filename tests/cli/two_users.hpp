#pragma once

#include "support/answers.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace sabath::test {

/// One user's run in a crate, and another user with an empty home.
class TwoUsers {
 public:
  TwoUsers() {
    const std::string recipe = author.shell_recipe(
        "tiny",
        R"(echo {param.word}{seed} > {output}/a.txt; echo "{{\"loss\": 0.5}}" >> $SABATH_METRICS)",
        R"({"parameters": {"word": {"type": "string", "default": "x"}}, "x-license": "MIT"})",
        R"({"outputs": ["a.txt"]})");
    done(author, {"run", recipe, "--seed", "3", "--tag", "mine"});
    run = author.run_directories().back().filename();
    done(author, {"note", run, "as in the paper"});
  }

  void write(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words{"export", run, "-o", crate, "--with-code", "--force"};
    words.insert(words.end(), options.begin(), options.end());
    done(author, words);
  }
  std::string digest() const {
    return nlohmann::json::parse(done(reader, {"import", crate, "--json"}).output)["digest"];
  }
  /// The crate with its members changed.
  void change(const std::string& python) const {
    const std::string script =
        "import sys, zipfile\npath = sys.argv[1]\nz = zipfile.ZipFile(path)\n"
        "members = {i.filename: z.read(i) for i in z.infolist()}\nextra = []\ntail = b''\n" +
        python +
        "\nwith zipfile.ZipFile(path, 'w') as out:\n"
        "    for name, data in list(members.items()) + extra:\n        out.writestr(name, data)\n"
        "open(path, 'ab').write(tail)\n";
    REQUIRE(author.program({"python3", "-W", "ignore", "-c", script, crate}).status == 0);
  }

  /// The same, and the manifest as if its author had made it so.
  void change_and_list(const std::string& python) const {
    change(python + R"(
import hashlib
lines = ''
for name in sorted(members):
    if name not in ('manifest-sha256.txt', 'ro-crate-metadata.json'):
        lines += hashlib.sha256(members[name]).hexdigest() + '  ' + name + chr(10)
members['manifest-sha256.txt'] = lines.encode())");
  }

  Sabath author{};
  Sabath reader{};
  std::string run{};
  std::string crate = author.folder() / "r.crate.zip";
};

}  // namespace sabath::test
