#include "pair_maker.hpp"

#include <sabath/compare/session_differences.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

/// A value of the facet, as one of two homes has it.
std::string digest(char home, char value) {
  return std::string(16, home) + std::string(48, value);
}

Run losses(const std::vector<double>& values) {
  Run run = Run().report("train", "loss", values);
  run.facet("session") = {{"HOME", digest('a', '0')}, {"MYFACTOR", digest('a', '1')}};
  run.facet("opened") = {{"method", "fanotify"}};
  return run;
}

std::string cause_of(const Run& a, const Run& b) {
  return compare_two(a, b, judging({"loss"})).likely_cause;
}

const std::string several = "one of these differences, or several together, may be the cause";

}  // namespace

TEST_CASE("session: a variable with another value is named, and decides nothing") {
  const Run a = losses({3, 2});
  Run b = losses({4, 2});
  b.facet("session")["MYFACTOR"] = digest('a', '2');
  const auto comparison = compare_two(a, b, judging({"loss"}));
  CHECK(comparison.repetition == spec::Repetition::repeat);
  CHECK(comparison.required_from == "a repeat of a deterministic recipe");
  CHECK(comparison.differences ==
        std::vector<spec::FacetDifference>{
            {"session", "MYFACTOR", "set (digest 111111111111)", "set (digest 222222222222)"}});
  CHECK_THAT(comparison.likely_cause,
             Contains("the runs differ in variables of the session (MYFACTOR)") &&
                 Contains("MYFACTOR differs between the sessions, which is the likely cause where "
                          "the code reads it (of values only digests are kept)") &&
                 EndsWith("not looked at: the network and the clock") && !Contains("race"));
  b.facet("session").erase("MYFACTOR");
  b.facet("session")["OTHER"] = digest('a', '3');
  CHECK_THAT(cause_of(a, b), Contains("MYFACTOR and OTHER differ between the sessions"));
}

TEST_CASE("session: where something else differs, too, none of both is called the likely cause") {
  const Run a = losses({3, 2});
  Run b = losses({4, 2});
  b.facet("session")["MYFACTOR"] = digest('a', '2');
  b.facet("parameters")["threads"] = "2";
  CHECK_THAT(cause_of(a, b),
             Contains("execution parameters (threads) and variables of the session (MYFACTOR)") &&
                 Contains(several) && !Contains("likely cause"));
  b.facet("parameters")["threads"] = "1";
  b.facet("code")["tree"] = "beef";
  CHECK_THAT(cause_of(a, b),
             Contains("the runs differ in code (tree) and variables of the session (MYFACTOR)") &&
                 Contains(several) && EndsWith("not looked at: the network and the clock") &&
                 !Contains("likely cause"));
}

TEST_CASE("session: digests of two homes are unknown, never different") {
  const Run a = losses({3, 2});
  Run b = losses({4, 2});
  b.facet("session") = {{"HOME", digest('b', '0')}, {"ONLY_B", digest('b', '7')}};
  CHECK(compare::session_differences(a.record, b.record).empty());
  CHECK_THAT(cause_of(a, b),
             Contains("nothing that is recorded differs") &&
                 Contains("not looked at: variables of the session (unknown: digests of two homes "
                          "cannot be compared)"));
  // Neither are names without digests.
  b.facet("session") = {{"HOME", ""}, {"ONLY_B", ""}};
  CHECK(compare::session_differences(a.record, b.record).empty());
  CHECK_THAT(cause_of(a, b), Contains("unknown"));
}

TEST_CASE("session: an earlier record has none, which is no difference") {
  const Run a = losses({3, 2});
  Run b = Run().report("train", "loss", {4, 2});
  CHECK(compare::session_differences(a.record, b.record).empty());
  CHECK(compare::opened_differences(a.record, b.record).empty());
  CHECK(compare_two(a, b, judging({"loss"})).differences.empty());
  CHECK_THAT(cause_of(a, b),
             Contains("a race") && Contains("variables of the session (not recorded by B)") &&
                 Contains("files that processes opened (not recorded by B)"));
  CHECK_THAT(cause_of(b, b.report("train", "other", {1})), Catch::Matchers::Equals(""));
}

TEST_CASE("session: what changes with each login is no difference") {
  const Run a = losses({3, 2});
  Run b = losses({3, 2});
  for (const char* name : {"SSH_CONNECTION",
                           "SSH_AUTH_SOCK",
                           "XDG_SESSION_ID",
                           "XDG_RUNTIME_DIR",
                           "DISPLAY",
                           "WAYLAND_DISPLAY",
                           "TERM",
                           "PWD",
                           "OLDPWD",
                           "SHLVL",
                           "_",
                           "TMUX_PANE",
                           "SLURM_JOB_ID",
                           "SLURM_STEP_NODELIST",
                           "PBS_JOBID",
                           "LSB_JOBID",
                           "GNOME_SETUP_DISPLAY",
                           "HOME"})
    b.facet("session")[name] = digest('a', '9');
  CHECK(compare::session_differences(a.record, b.record).empty());
  CHECK_FALSE(compare::session_differences(Run().record, b.record).size() > 0);
}

TEST_CASE("session: a variable whose value is known is not named a second time") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  a.facet("session")["TZ"] = digest('a', '5');
  b.facet("session")["TZ"] = digest('a', '6');
  a.facet("variables") = {{"TZ", "UTC"}};
  b.facet("variables") = {{"TZ", "CET"}};
  CHECK(compare::session_differences(a.record, b.record).empty());
  CHECK_THAT(cause_of(a, b), Contains("the runs differ in variables (TZ)"));
}

TEST_CASE("opened: a file with other content is the likely cause") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  a.facet("opened")["/data/factor.txt"] = "2 bytes, sha256:aa";
  b.facet("opened")["/data/factor.txt"] = "2 bytes, sha256:bb";
  CHECK_THAT(cause_of(a, b),
             Contains("the runs differ in files that they opened (/data/factor.txt)") &&
                 EndsWith("/data/factor.txt was not the same for both, which is the likely cause; "
                          "not looked at: the network and the clock"));
  // Without a digest only the size tells.
  b.facet("opened")["/data/factor.txt"] = "2 bytes";
  CHECK(compare::opened_differences(a.record, b.record).empty());
  b.facet("opened")["/data/factor.txt"] = "3 bytes";
  CHECK(compare::opened_differences(a.record, b.record).size() == 1);
  b.facet("session")["MYFACTOR"] = digest('a', '2');
  CHECK_THAT(cause_of(a, b),
             Contains("variables of the session (MYFACTOR)") && Contains("(/data/factor.txt)") &&
                 Contains(several) && !Contains("likely cause"));
}

TEST_CASE("opened: a file of code elsewhere that differs is no second cause") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  a.facet("code")["repository src"] = "c0ffee";
  b.facet("code")["repository src"] = "c0ffee + sha256:aa";
  a.facet("opened")["/home/ada/src/mod.py"] = "2 bytes, sha256:aa";
  b.facet("opened")["/home/ada/src/mod.py"] = "2 bytes, sha256:bb";
  CHECK_THAT(cause_of(a, b), Contains("the changed code is the likely cause"));
  a.facet("opened")["/data/factor.txt"] = "2 bytes, sha256:aa";
  b.facet("opened")["/data/factor.txt"] = "2 bytes, sha256:bb";
  CHECK_THAT(cause_of(a, b), Contains(several) && !Contains("likely cause"));
}

TEST_CASE("opened: a file around the recipe's folder is no second cause") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  a.around = {{"src/mod.py", "x"}};
  b.around = {{"src/mod.py", "y"}};
  a.facet("opened")["/home/ada/src/mod.py"] = "2 bytes, sha256:aa";
  b.facet("opened")["/home/ada/src/mod.py"] = "2 bytes, sha256:bb";
  CHECK_THAT(cause_of(a, b),
             Contains("/home/ada/src/mod.py was not the same for both, which is the likely cause"));
  a.around["src/other.py"] = "x";
  CHECK_THAT(cause_of(a, b),
             Contains("src/other.py") && Contains(several) && !Contains("likely cause"));
}

TEST_CASE("opened: what only one run opened counts where neither can have missed one") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  b.facet("opened")["/data/extra.txt"] = "2 bytes, sha256:bb";
  CHECK(
      compare::opened_differences(a.record, b.record) ==
      std::vector<spec::FacetDifference>{{"opened", "/data/extra.txt", "", "2 bytes, sha256:bb"}});
  SECTION("not where one was sampled") {
    a.facet("opened")["method"] = "sampling";
    CHECK(compare::opened_differences(a.record, b.record).empty());
    CHECK_THAT(cause_of(a, b), Contains("files that were open for a short time"));
  }
  SECTION("not where one has a note") {
    a.facet("opened")["note 1"] = "files were opened faster than they could be listed";
    CHECK(compare::opened_differences(a.record, b.record).empty());
    CHECK_THAT(cause_of(a, b), Contains("files that a record notes as not seen"));
  }
  SECTION("not where a stage was reused") {
    a.record.stages.front().state = "reused";
    CHECK(compare::opened_differences(a.record, b.record).empty());
    CHECK_THAT(cause_of(a, b), Contains("what reused stages had read"));
  }
}

TEST_CASE("opened: a program that one run opened and the other loaded is no difference") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  const std::string digest(64, 'd');
  a.facet("opened")["/opt/bin/mysleep"] = "43888 bytes, sha256:" + digest;
  b.record.software.emplace();
  b.record.software->libraries.push_back(
      {"/opt/bin/mysleep", 43888, {base::DigestAlgorithm::sha256, digest}, "", {"train"}});
  SECTION("with one digest") {
    CHECK(compare::opened_differences(a.record, b.record).empty());
    CHECK(compare::opened_differences(b.record, a.record).empty());
    CHECK(compare_two(a, b, judging({"loss"})).differences.empty());
  }
  SECTION("with other bytes it is one") {
    b.record.software->libraries.front().digest.hex = std::string(64, 'e');
    CHECK(compare::opened_differences(a.record, b.record) ==
          std::vector<spec::FacetDifference>{{"opened",
                                              "/opt/bin/mysleep",
                                              "43888 bytes, sha256:" + digest,
                                              "43888 bytes, sha256:" + std::string(64, 'e')}});
    // Of sampled files, too: both runs have seen this one.
    a.facet("opened")["method"] = "sampling";
    CHECK(compare::opened_differences(b.record, a.record).size() == 1);
  }
  SECTION("without a digest the size tells") {
    a.facet("opened")["/opt/bin/mysleep"] = "43888 bytes";
    CHECK(compare::opened_differences(a.record, b.record).empty());
    a.facet("opened")["/opt/bin/mysleep"] = "43889 bytes";
    CHECK(compare::opened_differences(a.record, b.record).size() == 1);
  }
}
