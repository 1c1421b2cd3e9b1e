#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/sharing/import_documents.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using exchange::DocumentKind;
using sharing::DocumentRequest;
using sharing::import_documents;

namespace {

/// A home without documents.
class OneHome {
 public:
  OneHome() {
    folders.home = folder / "home";
    folders.assets = {folders.home / "assets"};
  }

  std::vector<sharing::MadeDocument> import(const DocumentRequest& request) const {
    return import_documents(request, folders, home::Documents(folders.assets, {}));
  }
  void write(const std::string& path, const std::string& text) const {
    base::make_directories((folder / path).parent_path());
    base::write_file_atomically(folder / path, text);
  }

  test::TempHome folder{};
  home::Folders folders{};
};

}  // namespace

TEST_CASE("import: two documents of one name in one import are refused") {
  const OneHome home;
  const std::string begin = R"({"name": "A", "fragments": [{"id": "f", "type": "file", "url": ")";
  home.write("up/datasets/a/a.json", begin + "https://example.org/1.h5\"}]}");
  home.write("up/datasets/b/a.json", begin + "https://example.org/2.h5\"}]}");
  DocumentRequest request;
  request.place = home.folder / "up";
  request.kind = DocumentKind::upstream;
  CHECK_THROWS_WITH(home.import(request), Catch::Contains("are called 'a'"));
  CHECK_FALSE(std::filesystem::exists(home.folders.home / "assets"));
  request.replaces = true;
  CHECK_THROWS_AS(home.import(request), base::Error);
  base::remove_tree(home.folder / "up");
  const std::string model =
      R"({"name": "M", "abstract": "", "description": "", "homepage": "", "references": [],
          "git": {"origin": "https://example.org/m.git"}, "run": {"x": ["true"]}})";
  home.write("up/models/a/m.json", model);
  home.write("up/models/b/m.json", model);
  CHECK_THROWS_WITH(home.import(request), Catch::Contains("two models are called 'm'"));
}

TEST_CASE("import: relative addresses belong to the folder of a document's address") {
  const OneHome home;
  home.write("c.json", R"({"@context": {"cr": "http://mlcommons.org/croissant/"},
    "@type": "sc:Dataset", "name": "n", "distribution": [
    {"@type": "cr:FileObject", "@id": "a", "contentUrl": "data/a.csv"}]})");
  const auto text_from = [&](const std::string& url) {
    DocumentRequest request;
    request.place = home.folder / "c.json";
    request.url = url;
    request.kind = DocumentKind::croissant;
    request.is_dry = true;
    return home.import(request).at(0).text;
  };
  CHECK_THAT(text_from("https://h.org/sets/c.json"),
             Catch::Contains("https://h.org/sets/data/a.csv"));
  CHECK_THAT(text_from("https://h.org/sets/c.json?next=/other/x"),
             Catch::Contains("https://h.org/sets/data/a.csv"));
  CHECK_THAT(text_from("https://h.org/c?a=1#b/c"), Catch::Contains("https://h.org/data/a.csv"));
  CHECK_THAT(text_from("https://h.org"), Catch::Contains("https://h.org/data/a.csv"));
  CHECK_THAT(text_from("https://h.org?x=1"), Catch::Contains("https://h.org/data/a.csv"));
}

TEST_CASE("import: a repository beside files becomes a second asset") {
  const OneHome home;
  home.write("c.json", R"({"@context": {"cr": "http://mlcommons.org/croissant/"},
    "@type": "sc:Dataset", "name": "n", "distribution": [
    {"@type": "cr:FileObject", "@id": "r", "encodingFormat": "git+https",
     "contentUrl": "https://huggingface.co/datasets/o/n"},
    {"@type": "cr:FileObject", "@id": "a", "contentUrl": "https://example.org/a.csv"}]})");
  DocumentRequest request;
  request.place = home.folder / "c.json";
  request.kind = DocumentKind::croissant;
  request.name = "mine";
  const auto made = home.import(request);
  REQUIRE(made.size() == 2);
  CHECK(made[0].name == "mine");
  CHECK(made[1].name == "mine-repository");
  CHECK(std::filesystem::exists(home.folders.home / "assets/mine-repository.json"));
}

TEST_CASE("import: a model's code is pinned once its repository answers, and stays so") {
  const OneHome home;
  home.write("m.json",
             R"({"name": "M", "abstract": "", "description": "", "homepage": "", "references": [],
                 "git": {"origin": "https://example.org/m.git", "tag": "v1"}, "run": {"x": ["true"]}})");
  DocumentRequest request;
  request.place = home.folder / "m.json";
  request.kind = DocumentKind::upstream;
  const auto text = [&] { return base::read_file(home.folders.home / "assets/m.json"); };
  home.import(request);
  CHECK(text().find("names no commit") != std::string::npos);

  std::string asked;
  request.commit_of = [&](const std::string& url, const std::string& reference) {
    asked += url + " " + reference + "\n";
    return std::string(40, 'c');
  };
  home.import(request);
  CHECK(asked == "https://example.org/m.git refs/tags/v1\n");
  CHECK(text().find("names no commit") == std::string::npos);
  CHECK(text().find(std::string(40, 'c')) != std::string::npos);

  request.commit_of = [](const std::string&, const std::string&) { return std::string(40, 'd'); };
  const auto again = home.import(request);
  CHECK(again.back().was_there);
  CHECK(text().find(std::string(40, 'd')) == std::string::npos);
}

TEST_CASE("import: a document from an address makes nobody ask a private repository") {
  const OneHome home;
  home.write(
      "m.json",
      R"({"name": "M", "git": {"origin": "https://127.0.0.1/m.git"}, "run": {"x": ["true"]}})");
  DocumentRequest request;
  request.place = home.folder / "m.json";
  request.url = "https://example.org/m.json";
  request.kind = DocumentKind::upstream;
  bool was_asked = false;
  request.commit_of = [&](const std::string&, const std::string&) {
    was_asked = true;
    return std::string();
  };
  CHECK_THROWS_WITH(home.import(request), Catch::Contains("private network"));
  CHECK_FALSE(was_asked);
}
