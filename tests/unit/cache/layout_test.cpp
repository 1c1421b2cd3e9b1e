#include "cache_home.hpp"

#include <cache/layout.hpp>
#include <catch2/catch.hpp>

using namespace sabath;
using cache::Layout;
using cache::without_credentials;
using test::CacheHome;
using test::error_of;

namespace fs = std::filesystem;

TEST_CASE("cache: a new one says what it is, to backup programs too") {
  CacheHome home;
  home.open();
  CHECK(base::read_file(home.root() / "version") == "sabath cache 1\n");
  CHECK(base::read_file(home.root() / "CACHEDIR.TAG")
            .starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"));
  CHECK(home.open().root() == home.root());
}

TEST_CASE("cache: a folder with other things is never made into one") {
  CacheHome home;
  fs::create_directory(home.root());
  base::write_file_atomically(home.root() / "thesis.tex", "years of work");
  const auto error = error_of([&] { home.open(); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
  CHECK(std::string(error->what()).find("thesis.tex") != std::string::npos);
  CHECK_FALSE(fs::exists(home.root() / "CACHEDIR.TAG"));
}

TEST_CASE("cache: what a crash left of making one is no obstacle") {
  CacheHome home;
  fs::create_directory(home.root());
  base::write_file_atomically(home.root() / "CACHEDIR.TAG", "Signature");
  base::write_file_atomically(home.root() / ".sabath-Ab12Cd", "");
  fs::create_directory(home.root() / "envs");
  home.open();
  CHECK(fs::exists(home.root() / "version"));
}

TEST_CASE("cache: one of a newer version is left alone") {
  CacheHome home;
  home.open();
  base::write_file_atomically(home.root() / "version", "sabath cache 7\n");
  const auto error = error_of([&] { home.open(); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
  CHECK(std::string(error->what()).find("version 7") != std::string::npos);
  CHECK(error->hint().find("SABATH_CACHE") != std::string::npos);
  base::write_file_atomically(home.root() / "version", "garbage");
  CHECK(error_of([&] { home.open(); }));
}

TEST_CASE("cache: one that cannot be made says where and what to do") {
  CacheHome home;
  base::write_file_atomically(home / "cache", "a file");
  const auto error = error_of([&] { home.open(); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
  CHECK(std::string(error->what()).find(home.root().string()) != std::string::npos);
}

TEST_CASE("layout: keys and URLs from outside never leave their folders") {
  const Layout layout("/cache/");
  CHECK(layout.root() == "/cache");
  for (const char* key : {"../../etc/passwd", "/etc/passwd", "", ".", "a/b"}) {
    CHECK(layout.partial(key).parent_path() == "/cache/partial");
    CHECK(layout.stage(key).parent_path() == "/cache/stages");
    CHECK(layout.source(key).parent_path() == "/cache/sources");
  }
  CHECK(layout.partial("a") != layout.partial("b"));
}

TEST_CASE("layout: a key that is a sha256 already is its own name") {
  const Layout layout("/cache");
  const std::string hex = base::sha256_of("x").hex;
  CHECK(layout.stage(hex) == "/cache/stages/" + hex + ".json");
}

TEST_CASE("layout: user and password are no part of a URL's key") {
  CHECK(without_credentials("https://u:p@host/a?b=c@d") == "https://host/a?b=c@d");
  CHECK(without_credentials("https://u:p@x@host/a") == "https://host/a");
  CHECK(without_credentials("https://host/a@b") == "https://host/a@b");
  CHECK(without_credentials("https://host?x=a@b") == "https://host?x=a@b");
  CHECK(without_credentials("/just/a@path") == "/just/a@path");
  const Layout layout("/cache");
  CHECK(layout.source("https://u:p@host/a") == layout.source("https://host/a"));
  CHECK(layout.source("https://host/a?v=1") != layout.source("https://host/a?v=2"));
}

TEST_CASE("cache: one that is removed while it is used says so, and what to do") {
  CacheHome home;
  auto cache = home.open();
  test::put(cache, "before");
  fs::remove_all(home.root());
  const auto error = error_of([&] { test::put(cache, "after"); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
  CHECK(std::string(error->what()).find(home.root().string() + ": the cache was removed") !=
        std::string::npos);
  CHECK_FALSE(cache.find(base::sha256_of("before")));
  auto anew = home.open();
  CHECK(test::put(anew, "after").size_bytes == 5);
}
