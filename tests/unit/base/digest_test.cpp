#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::base;

namespace {

std::string hex_of(DigestAlgorithm algorithm, std::string_view text) {
  Hasher hasher(algorithm);
  hasher.update(text);
  return hasher.finish().hex;
}

}  // namespace

// The values for "abc" are those of FIPS 180-2 (SHA) and RFC 1321 (MD5).
TEST_CASE("digest: the algorithms agree with their standards") {
  CHECK(hex_of(DigestAlgorithm::sha256, "abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex_of(DigestAlgorithm::sha512, "abc") ==
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
  CHECK(hex_of(DigestAlgorithm::sha1, "abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(hex_of(DigestAlgorithm::md5, "abc") == "900150983cd24fb0d6963f7d28e17f72");
  CHECK(sha256_of("").hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("digest: a stream gives the same in any pieces") {
  Hasher hasher;
  hasher.update("a");
  hasher.update("");
  hasher.update("bc");
  Hasher moved = std::move(hasher);
  CHECK(moved.finish() == sha256_of("abc"));
}

TEST_CASE("digest: the text form is read back") {
  const Digest digest = sha256_of("abc");
  CHECK(digest.text() == "sha256:" + digest.hex);
  CHECK(parse_digest(digest.text()) == digest);
  CHECK(parse_digest(digest.hex) == digest);
  std::string upper = digest.hex;
  for (char& c : upper)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  CHECK(parse_digest("sha256:" + upper) == digest);
  const auto md5 = parse_digest("md5:900150983cd24fb0d6963f7d28e17f72");
  REQUIRE(md5);
  CHECK(md5->algorithm == DigestAlgorithm::md5);
}

TEST_CASE("digest: what is no digest is refused") {
  const std::string hex = sha256_of("abc").hex;
  const std::string text = GENERATE_COPY(std::string(),
                                         hex.substr(1),
                                         hex + "0",
                                         "sha256:",
                                         "sha1:" + hex,
                                         "sha3:" + hex,
                                         "SHA256:" + hex,
                                         "sha256:" + hex.substr(1) + "g",
                                         " " + hex);
  INFO(text);
  CHECK_FALSE(parse_digest(text));
}

TEST_CASE("digest: algorithms are known by name") {
  for (const auto algorithm : {DigestAlgorithm::sha256,
                               DigestAlgorithm::sha512,
                               DigestAlgorithm::sha1,
                               DigestAlgorithm::md5}) {
    CHECK(digest_algorithm(to_string(algorithm)) == algorithm);
  }
  CHECK_FALSE(digest_algorithm("crc32"));
}

TEST_CASE("digest: a file is hashed whole, larger than any buffer") {
  const test::TempHome home;
  const std::string content(3'000'001, 'x');
  write_file_atomically(home / "file", content);
  CHECK(digest_file(home / "file") == sha256_of(content));
  CHECK(digest_file(home / "file", DigestAlgorithm::md5).hex ==
        hex_of(DigestAlgorithm::md5, content));
  CHECK(test::error_of([&] { digest_file(home / "none"); }).kind() == ErrorKind::not_found);
  CHECK(test::error_of([&] { digest_file(home.path()); }).kind() == ErrorKind::storage);
}
