#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/mask_secrets.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;

TEST_CASE("known secrets: each is masked in place, so that the rest stays where it is") {
  const test::TempHome folder;
  const auto file = folder.path() / "stdout.log";
  const base::KnownSecrets secrets({"s3cret/word", "hunter22", "short"});
  base::write_file_atomically(file, "a s3cret/word b\nhunter22hunter22 short s3cret%2Fword\n");
  CHECK(secrets.mask_file(file) == 4);
  CHECK(base::read_file(file) == "a *********** b\n**************** short *************\n");
  CHECK(secrets.mask_file(file) == 0);
}

TEST_CASE("known secrets: one that lies across the blocks of a large file is found") {
  const test::TempHome folder;
  const auto file = folder.path() / "stdout.log";
  const base::KnownSecrets secrets({"hunter22", "a-rather-long-secret-of-somebody"});
  constexpr std::size_t block = 1U << 20U;
  for (std::size_t before = block - 40; before < block + 8; ++before) {
    std::string text(before, 'x');
    text += "hunter22";
    text.append(block, 'y');
    base::write_file_atomically(file, text, base::Durability::ordered_only);
    CHECK(secrets.mask_file(file) == 1);
    std::string expected(before, 'x');
    expected += "********";
    expected.append(block, 'y');
    CHECK((base::read_file(file) == expected));
  }
}

TEST_CASE("known secrets: no file, a link and nothing known are no trouble") {
  const test::TempHome folder;
  const auto file = folder.path() / "stdout.log";
  const base::KnownSecrets secrets({"hunter22"});
  CHECK(secrets.mask_file(file) == 0);
  base::write_file_atomically(folder.path() / "own", "hunter22");
  std::filesystem::create_symlink("own", file);
  CHECK(secrets.mask_file(file) == 0);
  CHECK(base::read_file(folder.path() / "own") == "hunter22");
  CHECK(base::KnownSecrets({"", "x"}).empty());
}
