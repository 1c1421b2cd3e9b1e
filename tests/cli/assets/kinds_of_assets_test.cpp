// Whatever kind an asset is of: it is verified, kept and repaired by its name.
#include "support/program.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> all_kinds{"list",
                                         "bare-list",
                                         "manifest",
                                         "files",
                                         "many",
                                         "compressed",
                                         "archive",
                                         "archives",
                                         "md5",
                                         "tree"};

/// Files to fetch, and a document of each kind that names them.
class Kinds {
 public:
  Kinds() {
    for (const char* name : {"set", "many", "repository/in"})
      fs::create_directories(folder() / name);
    for (const char* name : {"a.txt", "b.txt"})
      write_text(folder() / "set" / name, name);
    for (int i = 0; i < 40; ++i)
      write_text(folder() / "many" / std::to_string(i), "number " + std::to_string(i));
    write_text(folder() / "set" / "bare", "a.txt\nb.txt\n");
    write_text(folder() / "set" / "sums",
               hex_of("a.txt") + "  a.txt\n" + hex_of("b.txt") + "  b.txt\n");
    program({"gzip", "-k", (folder() / "set" / "a.txt").string()});
    for (const std::string name : {"one", "two"}) {
      program({"tar",
               "-C",
               (folder() / "set").string(),
               "-cf",
               (folder() / (name + ".tar")).string(),
               name == "one" ? "a.txt" : "b.txt"});
    }
    make_repository();
    describe("list", R"("list": ")" + url("set/sums") + R"(")");
    describe("bare-list", R"("list": ")" + url("set/bare") + R"(")");
    describe(
        "manifest",
        R"("base": ")" + url("set/") + R"(", "manifest": [{"path": "a.txt"}, {"path": "b.txt"}])");
    describe("files",
             R"("files": [)" + file("a.txt", "set/a.txt") + "," + file("b", "set/b.txt") + "]");
    std::string many;
    for (int i = 0; i < 40; ++i) {
      const std::string name = std::to_string(i);
      many += (i > 0 ? "," : "") + file(name, "many/" + name);
    }
    describe("many", R"("files": [)" + many + "]");
    describe("compressed",
             R"("files": [)" + file("a.gz", "set/a.txt.gz", R"(, "unpack": "gz")") + "]");
    describe("archive", R"("files": [)" + file("a.tar", "one.tar", R"(, "unpack": "tar")") + "]");
    describe("archives",
             R"("files": [)" + file("a.tar", "one.tar", R"(, "unpack": "tar")") + "," +
                 file("b.tar", "two.tar", R"(, "unpack": "tar")") + "," + file("c", "set/a.txt") +
                 "]");
    describe("md5",
             R"("files": [)" +
                 file("a.txt",
                      "set/a.txt",
                      R"(, "digest": {"md5": "a5e54d1fd7bb69a228ef0dcd2431367e"})") +
                 "]");
    describe("tree", R"("list": ")" + repository() + R"(")");
  }

  Sabath sabath{};
  fs::path folder() const { return sabath.folder(); }
  std::string url(const std::string& path) const { return "file://" + (folder() / path).string(); }
  std::string repository() const { return "git+" + url("repository") + "@" + commit_; }
  static std::string hex_of(const std::string& text) { return sabath::base::sha256_of(text).hex; }

 private:
  void program(const std::vector<std::string>& argv) const {
    REQUIRE(sabath.program(argv).status == 0);
  }
  std::string file(const std::string& path,
                   const std::string& from,
                   const std::string& more = "") const {
    return R"({"path": ")" + path + R"(", "sources": [")" + url(from) + R"("])" + more + "}";
  }
  void describe(const std::string& name, const std::string& text) const {
    sabath.asset(name,
                 R"({"schema": 1, "kind": "dataset", "name": ")" + name + R"(", )" + text + "}");
  }
  void make_repository() {
    const std::string place = (folder() / "repository").string();
    write_text(folder() / "repository" / "in" / "git.txt", "of git");
    const auto git = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(),
                       {"git", "-C", place, "-c", "user.name=a", "-c", "user.email=a@b"});
      const Answer answer = sabath.program(arguments);
      REQUIRE(answer.status == 0);
      return answer.output;
    };
    git({"init", "-q"});
    git({"add", "."});
    git({"commit", "-q", "-m", "one"});
    commit_ = git({"rev-parse", "HEAD"}).substr(0, 40);
  }

  std::string commit_{};
};

fs::path tree_of(const Answer& answer) {
  return json::parse(last_line(answer.output))["fetched"][0]["path"].get<std::string>();
}

/// Spoils the first file of a tree, or the object that it leads to.
void spoil_in(const fs::path& tree) {
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    if (entry.is_directory() || entry.path().filename() == ".sabath-tree.json") continue;
    const fs::path file = fs::canonical(entry.path());
    fs::permissions(file, fs::perms(0644));
    write_text(file, "spoilt");
    fs::permissions(file, fs::perms(0444));
    return;
  }
  FAIL("the tree has no file");
}

}  // namespace

TEST_CASE("cli: an asset of any kind that is pinned survives the collector whole") {
  const Kinds kinds;
  const Sabath& sabath = kinds.sabath;
  for (const std::string& name : all_kinds) {
    INFO(name);
    const Answer fetched = sabath({"--json", "fetch", name});
    INFO(fetched.errors);
    REQUIRE(fetched.status == 0);
    REQUIRE(sabath({"cache", "pin", name}).status == 0);
    REQUIRE(sabath({"cache", "gc", "--older-than", "0s"}).status == 0);
    const Answer verified = sabath({"verify", name});
    INFO(verified.output);
    CHECK(verified.status == 0);
    const Answer offline = sabath({"--json", "fetch", name, "--offline"});
    INFO(offline.errors);
    CHECK(offline.status == 0);
    CHECK(tree_of(offline) == tree_of(fetched));
    CHECK(sabath({"cache", "ls", name}).status == 0);
    REQUIRE(sabath({"cache", "unpin", name}).status == 0);
    REQUIRE(sabath({"cache", "gc", "--older-than", "0s"}).status == 0);
    CHECK(sabath({"cache", "ls", name}).status == 10);
    CHECK(sabath({"verify", name}).status == 1);
  }
}

TEST_CASE("cli: an asset of any kind that is damaged is found by name, and repaired") {
  const Kinds kinds;
  const Sabath& sabath = kinds.sabath;
  for (const std::string& name : all_kinds) {
    INFO(name);
    const Answer fetched = sabath({"--json", "fetch", name});
    REQUIRE(fetched.status == 0);
    spoil_in(tree_of(fetched));
    CHECK(sabath({"verify", name}).status == 1);
    const Answer repaired = sabath({"cache", "repair", name});
    INFO(repaired.output << repaired.errors);
    CHECK(repaired.status == 0);
    CHECK(sabath({"verify", name, "--full"}).status == 0);
    CHECK(sabath({"fetch", name, "--offline"}).status == 0);
  }
}

TEST_CASE("cli: what a URL gave is pinned by the URL, a folder, too") {
  const Kinds kinds;
  const Sabath& sabath = kinds.sabath;
  for (const std::string& url : {kinds.url("set/a.txt"), kinds.repository()}) {
    INFO(url);
    REQUIRE(sabath({"fetch", url}).status == 0);
    CHECK(sabath({"cache", "pin", url}).status == 0);
    CHECK(sabath({"cache", "gc", "--older-than", "0s"}).status == 0);
    CHECK(sabath({"verify", url}).status == 0);
    CHECK(sabath({"fetch", url, "--offline"}).status == 0);
  }
}

TEST_CASE(
    "cli: of a list that a run has read the collector keeps what a fetch without network needs") {
  const Kinds kinds;
  const Sabath& sabath = kinds.sabath;
  REQUIRE(sabath({"run",
                  sabath.shell_recipe("reader",
                                      "cat {dataset.train}/a.txt > {output}/copy.txt",
                                      R"({"datasets": {"train": "bare-list"}})",
                                      R"({"outputs": ["copy.txt"]})")})
              .status == 0);
  REQUIRE(sabath({"cache", "gc", "--older-than", "0s"}).status == 0);
  const Answer offline = sabath({"fetch", "bare-list", "--offline"});
  INFO(offline.errors);
  CHECK(offline.status == 0);
  CHECK(sabath({"verify", "bare-list"}).status == 0);
}

TEST_CASE("cli: what was set aside is missing to verify, by URL too") {
  const Kinds kinds;
  const Sabath& sabath = kinds.sabath;
  const Answer fetched = sabath({"--json", "fetch", kinds.repository()});
  REQUIRE(fetched.status == 0);
  spoil_in(tree_of(fetched));
  CHECK(sabath({"verify", kinds.repository()}).status == 1);
  CHECK(sabath({"fetch", kinds.repository(), "--offline"}).status != 0);  // which sets it aside
  CHECK(sabath({"verify", kinds.repository()}).status == 1);
}

TEST_CASE("cli: an asset that was never fetched is not in the cache, whatever its kind") {
  const Kinds kinds;
  for (const std::string name : {"list", "manifest", "files", "many", "tree"}) {
    INFO(name);
    CHECK(kinds.sabath({"verify", name}).status == 1);
    CHECK(kinds.sabath({"cache", "pin", name}).status == 10);
  }
}

TEST_CASE("cli: -o gives what an asset is made of: unpacked, with its links") {
  const Kinds kinds;
  const Sabath& sabath = kinds.sabath;
  const fs::path out = kinds.folder() / "out";
  REQUIRE(sabath({"fetch", "compressed", "-o", (out / "gz").string()}).status == 0);
  CHECK(text_of(out / "gz" / "a") == "a.txt");
  CHECK_FALSE(fs::exists(out / "gz" / "a.gz"));
  REQUIRE(sabath({"fetch", "archives", "-o", (out / "tar").string()}).status == 0);
  CHECK(text_of(out / "tar" / "b.txt") == "b.txt");
  CHECK_FALSE(fs::exists(out / "tar" / "b.tar"));
  fs::create_directories(kinds.folder() / "linked");
  write_text(kinds.folder() / "linked" / "file", "here");
  fs::create_symlink("file", kinds.folder() / "linked" / "link");
  fs::permissions(kinds.folder() / "linked" / "file", fs::perms::owner_exec, fs::perm_options::add);
  const std::string archive = (kinds.folder() / "linked.tar").string();
  REQUIRE(sabath.program({"tar", "-C", (kinds.folder() / "linked").string(), "-cf", archive, "."})
              .status == 0);
  sabath.asset("linked",
               R"({"schema": 1, "kind": "dataset", "name": "linked", "files": [
      {"path": "l.tar", "unpack": "tar", "sources": ["file://)" +
                   archive + R"("]}]})");
  const Answer answer = sabath({"fetch", "linked", "-o", (out / "linked").string()});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(fs::read_symlink(out / "linked" / "link") == "file");
  CHECK(text_of(out / "linked" / "link") == "here");
  CHECK((fs::status(out / "linked" / "file").permissions() & fs::perms::owner_exec) !=
        fs::perms::none);
}
