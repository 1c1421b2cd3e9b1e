#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sabath::test {

/// The text kept as tests/data/`name`, for a comparison with `actual`. With SABATH_TEST_ACCEPT=1 in
/// the environment the file is first replaced by `actual`: look at the difference before it is
/// committed.
inline std::string golden(const std::string& name, const std::string& actual) {
  const std::filesystem::path file = std::filesystem::path(SABATH_TEST_DATA) / name;
  const char* accept = std::getenv("SABATH_TEST_ACCEPT");
  if (accept != nullptr && std::string(accept) == "1") {
    std::ofstream(file, std::ios::binary) << actual;
  }
  std::ifstream stream(file, std::ios::binary);
  INFO(file.string());
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace sabath::test
