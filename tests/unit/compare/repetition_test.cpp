#include "compare/repetition.hpp"

#include "pair_maker.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;
using spec::Repetition;

namespace {

Repetition kind_of(const Run& a, const Run& b) {
  const auto differences = compare::facet_differences(a.record, b.record);
  return compare::repetition_of(differences, a.record, b.record);
}

}  // namespace

TEST_CASE("repetition: a pair without differences is a repeat") {
  CHECK(compare::facet_differences(Run().record, Run().record).empty());
  CHECK(kind_of(Run(), Run("toy-2")) == Repetition::repeat);
}

TEST_CASE("repetition: each facet alone gives its kind") {
  const Run a;
  Run b;
  b.facet("seed")["seed"] = "2";
  CHECK(kind_of(a, b) == Repetition::resample);
  b = Run();
  b.facet("host")["cpu.model"] = "K7";
  CHECK(kind_of(a, b) == Repetition::reproduce);
  b = Run();
  b.facet("launch")["launcher"] = "slurm";
  CHECK(kind_of(a, b) == Repetition::reproduce);
  b = Run();
  b.record.user = "grace";
  CHECK(kind_of(a, b) == Repetition::reproduce);
  b = Run();
  b.facet("code")["commit"] = "beef";
  CHECK(kind_of(a, b) == Repetition::revise);
  b = Run();
  b.facet("environment")["code.key"] = "e2";
  CHECK(kind_of(a, b) == Repetition::replicate);
  b = Run();
  b.facet("parameters")["threads"] = "2";
  CHECK(kind_of(a, b) == Repetition::replicate);
}

TEST_CASE("repetition: what bears on the result makes the runs different") {
  const Run a;
  Run b;
  b.facet("parameters")["learning_rate"] = "0.1";
  CHECK(kind_of(a, b) == Repetition::different);
  b = Run();
  b.facet("data")["train"] = "digits 2 sha256:bb";
  CHECK(kind_of(a, b) == Repetition::different);
  b = Run();
  b.record.recipe_name = "game";
  CHECK(kind_of(a, b) == Repetition::different);
  b = Run();
  b.record.recipe_definition.hex = "bb";
  CHECK(kind_of(a, b) == Repetition::different);
}

TEST_CASE("repetition: a parameter is of the execution only where both runs say so") {
  const Run a;
  Run b;
  b.facet("parameters")["threads"] = "2";
  b.record.execution_parameters = {};
  CHECK(kind_of(a, b) == Repetition::different);
}

TEST_CASE("repetition: the first that matches wins") {
  const Run a;
  Run b;
  b.facet("seed")["seed"] = "2";
  b.facet("host")["cpu.model"] = "K7";
  CHECK(kind_of(a, b) == Repetition::reproduce);
  b.facet("code")["commit"] = "beef";
  CHECK(kind_of(a, b) == Repetition::revise);
  b.facet("parameters")["threads"] = "2";
  CHECK(kind_of(a, b) == Repetition::replicate);
  b.facet("data")["train"] = "other";
  CHECK(kind_of(a, b) == Repetition::different);
}

TEST_CASE("repetition: differences are told item by item, absent ones as empty") {
  Run a;
  Run b;
  a.facet("environment")["blas"] = "openblas";
  b.facet("environment")["note"] = "";
  b.facet("parameters")["threads"] = "2";
  b.facet("weather")["sky"] = "blue";
  using D = spec::FacetDifference;
  CHECK(compare::facet_differences(a.record, b.record) ==
        std::vector<D>{{"parameters", "threads", "1", "2"},
                       {"environment", "blas", "openblas", ""},
                       {"environment", "note", "", "(empty)"},
                       {"weather", "sky", "", "blue"}});
}

TEST_CASE("repetition: a file that both runs saw with other bytes is a difference") {
  Run a;
  Run b;
  a.facet("libraries") = {
      {"libc.so.6", "/lib/libc.so.6=aa"}, {"libonce.so", "/libonce.so=bb"}, {"blas", "A 1; B 2"}};
  b.facet("libraries") = {{"libc.so.6", "/lib/libc.so.6=aa"}, {"blas", "B 2"}};
  CHECK(compare::facet_differences(a.record, b.record).empty());
  b.facet("libraries")["libc.so.6"] = "/lib/libc.so.6=cc; /opt/libc.so.6=aa";
  b.facet("libraries")["blas"] = "B 3";
  using D = spec::FacetDifference;
  CHECK(
      compare::facet_differences(a.record, b.record) ==
      std::vector<D>{
          {"libraries", "blas", "A 1; B 2", "B 3"},
          {"libraries", "libc.so.6", "/lib/libc.so.6=aa", "/lib/libc.so.6=cc; /opt/libc.so.6=aa"}});
  CHECK(kind_of(a, b) == Repetition::reproduce);
}

TEST_CASE("repetition: which of two copies was seen is no difference") {
  const std::string one = "/env/libgomp.so.1=aa";
  const std::string two = "/usr/lib/libgomp.so.1=bb";
  Run a;
  Run b;
  const auto versions = [](const std::string& copies) {
    const bool is_old = copies.find("aa") != std::string::npos;
    const bool is_new = copies.find("bb") != std::string::npos;
    return std::string(is_old ? "GCC 12" : "") + (is_old && is_new ? "; " : "") +
           (is_new ? "GCC 13" : "");
  };
  const auto differs = [&](const std::string& its, const std::string& other) {
    a.facet("libraries") = {{"libgomp.so.1", its}, {"openmp", versions(its)}};
    b.facet("libraries") = {{"libgomp.so.1", other}, {"openmp", versions(other)}};
    return !compare::facet_differences(a.record, b.record).empty();
  };
  SECTION("when one of the runs says that it missed something") {
    a.record.software = spec::Software{};
    b.record.software = spec::Software{{}, {}, {"stage go: processes ended"}};
    CHECK_FALSE(differs(one, two));
    CHECK_FALSE(differs(two, one));
  }
  SECTION("when nothing is known of that") {
    CHECK_FALSE(differs(one, two));
  }
  SECTION("when the other run saw both") {
    a.record.software = b.record.software = spec::Software{};
    CHECK_FALSE(differs(one, one + "; " + two));
  }
  SECTION("but of runs that missed nothing they are different libraries") {
    a.record.software = b.record.software = spec::Software{};
    CHECK(differs(one, two));
    // The same bytes in another place are the same library.
    b.facet("libraries") = {{"libgomp.so.1", "/opt/libgomp.so.1=aa"}, {"openmp", "GCC 12"}};
    a.facet("libraries") = {{"libgomp.so.1", one}, {"openmp", "GCC 12"}};
    CHECK(compare::facet_differences(a.record, b.record).empty());
  }
  SECTION("and a copy that both runs have is compared though one has another, too") {
    CHECK(differs(one, "/env/libgomp.so.1=cc; " + two));
  }
  SECTION("a record with digests alone is not told to differ from one with paths") {
    a.record.software = b.record.software = spec::Software{};
    CHECK_FALSE(differs("aa", one));
  }
}

TEST_CASE("repetition: a record of an earlier sabath is not told to differ in what it has not") {
  const Run old;
  Run b;
  b.facet("libraries") = {{"libc.so.6", "aa"}};
  b.facet("determinism") = {{"OMP_NUM_THREADS", "2"}, {"sample_order", "x"}};
  b.facet("variables") = {{"PYTHONPATH", "/lib"}};
  CHECK(compare::facet_differences(old.record, b.record).empty());
  CHECK(compare::facet_differences(b.record, old.record).empty());
}

TEST_CASE("repetition: switches and threads are circumstances, the order of data is a seed's") {
  Run a;
  Run b;
  a.facet("determinism") = {{"sample_order", "x"}};
  b.facet("determinism") = {{"sample_order", "y"}};
  CHECK(kind_of(a, b) == Repetition::resample);
  b.facet("determinism") = {{"sample_order", "x"}, {"OMP_NUM_THREADS", "2"}};
  CHECK(kind_of(a, b) == Repetition::replicate);
}

TEST_CASE("repetition: variables of the session are of where it ran") {
  Run a;
  Run b;
  a.facet("variables") = {};
  b.facet("variables") = {{"PYTHONPATH", "/home/ada/lib"}};
  CHECK(kind_of(a, b) == Repetition::reproduce);
}

TEST_CASE("repetition: what an earlier version did not look for is not known to differ") {
  Run a;
  Run b;
  a.facet("determinism") = {};
  a.facet("variables") = {};
  b.facet("determinism") = {{"HF_HUB_OFFLINE", "1"}, {"DS_ACCELERATOR in stage go", "cpu"}};
  b.facet("variables") = {{"HF_HOME", "/models"}};
  b.facet("code")["repository proj"] = "beef";
  b.facet("code")["folder lib"] = "sha256:aa";
  b.facet("scope");
  CHECK(compare::facet_differences(a.record, b.record).empty());
  CHECK(compare::facet_differences(b.record, a.record).empty());
  SECTION("but for what both have, and what it did look for") {
    a.facet("code")["repository proj"] = "cafe";
    b.facet("determinism")["OMP_SCHEDULE"] = "dynamic";
    b.facet("code")["file {recipe}/../train.sh"] = "sha256:bb";
    CHECK(compare::facet_differences(a.record, b.record).size() == 3);
  }
  SECTION("but between records of versions that do") {
    a.facet("scope");
    CHECK(compare::facet_differences(a.record, b.record).size() == 5);
  }
}

TEST_CASE("repetition: an empty code folder, which earlier versions recorded, is none") {
  const Run a;
  Run b;
  b.facet("code")["tree"] = base::sha256_of("").text();
  CHECK(compare::facet_differences(a.record, b.record).empty());
  CHECK(compare::facet_differences(b.record, a.record).empty());
  CHECK(kind_of(a, b) == Repetition::repeat);
  b.facet("code")["tree"] = base::sha256_of("x").text();
  CHECK(kind_of(a, b) == Repetition::revise);
}

TEST_CASE("repetition: the layer that is built of the recipe's code is code, not environment") {
  Run a;
  Run b;
  a.facet("environment") = {
      {"code.key", "e1"}, {"code.source.tree", "sha256:1"}, {"code.cxx", "g++"}, {"py.key", "p1"}};
  b.facet("environment") = {
      {"code.key", "e2"}, {"code.source.tree", "sha256:2"}, {"code.cxx", "g++"}, {"py.key", "p2"}};
  CHECK(kind_of(a, b) == Repetition::replicate);  // the code does not differ
  a.facet("code")["tree"] = "sha256:1";
  b.facet("code")["tree"] = "sha256:2";
  CHECK(kind_of(a, b) == Repetition::revise);
  using D = spec::FacetDifference;
  CHECK(compare::facet_differences(a.record, b.record) ==
        std::vector<D>{{"code", "tree", "sha256:1", "sha256:2"}});
  const auto number_with = [&](const std::string& item, const std::string& value) {
    Run other = b;
    other.facet("environment")[item] = value;
    CHECK(kind_of(a, other) == Repetition::replicate);
    return compare::facet_differences(a.record, other.record).size();
  };
  CHECK(number_with("code.cxx", "clang++") == 5);
  CHECK(number_with("code.source.commit", "beef") == 5);  // a source from elsewhere
}
