#include "execution/record/run_software.hpp"

#include "execution/record/library_questions.hpp"
#include "execution/record/run_steps.hpp"
#include "support/temp_home.hpp"

#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;

namespace {

/// Takes what it is to run for a library that is asked, and answers as it is told to.
class Asked final : public base::ProcessRunner {
 public:
  base::ProcessResult run(const base::Command& command, std::stop_token) override {
    ++times;
    environment = command.environment.value_or(base::Environment{});
    return answer;
  }
  base::ProcessResult answer{};
  base::Environment environment{};
  int times = 0;
};

base::ProcessResult failed(const std::string& words) {
  base::ProcessResult result;
  result.exit_code = 1;
  result.errors = "says: " + words + "\n";
  return result;
}

struct Questions {
  TempHome home{};
  Asked asked{};
  std::vector<std::string> notes{};
  base::Environment environment{};

  probe::LibraryAnswer ask() {
    execution::LibraryQuestions questions(asked, "sabath", {}, home.path(), {});
    return questions.ask(library, environment, notes);
  }
  spec::LoadedLibrary library{"/lib/libopenblas.so", 3, base::sha256_of("x"), "", {"go"}};
};

spec::LoadedLibrary library(const std::string& path, const std::string& content) {
  return {path, 1, base::sha256_of(content), "", {"go"}};
}

std::string head(const std::string& content) {
  return base::sha256_of(content).hex.substr(0, 16);
}

}  // namespace

TEST_CASE("questions: an answer is kept, also what a loader finds wrong with the library") {
  Questions questions;
  SECTION("an answer") {
    questions.asked.answer.output = "sabath-version\tblas\tOpenBLAS 0.3.21\n";
    CHECK(questions.ask().versions.at("blas") == "OpenBLAS 0.3.21");
    CHECK(questions.ask().versions.at("blas") == "OpenBLAS 0.3.21");
    CHECK(questions.notes.empty());
  }
  SECTION("a symbol that is missing") {
    questions.asked.answer = failed("/lib/libopenblas.so: undefined symbol: x");
    questions.ask();
    questions.ask();
    CHECK(questions.notes.size() == 2);
  }
  CHECK(questions.asked.times == 1);
}

TEST_CASE("questions: what went wrong with the asking is told, and asked again") {
  Questions questions;
  SECTION("it took too long") {
    questions.asked.answer.end = base::ProcessEnd::timed_out;
  }
  SECTION("it was killed") {
    questions.asked.answer.end = base::ProcessEnd::signaled;
    questions.asked.answer.signal = 9;
  }
  SECTION("the file could not be read") {
    questions.asked.answer =
        failed("/lib/libopenblas.so: cannot read file data: Input/output error");
  }
  questions.ask();
  REQUIRE(questions.notes.size() == 1);
  CHECK(questions.notes.front().find("/lib/libopenblas.so: could not be asked") == 0);
  questions.asked.answer = {};
  questions.asked.answer.output = "sabath-version\tblas\tOpenBLAS 0.3.21\n";
  CHECK(questions.ask().versions.at("blas") == "OpenBLAS 0.3.21");
  CHECK(questions.notes.size() == 1);
}

TEST_CASE("questions: within a run what went wrong is not waited for twice") {
  Questions questions;
  questions.asked.answer.end = base::ProcessEnd::timed_out;
  execution::LibraryQuestions same(questions.asked, "sabath", {}, questions.home.path(), {});
  same.ask(questions.library, {{"HOME", "/a"}}, questions.notes);
  same.ask(questions.library, {{"HOME", "/b"}}, questions.notes);
  CHECK(questions.asked.times == 1);
  CHECK(questions.notes.size() == 1);
  same.ask(questions.library, {{"OMP_NUM_THREADS", "2"}}, questions.notes);
  CHECK(questions.asked.times == 2);
}

TEST_CASE("questions: what a stage preloads is not loaded into the one who asks") {
  Questions questions;
  questions.environment = {
      {"LD_AUDIT", "a.so"}, {"LD_LIBRARY_PATH", "/opt"}, {"LD_PRELOAD", "libprofiler.so"}};
  questions.ask();
  CHECK(questions.asked.environment == base::Environment{{"LD_LIBRARY_PATH", "/opt"}});
}

TEST_CASE("facet libraries: copies of one name stand under it, whichever were seen") {
  execution::FoundSoftware found;
  const spec::RunPlan plan;
  const auto item = [&](std::vector<spec::LoadedLibrary> libraries) {
    found.software.libraries = std::move(libraries);
    return execution::libraries_facet(found, plan, "/runs/1").items;
  };
  const auto one = library("/env/libgomp.so.1", "a");
  const auto two = library("/usr/lib/libgomp.so.1", "b");
  using Items = std::map<std::string, std::string>;
  CHECK(item({one}) == Items{{"libgomp.so.1", "/env/libgomp.so.1=" + head("a")}});
  CHECK(item({one, two}) ==
        Items{{"libgomp.so.1",
               "/env/libgomp.so.1=" + head("a") + "; /usr/lib/libgomp.so.1=" + head("b")}});
  CHECK(item({library("/bin/bash", "c"), library("/usr/bin/conmon", "d")}).empty());
  CHECK(item({library("/runs/1/libown.so", "e")}).empty());
  // Neither the environment nor the code says which build of it ran.
  CHECK(item({library("/opt/bin/mysim", "f")}) ==
        Items{{"program.mysim", "/opt/bin/mysim=" + head("f")}});
}

TEST_CASE("software: packages that differ between the steps of a run have the versions of each") {
  spec::RunRecord earlier;
  earlier.software.emplace();
  earlier.software->packages = {{"numpy", "1.26; 2.0"}, {"one", "1"}};
  spec::RunRecord record;
  execution::FoundSoftware found;
  found.software.packages = {{"numpy", "2.0; 2.1"}, {"two", "2"}};
  execution::put_before(earlier, record, found);
  using Packages = std::map<std::string, std::string>;
  CHECK(*found.software.packages ==
        Packages{{"numpy", "1.26; 2.0; 2.1"}, {"one", "1"}, {"two", "2"}});
}
