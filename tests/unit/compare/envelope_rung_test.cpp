#include "pair_maker.hpp"
#include "support/errors.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;
using compare::ReferenceSide;
using spec::Verdict;

namespace {

Run losses(const std::vector<double>& values) {
  return Run().report("train", "loss", values);
}

Run predicting(const std::vector<double>& values, const std::string& digest) {
  auto content = std::make_shared<Container>();
  content->put("y", base::ArrayType::float64, {values.size()}, values);
  return losses({1}).output("train", "p.h5", digest, content);
}

/// The reference and its reruns, which grow apart by 1e-6 and 1e-3.
struct Ensemble {
  Run reference = losses({1, 2, 3});
  std::vector<Run> reruns{
      losses({1, 2 + 1e-6, 3 - 1e-3}), losses({1, 2 - 5e-7, 3 + 5e-4}), losses({1, 2, 3 + 8e-4})};

  spec::Comparison against(const Run& other,
                           ReferenceSide side = ReferenceSide::a,
                           std::optional<spec::Rung> require = {}) const {
    std::vector<compare::Side> sides;
    for (const Run& rerun : reruns)
      sides.push_back(rerun.side());
    compare::Options options;
    options.require = require;
    options.reference = side;
    for (const compare::Side& rerun : sides)
      options.envelope.push_back(&rerun);
    return side == ReferenceSide::a ? compare_two(reference, other, judging({"loss"}), options)
                                    : compare_two(other, reference, judging({"loss"}), options);
  }
};

}  // namespace

TEST_CASE("envelope: what rounding alone can do passes, and says until where it was equal") {
  const auto found = Ensemble().against(losses({1, 2 + 9e-6, 3 + 9e-3}));
  CHECK(found.result == Verdict::pass);
  CHECK(found.metrics[0].within_envelope == true);
  CHECK_FALSE(found.metrics[0].strongest);
  CHECK(found.envelope_runs == 3);
  CHECK(contains(found.reason, "bitwise until step 2 (epoch 1) of train/loss, the envelope holds"));
}

TEST_CASE("envelope: beyond ten times of it fails at the first such step, from either side") {
  for (const ReferenceSide side : {ReferenceSide::a, ReferenceSide::b}) {
    const auto found = Ensemble().against(losses({1, 2 + 9e-6, 3 + 2e-2}), side);
    CHECK(found.result == Verdict::fail);
    REQUIRE(found.metrics[0].first_envelope);
    CHECK(found.metrics[0].first_envelope->position == 3);
    const bool b_is_reference = side == ReferenceSide::b;
    CHECK((b_is_reference ? found.metrics[0].first_envelope->b
                          : found.metrics[0].first_envelope->a) == 3);
    CHECK(contains(found.reason, "leaves the envelope"));
  }
}

TEST_CASE("envelope: the tolerance is allowed besides, and a stronger rung may be asked for") {
  CHECK(Ensemble().against(losses({1 + 1e-9, 2 + 9e-6, 3})).result == Verdict::pass);
  CHECK(Ensemble().against(losses({1 + 1e-5, 2, 3})).result == Verdict::fail);
  const auto required =
      Ensemble().against(losses({1, 2 + 9e-6, 3}), ReferenceSide::a, spec::Rung::tolerance);
  CHECK(required.result == Verdict::fail);
}

TEST_CASE("envelope: too few reruns, and reruns with other steps, are refused") {
  Ensemble few;
  few.reruns.pop_back();
  CHECK_THROWS_WITH(few.against(losses({1, 2, 4})), Catch::Contains("at least 3"));
  Ensemble other;
  other.reruns[1] = losses({1, 2});
  CHECK_THROWS_WITH(other.against(losses({1, 2, 4})), Catch::Contains("other steps"));
  other.reruns[1] = Run();
  CHECK_THROWS_WITH(other.against(losses({1, 2, 4})), Catch::Contains("has no train/loss"));
}

TEST_CASE("envelope: arrays have one too") {
  Ensemble ensemble;
  ensemble.reference = predicting({1, 2}, "r");
  ensemble.reruns = {
      predicting({1, 2 + 1e-4}, "1"), predicting({1, 2 - 1e-4}, "2"), predicting({1, 2}, "3")};
  const auto within = ensemble.against(predicting({1, 2 + 9e-4}, "x"));
  CHECK(within.result == Verdict::pass);
  const auto outside = ensemble.against(predicting({1 + 1e-4, 2}, "x"));
  CHECK(outside.result == Verdict::fail);
  CHECK(outside.outputs.at(0).first_envelope->where == "[0]");
  ensemble.reruns[2] = predicting({1, 2, 3}, "3");
  CHECK_THROWS_WITH(ensemble.against(predicting({1, 3}, "x")),
                    Catch::Contains("as its reference has it"));
}

TEST_CASE("envelope: arrays are opened as they are declared, of whatever numbers") {
  const auto of = [](base::ArrayType type, const auto& values, const std::string& digest) {
    auto content = std::make_shared<Container>();
    content->put("y", type, {values.size()}, values);
    Run run = losses({1}).output("train", "p.bin", digest, content);
    // As a file of bare numbers: none where nothing says what it is.
    run.outputs["train/p.bin"].open = [content](const spec::OutputRule& rule) {
      return rule.as == "raw" ? std::make_unique<MemorySource>(content) : nullptr;
    };
    return run;
  };
  compare::Rules rules = judging({"loss"});
  rules.outputs["p.bin"] = {"raw", {}};
  const auto held = [&](const Run& reference, const std::vector<Run>& reruns, const Run& other) {
    std::vector<compare::Side> sides;
    for (const Run& rerun : reruns)
      sides.push_back(rerun.side());
    compare::Options options;
    options.reference = ReferenceSide::a;
    for (const compare::Side& side : sides)
      options.envelope.push_back(&side);
    return compare_two(reference, other, rules, options);
  };
  const auto judged = [&](base::ArrayType type, auto at, auto near, auto within, auto beyond) {
    using Values = std::vector<decltype(at)>;
    const Run reference = of(type, Values{at, at}, "r");
    const std::vector<Run> reruns{of(type, Values{at, near}, "1"),
                                  of(type, Values{at, at}, "2"),
                                  of(type, Values{at, near}, "3")};
    INFO(base::to_string(type));
    CHECK(held(reference, reruns, of(type, Values{at, within}, "x")).result == Verdict::pass);
    const auto outside = held(reference, reruns, of(type, Values{at, beyond}, "x"));
    CHECK(outside.result == Verdict::fail);
    CHECK(outside.outputs.at(0).first_envelope->where == "[1]");
  };
  judged(base::ArrayType::float64, 1.0, 1.001, 1.009, 1.02);
  judged(base::ArrayType::float32, 1.0F, 1.001F, 1.009F, 1.02F);
  judged(base::ArrayType::int64,
         std::int64_t{100},
         std::int64_t{102},
         std::int64_t{119},
         std::int64_t{121});
  judged(base::ArrayType::int8, std::int8_t{10}, std::int8_t{11}, std::int8_t{0}, std::int8_t{-1});
  using Half = std::uint16_t;
  judged(base::ArrayType::float16, Half{0x3C00}, Half{0x3C08}, Half{0x3C48}, Half{0x3CF0});
  judged(base::ArrayType::bfloat16, Half{0x3F80}, Half{0x3F88}, Half{0x3FC0}, Half{0x4080});
  const std::vector<std::int64_t> large{(std::int64_t{1} << 60) + 1};
  const Run reference = of(base::ArrayType::int64, large, "r");
  const auto undecided =
      held(reference,
           {reference, reference, reference},
           of(base::ArrayType::int64, std::vector<std::int64_t>{large[0] + 1}, "x"));
  CHECK(undecided.result == Verdict::inconclusive);
  CHECK(contains(undecided.reason, "whole numbers beyond 2^53"));
}

TEST_CASE("envelope: where a rerun is not finite nothing is admitted, in series and in arrays") {
  const double infinite = std::numeric_limits<double>::infinity();
  Ensemble ensemble;
  ensemble.reruns[0] = losses({1, 2, std::numeric_limits<double>::quiet_NaN()});
  const auto unknown = ensemble.against(losses({1, 2, 1e9}));
  CHECK(unknown.result == Verdict::inconclusive);
  CHECK(contains(unknown.reason, "no envelope at step 3"));
  CHECK(ensemble.against(losses({1, 2.5, 1e9})).result == Verdict::fail);
  CHECK(ensemble.against(losses({1, 2, 3})).result == Verdict::pass);
  CHECK(ensemble.against(losses({1, 2, 1e9}), ReferenceSide::a, spec::Rung::tolerance).result ==
        Verdict::fail);
  ensemble.reference = predicting({1, 2}, "r");
  ensemble.reruns = {
      predicting({1, infinite}, "1"), predicting({1, 2 - 1e-4}, "2"), predicting({1, 2}, "3")};
  const auto array = ensemble.against(predicting({1, 1e9}, "x"));
  CHECK(array.result == Verdict::inconclusive);
  CHECK(contains(array.reason, "no envelope at [1]"));
}
