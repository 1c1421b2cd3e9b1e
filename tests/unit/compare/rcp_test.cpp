#include "support/errors.hpp"
#include "vectors.hpp"

#include <sabath/compare/rcp.hpp>

#include <limits>

using namespace sabath::compare;
using Catch::Contains;
using sabath::spec::Verdict;
using sabath::test::close_to;
using sabath::test::compare_vectors;

namespace {

RcpRules five_runs(RcpReading reading = RcpReading::code) {
  RcpRules rules;
  rules.submission_runs = 5;
  rules.reading = reading;
  return rules;
}

RcpRuns reference(std::uint64_t batch_size = 64) {
  const auto values = compare_vectors("statvec.json")["rcp"]["ref"];
  return {batch_size, values.get<std::vector<double>>()};
}

RcpRuns constant(std::uint64_t batch_size, double epochs) {
  return {batch_size, std::vector<double>(10, epochs)};
}

}  // namespace

TEST_CASE("rcp: both readings of MLPerf, as computed from its checker") {
  const auto vector = compare_vectors("statvec.json")["rcp"];
  const RcpPoint code = rcp_point(reference(), five_runs());
  CHECK(code.mean == close_to(vector["olympic_mean"]));
  CHECK(code.sd == close_to(vector["std_all_ddof0"]));
  CHECK(code.n_reference == vector["n_ref"]);
  CHECK(code.n_submission == vector["n_sub"]);
  // The quantile in the vector is that of an earlier SciPy, which is 1.4e-12 off; to 40 digits it
  // is 1.833112932656237168685..., and SciPy 1.17 has that too.
  CHECK(code.t == close_to(1.8331129326562372, 1e-14));
  CHECK(code.t == close_to(vector["t95"], 2e-12));
  CHECK(code.minimum == close_to(vector["min_all"]));
  CHECK(code.max_speedup == close_to(vector["max_speedup_all"]));
  const RcpPoint policy = rcp_point(reference(), five_runs(RcpReading::policy));
  CHECK(policy.sd == close_to(vector["std_trim_ddof0"]));
  CHECK(policy.minimum == close_to(vector["min_trim"]));
  CHECK(policy.max_speedup == close_to(vector["max_speedup_trim"]));
}

TEST_CASE("rcp: only too fast is a failure, and a little fast is scaled") {
  const std::vector<RcpRuns> references{reference()};
  const auto check = [&](double epochs) {
    return check_rcp(references, 64, std::vector<double>(5, epochs), five_runs());
  };
  CHECK(check(29.2).verdict == Verdict::fail);
  CHECK(check(30).verdict == Verdict::pass);
  CHECK(check(30).scale == close_to(31.125 / 30));
  CHECK(check(40).verdict == Verdict::pass);
  CHECK(check(40).scale == 1);
  // The two readings part between their minima.
  CHECK(check(29.5).verdict == Verdict::pass);
  CHECK(check_rcp(references, 64, std::vector<double>(5, 29.5), five_runs(RcpReading::policy))
            .verdict == Verdict::fail);
}

TEST_CASE("rcp: a run may fail to converge, two may not") {
  std::vector<double> epochs(5, 32);
  epochs[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK(check_rcp({reference()}, 64, epochs, five_runs()).verdict == Verdict::pass);
  epochs[0] = std::numeric_limits<double>::infinity();
  const RcpVerdict failed = check_rcp({reference()}, 64, epochs, five_runs());
  CHECK(failed.verdict == Verdict::fail);
  CHECK_THAT(failed.reason, Contains("2 runs did not converge"));
  CHECK(check_rcp({reference()}, 64, std::vector<double>(4, 32), five_runs()).verdict ==
        Verdict::inconclusive);
}

TEST_CASE("rcp: between two batch sizes on their line, below them all the smallest") {
  const std::vector<RcpRuns> references{constant(64, 20), constant(128, 30)};
  const auto at = [&](std::uint64_t batch_size) {
    return check_rcp(references, batch_size, std::vector<double>(5, 26), five_runs());
  };
  CHECK(at(96).point->mean == close_to(25));
  CHECK(at(96).point->interpolated);
  CHECK(at(96).point->n_reference == 10);
  CHECK(at(96).verdict == Verdict::pass);
  CHECK(at(128).verdict == Verdict::fail);
  CHECK(at(16).point->batch_size == 64);
  CHECK(at(256).verdict == Verdict::inconclusive);
  CHECK_THAT(at(256).reason, Contains("must be supplied"));
  CHECK(check_rcp({}, 64, std::vector<double>(5, 26), five_runs()).verdict ==
        Verdict::inconclusive);
}

TEST_CASE("rcp: points that a smaller or larger batch overtakes are pruned") {
  std::vector<RcpPoint> points;
  for (const RcpRuns& runs :
       {constant(32, 22), constant(64, 20), constant(128, 29), constant(256, 30)})
    points.push_back(rcp_point(runs, five_runs()));
  const std::vector<RcpPoint> left = prune(points, five_runs());
  REQUIRE(left.size() == 2);
  CHECK(left[0].batch_size == 64);
  CHECK(left[1].batch_size == 256);
}

TEST_CASE("rcp: too few reference runs are an error") {
  CHECK_THROWS_AS(rcp_point({64, {1, 2}}, five_runs()), sabath::base::Error);
  CHECK_THROWS_AS(rcp_point({64, {1, 2, HUGE_VAL, 4}}, five_runs()), sabath::base::Error);
  RcpRules two = five_runs();
  two.submission_runs = 2;
  CHECK_THROWS_AS(rcp_point(reference(), two), sabath::base::Error);
}

TEST_CASE("seeds: each run has one, and no two the same at one place") {
  const sabath::spec::SeedPlace seed{"7", "train.py", 12};
  CHECK(check_seeds({{seed}, {{"8", "train.py", 12}}}).verdict == Verdict::pass);
  CHECK(check_seeds({{seed, seed}, {{"7", "data.py", 12}}}).verdict == Verdict::pass);
  CHECK(check_seeds({{seed}, {{"7", "train.py", 13}}}).verdict == Verdict::pass);
  const SeedVerdict same = check_seeds({{seed}, {{"8", "train.py", 12}}, {seed}});
  CHECK(same.verdict == Verdict::fail);
  CHECK_THAT(same.reason, Contains("runs 1 and 3") && Contains("train.py:12"));
  CHECK(check_seeds({{seed}, {}}).verdict == Verdict::fail);
  CHECK(check_seeds({}).verdict == Verdict::inconclusive);
}

TEST_CASE("seeds: whole numbers of 64 bits to the last digit, and nothing else") {
  const auto verdict = [](const std::string& a, const std::string& b) {
    return check_seeds({{{a, "train.py", 1}}, {{b, "train.py", 1}}}).verdict;
  };
  // As doubles these are one.
  CHECK(verdict("9007199254740993", "9007199254740992") == Verdict::pass);
  CHECK(verdict("18446744073709551615", "18446744073709551614") == Verdict::pass);
  CHECK(verdict("18446744073709551615", "18446744073709551615") == Verdict::fail);
  CHECK(verdict("-9223372036854775808", "-9223372036854775807") == Verdict::pass);
  CHECK(verdict("007", "7") == Verdict::fail);
  for (const char* text : {"1.5", "1e3", "", "seven", "18446744073709551616", "7 "}) {
    INFO(text);
    CHECK(verdict("1", text) == Verdict::inconclusive);
  }
}
