#include "support/temp_home.hpp"

#include <sabath/analysis/again_differences.hpp>
#include <sabath/base/file.hpp>
#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using analysis::again_differences;

TEST_CASE("again: a file that is gone, or has other content, comes first") {
  const test::TempHome folder;
  const std::string factor = (folder / "factor.txt").string();
  spec::RunRecord run;
  spec::RunRecord again;
  run.facets = {{"opened", {{"method", "fanotify"}, {factor, "2 bytes, sha256:aa"}}}};
  again.facets = {{"opened", {{"method", "fanotify"}}}};
  CHECK(again_differences(
            run,
            again,
            {{"host", "cpu.model", "K6", "K7"}, {"opened", factor, "2 bytes, sha256:aa", ""}}) ==
        "the file " + factor + " is not here now, host differs (cpu.model)");
  // Where opens were sampled, or the run failed, no difference is known.
  CHECK(again_differences(run, again, {}) == "the file " + factor + " is not here now");
  CHECK(again_differences(run, {}, {}) == "the file " + factor + " is not here now");
  base::write_file_atomically(factor, "3\n", base::Durability::ordered_only);
  CHECK(again_differences(run, again, {}).empty());
  CHECK(again_differences(
            run, again, {{"opened", factor, "2 bytes, sha256:aa", "2 bytes, sha256:bb"}}) ==
        "the file " + factor + " has other content now");
}

TEST_CASE("again: what differs is listed up to the third") {
  const std::vector<spec::FacetDifference> differences{{"session", "X", "set", ""},
                                                       {"host", "a", "", ""},
                                                       {"host", "b", "", ""},
                                                       {"host", "c", "", ""}};
  CHECK(
      again_differences({}, {}, differences) ==
      "variable X of the session is not as it was, host differs (a), host differs (b), and 1 more");
  CHECK(again_differences({}, {}, {}).empty());
}
