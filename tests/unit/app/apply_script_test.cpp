#include "unit/app/workbench.hpp"

#include <sabath/app/apply_script.hpp>

using namespace sabath;
using test::contains;
using test::error_of;

namespace {

/// An asset without an environment, whose script takes a layout and threads.
spec::Asset asset() {
  spec::Asset made = test::full_asset();
  made.environment.reset();
  return made;
}

}  // namespace

TEST_CASE("apply script: all that is wrong with a call is told at once") {
  app::ScriptCall call;
  call.script = "convert";
  call.arguments = {{"layot", "rows"}, {"threads", "many"}};
  const base::Error error = error_of([&] { app::check_call(asset(), call); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "no argument 'layot'"));
  CHECK(contains(error.what(), "--arg: "));
  CHECK(contains(error.hint(), "'layout'"));
  call.script = "shred";
  CHECK(error_of([&] { app::check_call(asset(), call); }).kind() == base::ErrorKind::not_found);
}

TEST_CASE("apply script: a script without arguments takes none") {
  app::ScriptCall call;
  call.script = "split";
  call.arguments = {{"anything", "1"}};
  CHECK(contains(error_of([&] { app::check_call(asset(), call); }).what(), "no argument"));
}

TEST_CASE("apply script: the request is for the script's recipe and the bytes that were fetched") {
  const test::Workbench bench;
  assets::FetchedAsset fetched;
  fetched.version = "1.2";
  fetched.digest = base::sha256_of("tree");
  fetched.path = "/cache/trees/1";
  app::ScriptCall call;
  call.script = "convert";
  call.arguments = {{"layout", "columns"}};
  const auto request = app::script_request(asset(), fetched, call, bench.folders);
  CHECK(request.set == call.arguments);
  CHECK(request.seed == 1U);
  REQUIRE_FALSE(request.repetition.inputs.empty());
  CHECK(request.repetition.inputs.front().digest == fetched.digest);
  CHECK(request.again ==
        std::vector<std::string>{"fetch", "mlp", "--apply", "convert", "--arg", "layout=columns"});
  const auto file = request.recipe.directory / "recipe.json";
  const auto before = std::filesystem::last_write_time(file);
  app::script_request(asset(), fetched, call, bench.folders);
  CHECK(std::filesystem::last_write_time(file) == before);
}
