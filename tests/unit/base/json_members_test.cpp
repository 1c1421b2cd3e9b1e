#include <sabath/base/text/json_members.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <array>

using nlohmann::json;
using sabath::base::json_members;
using sabath::base::JsonPart;

namespace {

constexpr std::array wanted{JsonPart{"a"}, JsonPart{"b"}, JsonPart{"quo\"te"}};
constexpr std::array inner{JsonPart{"c"}};
constexpr std::array nested{JsonPart{"a", inner}, JsonPart{"b"}};

}  // namespace

TEST_CASE("json members: those that are wanted are kept as they stand, the others left out") {
  struct Row {
    std::string text;
    std::string kept;
  };
  const std::vector<Row> rows{
      {"{}", "{}"},
      {" { \n} \n", "{}"},
      {R"({"a": 1, "x": 2, "b": [3, {"a": "4"}]})", R"({"a": 1, "b": [3, {"a": "4"}]})"},
      {R"({"x": {"a": [1, "}]\\\"", {}]}, "a": "x, \"b\": {" , "y": "\\"})",
       R"({"a": "x, \"b\": {"})"},
      {R"({"x":[],"a":null})", R"({"a": null})"},
      {R"({"quo\"te": 1.5e3, "quo": 1})", R"({"quo\"te": 1500})"},
      {R"({"x": 1})", "{}"},
      {"{\"a\" : \"\xc3\xa4, \\u0022\"\n}", "{\"a\": \"\xc3\xa4, \\u0022\"}"}};
  for (const Row& row : rows) {
    const auto kept = json_members(row.text, wanted);
    INFO(row.text);
    REQUIRE(kept);
    CHECK(json::parse(*kept) == json::parse(row.kept));
  }
  CHECK(json_members(R"({"a": 1, "a": 2})", wanted) == R"({"a":1,"a":2})");
}

TEST_CASE("json members: of objects in objects and in arrays parts may be wanted") {
  struct Row {
    std::string text;
    std::string kept;
  };
  const std::vector<Row> rows{
      {R"({"a": {"c": {"d": 1}, "d": 2}, "b": {"c": 1, "d": 2}})",
       R"({"a": {"c": {"d": 1}}, "b": {"c": 1, "d": 2}})"},
      {R"({"a": [{"d": 1, "c": 2}, {"d": 3}, {"c": "]}"}]})",
       R"({"a": [{"c": 2}, {}, {"c": "]}"}]})"},
      {R"({ "a" : [ { } , { "c" : 1 } ] , "d" : [ ] })", R"({"a": [{}, {"c": 1}]})"},
      {R"({"a": [], "c": 1})", R"({"a": []})"},
      {R"({"a": {}})", R"({"a": {}})"},
      {R"({"a": null, "b": null})", R"({"a": null, "b": null})"},
      {R"({"a": [1, "x", [{"c": 1, "d": 2}]]})", R"({"a": [1, "x", [{"c": 1, "d": 2}]]})"},
      {R"({"a": {"x\\": "\\\"", "c": "\\\\", "y": "c"}})", R"({"a": {"c": "\\\\"}})"}};
  for (const Row& row : rows) {
    const auto kept = json_members(row.text, nested);
    INFO(row.text);
    REQUIRE(kept);
    CHECK(json::parse(*kept) == json::parse(row.kept));
  }
}

TEST_CASE("json members: depth costs no stack") {
  const std::string deep =
      "{\"a\": " + std::string(1'000'000, '[') + "{\"c\": 1}" + std::string(1'000'000, ']') + "}";
  const auto kept = json_members(deep, nested);
  REQUIRE(kept);
  CHECK(kept->size() >= 2'000'000);
}

TEST_CASE("json members: what does not end as an object is left to a parser") {
  const std::string whole = R"({"a": ["x", {"y": "\\"}], "b": "c"})";
  REQUIRE(json_members(whole, wanted));
  const std::string parts = R"({"a": [{"c": "\\\\", "d": [1]}, {}], "b": {"c": 1}})";
  REQUIRE(json_members(parts, nested));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(whole.substr(0, length));
    CHECK_FALSE(json_members(whole.substr(0, length), wanted));
  }
  for (std::size_t length = 0; length < parts.size(); ++length) {
    INFO(parts.substr(0, length));
    CHECK_FALSE(json_members(parts.substr(0, length), nested));
  }
  for (const char* text : {"[]", "1", "{1: 2}", "{\"a\": 1} {}", "{\"a\" 1}", "{\"a\": 1,}", "{,}"})
    CHECK_FALSE(json_members(text, wanted));
}
