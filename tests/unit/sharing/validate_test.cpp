#include <sabath/base/file.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/env/lock_check.hpp>
#include <sabath/home/documents.hpp>
#include <sabath/sharing/validate.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;
using Catch::Contains;
using sharing::Validation;
namespace fs = std::filesystem;

namespace {

Validation validated(const fs::path& place, bool ready) {
  base::SilentObserver observer;
  return sharing::validate(place, ready, observer, {});
}

/// A folder with the shipped recipe digits, which has a lock.
class LockedRecipe {
 public:
  LockedRecipe() {
    for (const char* const name : {"recipe.json", "environment.lock.json"}) {
      fs::copy_file(fs::path(SABATH_SOURCE_DIR) / "recipes/digits" / name, folder_.path() / name);
    }
  }
  fs::path operator/(const char* name) const { return folder_.path() / name; }
  fs::path path() const { return folder_.path(); }
  void replace(const char* name, const std::string& from, const std::string& to) const {
    std::string text = base::read_file(*this / name);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    base::write_file_atomically(*this / name, text.replace(at, from.size(), to));
  }

 private:
  base::TempDir folder_{fs::temp_directory_path()};
};

}  // namespace

TEST_CASE("validate: the locks of the shipped recipes are current") {
  for (const auto& entry : fs::directory_iterator(fs::path(SABATH_SOURCE_DIR) / "recipes")) {
    if (!fs::exists(entry.path() / "environment.lock.json")) continue;
    INFO(entry.path());
    const Validation answer = validated(entry.path(), true);
    CHECK(answer.problem.empty());
    CHECK(answer.kind == "recipe");
  }
}

TEST_CASE("validate: a lock that does not answer the recipe is noted, and not ready") {
  const LockedRecipe recipe;
  CHECK(validated(recipe.path(), true).problem.empty());
  CHECK(validated(recipe / "environment.lock.json", true).kind == "lock");
  recipe.replace("recipe.json", "\"numpy>=2,<3\"", "\"numpy>=2.1,<3\"");
  const Validation noted = validated(recipe.path(), false);
  CHECK(noted.problem.empty());
  REQUIRE(noted.notes.size() == 1);
  CHECK_THAT(noted.notes.front(), Contains("is out of date") && Contains("sabath env lock"));
  CHECK_THAT(validated(recipe.path(), true).problem, Contains("is out of date"));
  CHECK_THAT(validated(recipe / "environment.lock.json", true).problem, Contains("out of date"));
  fs::remove(recipe / "environment.lock.json");
  CHECK_THAT(validated(recipe / "recipe.json", true).problem, Contains("is not locked"));
}

TEST_CASE("validate: a lock that was edited is not valid") {
  const LockedRecipe recipe;
  recipe.replace("environment.lock.json", "cloudpickle-3.1.2", "cloudpickle-9.9.9");
  CHECK_FALSE(validated(recipe / "environment.lock.json", false).problem.empty());
  CHECK_FALSE(validated(recipe.path(), false).problem.empty());
}

TEST_CASE("validate: a baseline without acceptance is noted, and not ready") {
  const base::TempDir folder(fs::temp_directory_path());
  const fs::path file = folder.path() / "baseline.json";
  base::write_file_atomically(
      file, R"({"schema": 1, "recipe": "tiny", "entries": [], "expected_failures": []})");
  CHECK(validated(file, false).kind == "baseline");
  CHECK(validated(file, false).problem.empty());
  CHECK_THAT(validated(file, true).problem, Contains("has no entry"));
  base::write_file_atomically(
      file, R"({"schema": 1, "recipe": "tiny", "entries": [1], "expected_failures": []})");
  CHECK_FALSE(validated(file, false).problem.empty());
}

TEST_CASE("validate: the text has the problem and the notes below the file") {
  const std::string text = sharing::text_of(
      {{"a.json", "recipe", "", false, {"a note"}}, {"b.json", "", "b.json: broken", false, {}}});
  CHECK(text == "valid    a.json  recipe\n  note: a note\ninvalid  b.json\n  b.json: broken\n");
}
