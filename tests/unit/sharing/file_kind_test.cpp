#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/sharing/file_kind.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;
using exchange::DocumentKind;
using sharing::kind_of_file;

TEST_CASE("files and folders are recognised by their content") {
  base::TempDir folder(std::filesystem::temp_directory_path());
  const auto at = [&](const char* name) { return folder.path() / name; };
  base::write_file_atomically(at("t.csv"), "a,b\n1,2\n");
  base::write_file_atomically(at("c.zip"), "PK\x03\x04");
  base::write_file_atomically(at("a.json"), R"( {"schema":1,"kind":"dataset"})");
  base::write_file_atomically(at("other.json"), "{}");
  CHECK(kind_of_file(at("t.csv")) == DocumentKind::table);
  CHECK(kind_of_file(at("c.zip")) == DocumentKind::crate);
  std::filesystem::resize_file(at("c.zip"), std::uintmax_t{1} << 30U);
  CHECK(kind_of_file(at("c.zip")) == DocumentKind::crate);
  CHECK(kind_of_file(at("a.json")) == DocumentKind::asset);
  CHECK_THROWS_AS(kind_of_file(at("other.json")), base::Error);
  base::write_file_atomically(at("packed.tar.gz"), std::string("\x1f\x8b\x08\0\0", 5));
  CHECK_THROWS_WITH(kind_of_file(at("packed.tar.gz")), Catch::Contains("no kind of document"));
  base::write_file_atomically(at("m.json"), R"({"@graph":[{"@id":"ro-crate-metadata.json"}]})");
  CHECK_THROWS_WITH(kind_of_file(at("m.json")), Catch::Contains("only the metadata of a crate"));
  CHECK_THROWS_AS(kind_of_file(at("none.csv")), base::Error);
}
