#include "cache/objects/digest_memo.hpp"
#include "cache_home.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using cache::Memo;
using Kind = cache::Memo::Kind;

namespace fs = std::filesystem;

namespace {

base::Digest digest_number(int number) {
  return base::sha256_of(std::to_string(number));
}

std::vector<fs::path> note_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.is_regular_file()) files.push_back(file.path());
  }
  return files;
}

}  // namespace

TEST_CASE("memo: only the digest, kind and fingerprint that were remembered are vouched for") {
  test::TempHome home;
  const Memo memo(home.path(), "/cache");
  memo.remember(Kind::object, digest_number(1), "as it was");
  CHECK(memo.vouches(Kind::object, digest_number(1), "as it was"));
  CHECK_FALSE(memo.vouches(Kind::object, digest_number(1), "as it is"));
  CHECK_FALSE(memo.vouches(Kind::object, digest_number(2), "as it was"));
  CHECK_FALSE(memo.vouches(Kind::tree, digest_number(1), "as it was"));
  CHECK_FALSE(Memo(home.path(), "/other").vouches(Kind::object, digest_number(1), "as it was"));
  memo.forget(Kind::object, digest_number(1));
  CHECK_FALSE(memo.vouches(Kind::object, digest_number(1), "as it was"));
  CHECK_FALSE(Memo(home.path(), "/cache").vouches(Kind::object, digest_number(1), "as it was"));
}

TEST_CASE("memo: notes of 20,000 objects lie in some hundred files") {
  test::TempHome home;
  {
    const Memo memo(home.path(), "/cache");
    for (int i = 0; i < 20'000; ++i)
      memo.remember(Kind::object, digest_number(i), "as it was");
  }
  CHECK(note_files(home.path()).size() <= 256);
  const Memo memo(home.path(), "/cache");
  int vouched = 0;
  for (int i = 0; i < 20'000; ++i)
    vouched += memo.vouches(Kind::object, digest_number(i), "as it was") ? 1 : 0;
  CHECK(vouched == 20'000);
}

TEST_CASE("memo: what another process notes and forgets is seen at once") {
  test::TempHome home;
  const Memo one(home.path(), "/cache");
  const Memo two(home.path(), "/cache");
  one.remember(Kind::object, digest_number(1), "as it was");
  CHECK(two.vouches(Kind::object, digest_number(1), "as it was"));
  two.remember(Kind::object, digest_number(1), "as it is");
  CHECK(one.vouches(Kind::object, digest_number(1), "as it is"));
  CHECK_FALSE(one.vouches(Kind::object, digest_number(1), "as it was"));
  one.forget(Kind::object, digest_number(1));
  CHECK_FALSE(two.vouches(Kind::object, digest_number(1), "as it is"));
}

TEST_CASE("memo: a line torn at any byte vouches for nothing and hides no other") {
  test::TempHome home;
  const base::Digest before = digest_number(1);
  base::Digest torn = digest_number(2);
  for (int i = 2; torn.hex.substr(0, 2) != before.hex.substr(0, 2); ++i)
    torn = digest_number(i + 1);
  std::string whole;
  fs::path file;
  std::uint64_t first_line = 0;
  {
    const Memo memo(home.path(), "/cache");
    memo.remember(Kind::object, before, "as it was");
    file = note_files(home.path()).at(0);
    first_line = fs::file_size(file);
    memo.remember(Kind::object, torn, "as it was");
    whole = base::read_file(file);
  }
  for (std::size_t length = first_line; length < whole.size(); ++length) {
    base::write_file_atomically(
        file, whole.substr(0, length), base::Durability::ordered_only, 0600);
    const Memo memo(home.path(), "/cache");
    REQUIRE(memo.vouches(Kind::object, before, "as it was"));
    REQUIRE_FALSE(memo.vouches(Kind::object, torn, "as it was"));
    memo.remember(Kind::object, torn, "as it is");
    REQUIRE(Memo(home.path(), "/cache").vouches(Kind::object, torn, "as it is"));
    REQUIRE(Memo(home.path(), "/cache").vouches(Kind::object, before, "as it was"));
  }
}

TEST_CASE("memo: what is superseded does not grow for ever") {
  test::TempHome home;
  for (int i = 0; i < 1500; ++i)
    Memo(home.path(), "/cache").remember(Kind::object, digest_number(1), std::to_string(i));
  CHECK(fs::file_size(note_files(home.path()).at(0)) < 110'000);
  CHECK(Memo(home.path(), "/cache").vouches(Kind::object, digest_number(1), "1499"));
}

TEST_CASE("memo: a file of notes that others may write vouches for nothing") {
  test::TempHome home;
  {
    const Memo memo(home.path(), "/cache");
    memo.remember(Kind::object, digest_number(1), "as it was");
  }
  REQUIRE(::chmod(note_files(home.path()).at(0).c_str(), 0666) == 0);
  CHECK_FALSE(Memo(home.path(), "/cache").vouches(Kind::object, digest_number(1), "as it was"));
}
