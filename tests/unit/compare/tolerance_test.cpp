#include "tolerance.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <regex>

using namespace sabath;
using base::ArrayType;

TEST_CASE("tolerance: the page on arrays has the defaults that are used") {
  const std::string page = base::read_file(SABATH_SOURCE_DIR "/docs/formats/arrays.md");
  const std::size_t begin = page.find("## Default tolerances");
  REQUIRE(begin != std::string::npos);
  const std::string table = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  for (const auto& [name, type] : {std::pair{"float64", ArrayType::float64},
                                   std::pair{"float32", ArrayType::float32},
                                   std::pair{"float16", ArrayType::float16},
                                   std::pair{"bfloat16", ArrayType::bfloat16},
                                   std::pair{"integers", ArrayType::int64}}) {
    INFO(name);
    std::smatch row;
    const std::regex pattern("\\n\\| " + std::string(name) +
                             "[^|\\n]*\\| ([^ |]+) \\| ([^ |]+) \\|");
    REQUIRE(std::regex_search(table, row, pattern));
    const spec::Tolerance used = compare::applied_tolerance(type, {}, {});
    CHECK(*used.absolute == 0);
    CHECK(*used.relative == std::stod(row[1]));
    CHECK(*used.ulp == std::stoull(row[2]));
  }
}

TEST_CASE("tolerance: an absolute one alone leaves nothing to the relative one") {
  spec::Tolerance recipe;
  recipe.absolute = 0.5;
  const spec::Tolerance used = compare::applied_tolerance(ArrayType::float64, recipe, {});
  CHECK(*used.absolute == 0.5);
  CHECK(*used.relative == 0);
}
