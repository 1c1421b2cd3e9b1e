#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <limits>

using namespace sabath;
using namespace sabath::base;
using test::contains;
using test::error_of;

namespace {

/// Reads `text` with `read` and returns the error of its end.
Error problems_of(const std::string& text, const std::function<void(JsonReader&)>& read) {
  return error_of([&] {
    JsonDocument document = JsonDocument::parse(text, "x.json");
    JsonReader root = document.root();
    read(root);
    root.finish();
    document.finish();
  });
}

std::string message_of(const std::string& text, const std::function<void(JsonReader&)>& read) {
  const Error error = problems_of(text, read);
  CHECK(error.kind() == ErrorKind::usage);
  return error.what();
}

}  // namespace

TEST_CASE("json: a good document is read without a word") {
  JsonDocument document = JsonDocument::parse(
      R"({"s": "text", "i": -3, "u": 18446744073709551615, "d": 0.1, "b": true,
          "l": ["a", "b"], "o": {"k": 1}, "n": null})",
      "x.json");
  JsonReader root = document.root();
  CHECK(root.required("s").string() == "text");
  CHECK(root.required("i").integer() == -3);
  CHECK(root.required("u").unsigned_integer() == std::numeric_limits<std::uint64_t>::max());
  CHECK(root.required("d").number() == 0.1);
  CHECK(root.required("b").boolean());
  CHECK(root.required("l").strings() == std::vector<std::string>{"a", "b"});
  auto members = root.required("o").members();
  REQUIRE(members.size() == 1);
  CHECK(members[0].first == "k");
  CHECK(members[0].second.integer() == 1);
  CHECK(members[0].second.pointer() == "/o/k");
  CHECK_FALSE(root.optional("n").exists());
  CHECK_FALSE(root.optional("absent").exists());
  root.finish();
  CHECK_NOTHROW(document.finish());
}

TEST_CASE("json: all problems are reported at once, each with its pointer") {
  const std::string text =
      message_of(R"({"a": {"b": ["x", 2, {"deep/er": "no"}]}, "count": "3", "extra": 1})",
                 [](JsonReader& root) {
                   auto items = root.required("a").required("b").items();
                   items.at(0).string();
                   items.at(1).string();
                   items.at(2).required("deep/er").boolean();
                   root.required("count").integer();
                   root.required("absent").string();
                 });
  CHECK(text ==
        "x.json:/a/b/1: must be a string, not number\n"
        "x.json:/a/b/2/deep~1er: must be true or false, not \"no\"\n"
        "x.json:/count: must be an integer, not \"3\"\n"
        "x.json:/: 'absent' is missing\n"
        "x.json:/extra: unknown key 'extra'");
}

TEST_CASE("json: an unknown key names the nearest known one") {
  const Error error = problems_of(R"({"epocs": 1})", [](JsonReader& root) {
    root.optional("epochs");
    root.optional("seed");
  });
  CHECK(error.what() == std::string("x.json:/epocs: unknown key 'epocs'"));
  CHECK(error.hint() == "did you mean 'epochs'?");
  CHECK(problems_of(R"({"zzzzzzz": 1})", [](JsonReader& root) { root.optional("seed"); }).hint() ==
        "known keys are seed");
}

TEST_CASE("json: keys that begin with x- are free") {
  JsonDocument document = JsonDocument::parse(R"({"x-note": {"anything": [1]}, "a": 1})", "x.json");
  JsonReader root = document.root();
  root.required("a");
  root.finish();
  CHECK_NOTHROW(document.finish());
  CHECK(contains(message_of(R"({"xnote": 1})", [](JsonReader&) {}), "unknown key 'xnote'"));
}

TEST_CASE("json: duplicate keys are problems, wherever they stand") {
  const std::string text = message_of(
      R"({"a": 1, "l": [0, {"k": 1, "k": 2}], "a": 2, "b": {"a": 1}})", [](JsonReader& root) {
        root.required("a");
        root.required("l");
        root.required("b");
      });
  CHECK(text == "x.json:/l/1/k: the key stands twice\nx.json:/a: the key stands twice");
}

TEST_CASE("json: numbers") {
  const auto number = [](const std::string& text) {
    JsonDocument document = JsonDocument::parse("[" + text + "]", "x.json");
    const double value = document.root().items().at(0).number();
    document.finish();
    return value;
  };
  CHECK(number("3") == 3);
  CHECK(number("0.1") == 0.1);
  CHECK(number("-1e-300") == -1e-300);
  CHECK(std::isnan(number(R"("NaN")")));
  CHECK(number(R"("Infinity")") == std::numeric_limits<double>::infinity());
  CHECK(number(R"("-Infinity")") == -std::numeric_limits<double>::infinity());
  CHECK_THROWS_AS(number(R"("nan")"), Error);
  CHECK_THROWS_AS(number("true"), Error);
}

TEST_CASE("json: integers are integers in range") {
  const auto read = [](JsonReader& root) { root.required("i").integer(); };
  CHECK(contains(message_of(R"({"i": 1.0})", read), "must be an integer, not 1.0"));
  CHECK(contains(message_of(R"({"i": 9223372036854775808})", read), "too large"));
  CHECK(contains(
      message_of(R"({"i": -1})", [](JsonReader& root) { root.required("i").unsigned_integer(); }),
      "must be an integer that is not negative, not -1"));
}

TEST_CASE("json: a value of the wrong type is one problem, not one for each member asked for") {
  CHECK(message_of(R"(["a"])", [](JsonReader& root) {
          root.required("a").string();
          root.required("b").string();
          root.optional("c");
        }) == "x.json:/: must be an object, not array");
  CHECK(message_of(R"({"o": 1})", [](JsonReader& root) { root.required("o").members(); }) ==
        "x.json:/o: must be an object, not number");
  CHECK(message_of(R"({"o": {}})", [](JsonReader& root) { root.required("o").items(); }) ==
        "x.json:/o: must be an array, not object");
}

TEST_CASE("json: one of several words, names and paths") {
  const auto one_of = [](JsonReader& root) { root.required("v").one_of({"lower", "higher"}); };
  CHECK(problems_of(R"({"v": "highr"})", one_of).hint() == "did you mean 'higher'?");
  CHECK(contains(message_of(R"({"v": "other"})", one_of), "'other' is not one of lower, higher"));
  CHECK(contains(
      message_of(R"({"v": "../x"})", [](JsonReader& root) { root.required("v").relative_path(); }),
      "x.json:/v: '../x' is not a relative path that stays in its folder"));
  CHECK(contains(message_of(R"({"v": "Big"})", [](JsonReader& root) { root.required("v").name(); }),
                 "x.json:/v: 'Big' is not a name"));
}

TEST_CASE("json: a missing member gives defaults and one problem") {
  JsonDocument document = JsonDocument::parse("{}", "x.json");
  JsonReader root = document.root();
  JsonReader missing = root.required("a");
  CHECK_FALSE(missing.exists());
  CHECK(missing.string().empty());
  CHECK(missing.integer() == 0);
  CHECK(missing.number() == 0);
  CHECK_FALSE(missing.boolean());
  CHECK(missing.items().empty());
  CHECK(missing.members().empty());
  CHECK(missing.required("b").pointer() == "/a/b");
  CHECK(missing.one_of({"x", "y"}) == "x");
  CHECK(missing.name().empty());
  CHECK(error_of([&] { document.finish(); }).what() == std::string("x.json:/: 'a' is missing"));
}

TEST_CASE("json: what is no JSON is refused with line and column") {
  const auto refused = [](std::string_view text) {
    const Error error = error_of([&] { JsonDocument::parse(text, "x.json"); });
    CHECK(error.kind() == ErrorKind::usage);
    return std::string(error.what());
  };
  CHECK(refused("{\n  \"a\": 1,\n}").starts_with("x.json:3:1: not valid JSON: "));
  CHECK(refused("{} x").starts_with("x.json:1:4: not valid JSON: "));
  using namespace std::string_view_literals;
  CHECK(refused("{}\n\0,garbage"sv) == "x.json:2:1: not valid JSON: it has a NUL byte");
  CHECK(contains(refused("{}\0"sv), "NUL"));
  CHECK(contains(refused("[\"a\0b\"]"sv), "NUL"));
  CHECK(refused("").starts_with("x.json:1:1: not valid JSON: "));
  CHECK(refused("{'a': 1}").starts_with("x.json:1:2: "));
  CHECK(refused("[1, NaN]").starts_with("x.json:1:5: "));
  CHECK(contains(refused("[\"\xff\"]"), "UTF-8"));
  CHECK(contains(refused("// comment\n{}"), "x.json:1:1: "));
  CHECK(contains(refused("[1e999]"), "number overflow"));
  CHECK_FALSE(contains(refused("[1e999]"), "json.exception"));
  CHECK(refused(std::string(100'000, '[')) == "x.json: nested more than 64 levels deep");
}

TEST_CASE("json: messages are safe for a terminal") {
  const std::string text = message_of(R"({"\u001b[31m": 1})", [](JsonReader&) {});
  CHECK_FALSE(contains(text, "\x1b"));
}

TEST_CASE("json: a file is its own origin") {
  const test::TempHome home;
  write_file_atomically(home / "a.json", "{\"k\": 1}");
  JsonDocument document = JsonDocument::load(home / "a.json");
  document.root().finish();
  CHECK(
      contains(error_of([&] { document.finish(); }).what(), (home / "a.json").string() + ":/k: "));
  CHECK(error_of([&] { JsonDocument::load(home / "none.json"); }).kind() == ErrorKind::not_found);
}

TEST_CASE("json: written text is pretty and keeps doubles to the last bit") {
  const double third = 1.0 / 3;
  nlohmann::ordered_json value;
  value["b"] = third;
  value["a"] = {1, 2};
  const std::string text = pretty_json(value);
  CHECK(text == "{\n  \"b\": 0.3333333333333333,\n  \"a\": [\n    1,\n    2\n  ]\n}\n");
  CHECK(nlohmann::json::parse(text)["b"].get<double>() == third);
}

TEST_CASE("json: equal values have equal canonical text, whatever their order was") {
  const auto a = nlohmann::json::parse(R"({"b": 1, "a": {"y": 0.5, "x": "ü"}})");
  const auto b = nlohmann::json::parse(R"({ "a": {"x": "\u00fc", "y": 5e-1}, "b": 1 })");
  CHECK(canonical_json(a) == "{\"a\":{\"x\":\"ü\",\"y\":0.5},\"b\":1}");
  CHECK(canonical_json(a) == canonical_json(b));
}

TEST_CASE("json: non-finite numbers are strings") {
  CHECK(json_number(0.5) == nlohmann::json(0.5));
  CHECK(json_number(std::nan("")) == "NaN");
  CHECK(json_number(std::numeric_limits<double>::infinity()) == "Infinity");
  CHECK(json_number(-std::numeric_limits<double>::infinity()) == "-Infinity");
}
