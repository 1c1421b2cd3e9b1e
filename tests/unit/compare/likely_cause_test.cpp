#include "pair_maker.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <utility>

using namespace sabath;
using namespace sabath::test;
using base::ArrayType;
using base::no_step;
using Catch::Matchers::Contains;

namespace {

Run losses(const std::vector<double>& values) {
  return Run().report("train", "loss", values);
}

const std::string several = "one of these differences, or several together, may be the cause";
const std::string not_looked_at =
    "not looked at: variables of the session (not recorded by A and B), files that processes "
    "opened (not recorded by A and B), the network and the clock";

}  // namespace

TEST_CASE("cause: another order of summation shows after the first value") {
  Run b = losses({3, 2, 1.5, 1.25});
  b.facet("parameters")["threads"] = "2";
  b.facet("parameters")["reduction"] = "fast";
  const auto comparison = compare_two(losses({3, 2, 1.5, 1.2500001}), b, judging({"loss"}));
  CHECK(comparison.first_divergence_in == "train/loss");
  CHECK(comparison.first_divergence->position == 4);
  CHECK(comparison.likely_cause ==
        "the runs differ in execution parameters (reduction and threads); the first train/loss is "
        "equal, it diverges at step 4 (epoch 1): rounding in another order of floating-point "
        "operations, such as the order of summation, is the likely cause; " +
            not_looked_at);
}

TEST_CASE("cause: what rounding cannot have made is not said to come from it") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<double, double> pairs[] = {{nan, 1},
                                             {infinity, -infinity},
                                             {18446744073709551616.0, 1},
                                             {100000, 100001},
                                             {1, 4},
                                             {1, 1.000000001},
                                             {0.1234567890123, 0.1234567890124},
                                             {1.5, 1.5001},
                                             {1.5, 1.502}};
  for (const auto& [of_a, of_b] : pairs) {
    CAPTURE(of_a, of_b);
    const Run a = losses({of_a});
    Run b = losses({of_b});
    b.facet("parameters")["threads"] = "2";
    CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
               Contains("parameter threads differs, which may be the cause; " + not_looked_at));
    b.facet("parameters")["reduction"] = "fast";
    CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
               Contains("parameters reduction and threads differ, which may be the cause; " +
                        not_looked_at));
  }
}

TEST_CASE("cause: in the very first value rounding is a few hundred units in the last place") {
  const std::pair<double, double> pairs[] = {
      {0.1234567890123, 0.1234567890123 * (1 + 1e-14)}, {0.6931472, 0.6931475}, {1, 1.00001}};
  for (const auto& [of_a, of_b] : pairs) {
    CAPTURE(of_a, of_b);
    Run b = losses({of_b});
    b.facet("parameters")["threads"] = "2";
    CHECK_THAT(compare_two(losses({of_a}), b, judging({"loss"})).likely_cause,
               Contains("another order of floating-point operations in the very first value"));
  }
}

TEST_CASE("cause: rounding is not named where a metric or an output is missing or has no values") {
  Run a = losses({3}).output("train", "x.bin", "aa");
  Run b = losses({3}).output("train", "x.bin", "bb");
  b.outputs["train/x.bin"].size_bytes = 3;
  b.facet("parameters")["threads"] = "2";
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("parameter threads differs, which may be the cause"));
  b.outputs = a.outputs;
  b.record.outputs = a.record.outputs;
  a.series.clear();
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause, !Contains("floating-point"));
}

TEST_CASE("cause: a single difference is called the likely cause, several are only named") {
  const Run a = losses({3, 2});
  const struct {
    std::string facet;
    std::string item;
    std::string value;
    std::string says;
  } differences[] = {{"launch", "launcher", "slurm", "the way it was started"},
                     {"host", "cpu.model", "K7", "the processor"},
                     {"parameters", "threads", "2", "parameter threads differs, which may be"},
                     {"seed", "seed", "9", "initial weights"},
                     {"environment", "code.key", "e2", "the changed environment is the likely"},
                     {"code", "commit", "beef", "the changed code is the likely cause"}};
  CHECK_THAT(compare_two(a, losses({4, 2}), judging({"loss"})).likely_cause,
             Contains("nothing that is recorded differs; already the first train/loss differs, at "
                      "step 1") &&
                 Contains("not recorded or not determined") && Catch::EndsWith(not_looked_at));
  Run all = losses({4, 2});
  for (const auto& one : differences) {
    CAPTURE(one.facet);
    Run b = losses({4, 2});
    b.facet(one.facet)[one.item] = one.value;
    all.facet(one.facet)[one.item] = one.value;
    CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
               Contains(one.says) && Catch::EndsWith(not_looked_at) && !Contains(several));
    if (one.facet == "launch") continue;
    CHECK_THAT(compare_two(a, all, judging({"loss"})).likely_cause,
               Contains(several) && Contains("'sabath help explain'") &&
                   Catch::EndsWith(not_looked_at) && !Contains("likely cause"));
  }
}

TEST_CASE("cause: what was asked for otherwise is one cause, however much of it differs") {
  const Run a = losses({3, 2});
  Run b = losses({4, 2});
  b.facet("parameters")["learning_rate"] = "0.1";
  b.facet("data")["train"] = "digits 2 sha256:bb";
  compare::Options options;
  options.across = {"data", "parameters"};
  CHECK_THAT(compare_two(a, b, judging({"loss"}), options).likely_cause,
             Contains("asked for different things, which is cause enough"));
  b.facet("seed")["seed"] = "9";
  CHECK_THAT(compare_two(a, b, judging({"loss"}), options).likely_cause,
             Contains(several) && !Contains("cause enough"));
}

TEST_CASE("cause: a checkpoint is the likely cause where nothing else differs") {
  const Run a = losses({3, 2});
  Run b = losses({4, 2});
  b.record.stages.back().earlier_attempts = 1;
  const std::string joined =
      "B went on from a checkpoint in stage train, which A did not in the same way: ";
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains(joined + "what the code keeps in it, or does once more, is the likely"));
  b.facet("code")["commit"] = "beef";
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("the runs differ in code (commit)") && Contains(joined + several));
}

TEST_CASE(
    "cause: a perturbation that was asked for, and a run that did not end, are cause enough") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  for (Run* run : {&a, &b})
    run->record.execution_parameters = {"perturb_1ulp"};
  b.facet("parameters")["perturb_1ulp"] = "3";
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("the perturbation that was asked for is the likely cause"));
  b.facet("seed")["seed"] = "9";
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause, !Contains("perturbation"));
  b.record.state = spec::RunState::interrupted;
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("B is not complete (interrupted), which is cause enough"));
}

TEST_CASE("cause: a program of the host that was built again is named") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  a.facet("libraries") = {{"program.mysim", "/opt/bin/mysim=aa"}};
  b.facet("libraries") = {{"program.mysim", "/opt/bin/mysim=bb"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("libraries (program.mysim)") && Contains("a program that was built anew"));
  CHECK(compare_two(a, b, judging({"loss"})).repetition == spec::Repetition::replicate);
  b.facet("seed")["seed"] = "2";
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("libraries (program.mysim) and seed (seed)") && Contains(several));
  b.facet("seed") = a.facet("seed");
  b.facet("libraries") = {{"program.mysim", "/opt/bin/mysim=aa"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause, Contains("not recorded"));
}

TEST_CASE("cause: what is still equal where the runs part is told") {
  const Run a = losses({1, 1}).report("train", "gradient_norm", {5, 5});
  const Run b = losses({1, 2}).report("train", "gradient_norm", {6, 5});
  const auto comparison = compare_two(a, b, judging({"loss", "gradient_norm"}));
  CHECK(comparison.first_divergence_in == "train/gradient_norm");
  CHECK_THAT(comparison.likely_cause, Contains("(still equal there: train/loss)"));
}

TEST_CASE("cause: what has no value yet where the runs part is not called equal there") {
  Run a = losses(std::vector<double>(30, 1));
  Run b = a;
  b.series[0].value[4] = 2;  // step 5
  for (Run* run : {&a, &b}) {
    run->report("train", "gradient_norm", std::vector<double>(30, 1));
    run->report("train", "validation", {1, 1, 1});
    run->series[2].step.assign(3, no_step);
    run->series[2].epoch = {1, 2, 3};  // behind step 10
    run->report("train", "score", {1});
    run->series[3].step = {no_step};
    run->series[3].epoch = {no_step};
  }
  const compare::Rules rules = judging({"loss", "gradient_norm", "validation", "score"});
  const auto comparison = compare_two(a, b, rules);
  CHECK(comparison.first_divergence_in == "train/loss");
  CHECK_THAT(comparison.likely_cause, Contains("(still equal there: train/gradient_norm)"));
}

TEST_CASE("cause: of metrics that diverge at one step the first declared is named") {
  const Run a = losses({1, 1}).report("train", "error", {1, 1});
  const Run b = losses({1, 2}).report("train", "error", {1, 2});
  CHECK(compare_two(a, b, judging({"loss", "error"})).first_divergence_in == "train/loss");
  CHECK(compare_two(a, b, judging({"error", "loss"})).first_divergence_in == "train/error");
}

TEST_CASE("cause: an earlier stage comes first, its outputs before later metrics") {
  auto content_a = std::make_shared<Container>();
  auto content_b = std::make_shared<Container>();
  content_a->put<double>("field", ArrayType::float64, {2}, {1, 2});
  content_b->put<double>("field", ArrayType::float64, {2}, {1, 3});
  Run a = losses({1, 1});
  Run b = losses({2, 2});
  a.output("simulate", "s.h5", "aa", content_a).output("train", "w.h5", "cc");
  b.output("simulate", "s.h5", "bb", content_b).output("train", "w.h5", "cc");
  const auto comparison = compare_two(a, b, judging({"loss"}));
  CHECK(comparison.first_divergence_in == "simulate/s.h5:/field");
  CHECK_THAT(comparison.likely_cause,
             Contains("every earlier result is equal, simulate/s.h5:/field diverges first at [1]"));
  a.report("simulate", "mass", {1});
  b.report("simulate", "mass", {2});
  CHECK(compare_two(a, b, judging({"loss", "mass"})).first_divergence_in == "simulate/mass");
}

TEST_CASE("cause: a metric by epoch and one by step are put in the order of time") {
  Run a = losses(std::vector<double>(30, 1));
  Run b = a;
  b.series[0].value[14] = 2;  // step 15, in epoch 2
  for (Run* run : {&a, &b}) {
    run->report("train", "validation", {1, 1, 1});
    run->series[1].step.assign(3, no_step);
    run->series[1].epoch = {1, 2, 3};
  }
  b.series[1].value[1] = 2;  // at the end of epoch 2
  CHECK(compare_two(a, b, judging({"validation", "loss"})).first_divergence_in == "train/loss");
  b.series[1].value[0] = 2;
  CHECK(compare_two(a, b, judging({"validation", "loss"})).first_divergence_in ==
        "train/validation");
}

TEST_CASE("cause: a metric that tells no epochs is put by its steps") {
  Run a = losses(std::vector<double>(30, 1));
  Run b = a;
  b.series[0].value[14] = 2;  // step 15
  for (Run* run : {&a, &b}) {
    run->report("train", "gradient_norm", std::vector<double>(30, 1));
    run->series[1].epoch.assign(30, no_step);
    run->report("train", "validation", {1, 1, 1});
    run->series[2].step.assign(3, no_step);
    run->series[2].epoch = {1, 2, 3};
  }
  const compare::Rules rules = judging({"gradient_norm", "validation", "loss"});
  b.series[1].value[20] = 2;  // step 21
  const auto later = compare_two(a, b, rules);
  CHECK(later.first_divergence_in == "train/loss");
  CHECK_THAT(later.likely_cause,
             Contains("(still equal there: train/gradient_norm and train/validation)"));
  b.series[1].value[13] = 2;  // step 14
  CHECK(compare_two(a, b, rules).first_divergence_in == "train/gradient_norm");
  b.series[2].value[0] = 2;  // behind step 10
  CHECK(compare_two(a, b, rules).first_divergence_in == "train/validation");
  b.series[1].value[9] = 2;  // step 10
  CHECK(compare_two(a, b, rules).first_divergence_in == "train/gradient_norm");
}

TEST_CASE("cause: where steps begin anew in each epoch the epoch goes first") {
  Run a = losses(std::vector<double>(30, 1)).report("train", "error", std::vector<double>(30, 1));
  for (spec::Series& series : a.series) {
    for (std::size_t i = 0; i < series.step.size(); ++i)
      series.step[i] = static_cast<std::int64_t>(i % 10);
  }
  Run b = a;
  b.series[0].value[25] = 2;  // step 5 of epoch 3
  b.series[1].value[17] = 2;  // step 7 of epoch 2
  CHECK(compare_two(a, b, judging({"loss", "error"})).first_divergence_in == "train/error");
}

TEST_CASE("cause: a missing record is where runs part when no value differs") {
  const auto comparison = compare_two(losses({1, 2}), losses({1}), judging({"loss"}));
  CHECK(comparison.first_divergence_in == "train/loss");
  CHECK_FALSE(comparison.first_divergence);
  CHECK_THAT(comparison.likely_cause, Contains("train/loss is not the same: 1 record only in A"));
}

TEST_CASE("cause: another library is named before the files that came with it") {
  Run a = losses({3, 2});
  Run b = losses({3, 2.5});
  a.facet("libraries") = {{"blas", "OpenBLAS 0.3.20 (Haswell)"},
                          {"ld-linux-x86-64.so.2", "1"},
                          {"libc.so.6", "1"},
                          {"libm.so.6", "1"},
                          {"libopenblas.so.0", "1"}};
  b.facet("libraries") = {{"blas", "OpenBLAS 0.3.21 (Haswell)"},
                          {"ld-linux-x86-64.so.2", "2"},
                          {"libc.so.6", "2"},
                          {"libm.so.6", "2"},
                          {"libopenblas.so.0", "2"}};
  for (Run* run : {&a, &b})
    run->record.software = spec::Software{};
  const auto comparison = compare_two(a, b, judging({"loss"}));
  CHECK_THAT(comparison.likely_cause,
             Contains("the runs differ in libraries (blas, ld-linux-x86-64.so.2, libc.so.6 and 2 "
                      "more)") &&
                 Contains("other libraries compute in another order, or with other code"));
}

TEST_CASE("cause: programs that changed with the host are not the cause, switches are") {
  Run a = losses({3, 2});
  Run b = losses({3, 2.5});
  a.facet("libraries") = {{"bash", "0123456789abcdef"}, {"conmon", "0123456789abcdef"}};
  b.facet("libraries") = {{"bash", "0123456789abcdee"}, {"conmon", "0123456789abcdee"}};
  for (Run* run : {&a, &b})
    run->record.software = spec::Software{};
  b.facet("determinism") = {{"OMP_NUM_THREADS", "2"}};
  a.facet("determinism") = {{"OMP_NUM_THREADS", "1"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("bash and conmon") && Contains("switches and numbers of threads") &&
                 !Contains("other libraries compute"));
  a.facet("libraries")["mpi"] = "Open MPI v4.1.4";
  b.facet("libraries")["mpi"] = "Open MPI v5.0.1";
  CHECK_THAT(
      compare_two(a, b, judging({"loss"})).likely_cause,
      Contains("bash, conmon and mpi") && Contains("(OMP_NUM_THREADS)") && Contains(several));
}

TEST_CASE("cause: how many threads a library uses is told as such") {
  Run a = losses({3, 2});
  Run b = losses({3, 2.5});
  a.facet("libraries") = {{"openblas threads", "1"}};
  b.facet("libraries") = {{"openblas threads", "2"}};
  for (Run* run : {&a, &b})
    run->record.software = spec::Software{};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("openblas threads") && Contains("switches and numbers of threads"));
}

TEST_CASE("cause: an order of data that the code told is named") {
  Run a = losses({3, 2});
  Run b = losses({3, 2.5});
  a.facet("determinism") = {{"sample_order", "x"}};
  b.facet("determinism") = {{"sample_order", "y"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("the runs differ in determinism (sample_order)") &&
                 Contains("the order of the data is the likely cause"));
  b.facet("determinism") = {{"sample_order", "x"}, {"OMP_NUM_THREADS", "2"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("determinism (OMP_NUM_THREADS)") && Contains("switches and numbers"));
}

TEST_CASE("cause: a variable that leads to other code is named, and no race is guessed at") {
  Run a = losses({3, 2});
  Run b = losses({3, 2.5});
  a.facet("variables") = {{"LANG", "C"}, {"PYTHONPATH", "/home/ada/a"}};
  b.facet("variables") = {{"LANG", "C"}, {"PYTHONPATH", "/home/ada/b"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("the runs differ in variables (PYTHONPATH)") &&
                 Contains("what these variables lead to") && !Contains("race"));
}

TEST_CASE("cause: packages of a Python that is of no layer are known to be unknown") {
  Run a = losses({3, 2});
  Run b = losses({3, 2.5});
  for (Run* run : {&a, &b})
    run->facet("libraries") = {{"program.python3.11", "/usr/bin/python3.11=0123456789abcdef"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("nothing that is recorded differs") &&
                 Contains("such as packages of the host's Python, which is of no layer, a race"));
  spec::BuiltLayer layer;
  layer.packages.emplace();
  for (Run* run : {&a, &b})
    run->record.environment.layers = {layer};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("such as a race") && !Contains("Python"));
}

TEST_CASE("cause: packages of a Python that is of no layer are the cause where they differ") {
  Run a = losses({3, 2});
  Run b = losses({3, 2.5});
  a.facet("packages") = {{"numpy", "1.26.4; 2.4.6"}, {"six", "1.16.0"}};
  b.facet("packages") = {{"numpy", "2.4.6"}, {"six", "1.17.0"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("the runs differ in packages (six)") &&
                 Contains("other packages of Python are the likely cause"));
  b.facet("packages") = {{"numpy", "2.4.6"}};
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("the runs differ in packages (six)"));
  // Of what was reused nothing is known.
  spec::StageRecord stage;
  stage.state = "reused";
  b.record.stages.push_back(stage);
  CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause,
             Contains("nothing that is recorded differs") && !Contains("Python"));
}

TEST_CASE("cause: files around the recipe's folder are named where nothing else differs") {
  Run a = losses({3, 2});
  Run b = losses({4, 2});
  a.around = {{"the commit", "aa"}, {"src/mod.py", "x"}, {"src/same.py", "y"}};
  b.around = {{"the commit", "aa"}, {"src/mod.py", "z"}, {"src/same.py", "y"}, {"new.py", "?"}};
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const std::string cause = compare_two(*one, *other, judging({"loss"})).likely_cause;
    CHECK_THAT(cause,
               Contains("folder was in another state (new.py and src/mod.py)") &&
                   Contains("likely cause where the code uses it") && !Contains("race"));
  }
  SECTION("but not where something else does") {
    b.facet("seed")["seed"] = "2";
    CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause, !Contains("src/mod.py"));
  }
  SECTION("nor where one side does not know of them") {
    b.around.clear();
    CHECK_THAT(compare_two(a, b, judging({"loss"})).likely_cause, Contains("nothing that is"));
  }
}
