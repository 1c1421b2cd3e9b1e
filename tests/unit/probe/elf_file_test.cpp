#include "probe/software/elf_file.hpp"

#include "held_process.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sabath;
using namespace sabath::test;

TEST_CASE("elf: a library's build id and compiler are read") {
  const auto facts = probe::read_elf(test_libraries + "/new/libopenblas.so");
  REQUIRE(facts);
  CHECK(facts->build_id == "5aba70");
  std::vector<std::string> names;
  for (const std::string& comment : facts->compilers)
    names.push_back(probe::compiler_name(comment));
  const std::string own = SABATH_TEST_COMPILER;  // "GNU 12.2.0" or "Clang 14.0.6"
  const std::string version = own.substr(own.find(' ') + 1);
  CHECK(std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name == "GCC " + version || name == "clang " + version;
  }));
}

TEST_CASE("elf: the forms of compilers' comments") {
  CHECK(probe::compiler_name("GCC: (Debian 12.2.0-14) 12.2.0") == "GCC 12.2.0");
  CHECK(probe::compiler_name("GCC: (GNU) 8.5.0 20210514 (Red Hat 8.5.0-4)") == "GCC 8.5.0");
  CHECK(probe::compiler_name("Debian clang version 14.0.6") == "clang 14.0.6");
  CHECK(probe::compiler_name("Linker: LLD 17.0.1") == "Linker: LLD 17.0.1");
}

TEST_CASE("elf: what is none, and what is damaged anywhere in its tables, is harmless", "[long]") {
  const TempHome home;
  CHECK_FALSE(probe::read_elf(home / "absent"));
  CHECK_FALSE(probe::read_elf(home.path()));
  base::write_file_atomically(home / "text", "#!/bin/sh\n");
  CHECK_FALSE(probe::read_elf(home / "text"));
  const std::string whole = base::read_file(test_libraries + "/new/libopenblas.so");
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    base::write_file_atomically(
        home / "cut", whole.substr(0, size), base::Durability::ordered_only);
    const auto facts = probe::read_elf(home / "cut");
    if (facts) CHECK((facts->build_id.empty() || facts->build_id == "5aba70"));
  }
  // The header, the segments, and the sections at the end.
  for (std::size_t at = 4; at < whole.size();
       at += at < 1024 || at + 3000 > whole.size() ? 1 : 61) {
    std::string changed = whole;
    changed[at] = static_cast<char>(0xff);
    base::write_file_atomically(home / "changed", changed, base::Durability::ordered_only);
    probe::read_elf(home / "changed");
  }
}
