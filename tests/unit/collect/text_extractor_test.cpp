#include "support/stage_left.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace sabath;
using Catch::Contains;
using spec::SourceKind;
using test::metric_from;
using test::StageLeft;
using Values = std::vector<double>;

TEST_CASE("collect: a pattern takes value, step, epoch and time from its groups") {
  StageLeft left;
  left.out("starting\n2026-01-01 00:00:01,500 epoch 2 step 10: loss=0.30000000000000004\nend\n");
  const auto got = left.collect({metric_from(
      "loss",
      SourceKind::regex,
      R"(^(?<time>[\d-]+ [\d:,]+) epoch (?<epoch>\d+) step (?<step>\d+): loss=(?<value>\S+))")});
  CHECK(got.points == 1);
  CHECK(left.values("loss") == Values{0.1 + 0.2});
  CHECK(left.point("loss", 0).epoch == 2);
  CHECK(left.point("loss", 0).step == 10);
  CHECK(left.point("loss", 0).time_s == 1767225601.5);
  CHECK(got.collected.empty());
}

TEST_CASE("collect: metrics that share a pattern have a group each, called as they are") {
  StageLeft left;
  left.file("own/stderr.log", "l 1.5 a 0.25\nl 1.25 a 0.5\n");
  const std::string pattern = R"(l (?<loss>\S+) a (?<accuracy>\S+))";
  left.collect({metric_from("loss", SourceKind::regex, pattern),
                metric_from("acc", SourceKind::regex, pattern, "stderr", "accuracy")});
  CHECK(left.values("loss") == Values{1.5, 1.25});
  CHECK(left.values("acc") == Values{0.25, 0.5});
}

TEST_CASE("collect: a match without a value says step and epoch for the lines that follow") {
  StageLeft left;
  left.out("Epoch 1/2\nloss 4\nloss 3\nEpoch 2/2\nloss 2\n");
  left.collect(
      {metric_from("loss", SourceKind::regex, R"(Epoch (?<epoch>\d+)|loss (?<value>\S+))")});
  REQUIRE(left.values("loss") == Values{4, 3, 2});
  CHECK(left.point("loss", 1).epoch == 1);
  CHECK(left.point("loss", 2).epoch == 2);
}

TEST_CASE("collect: every state of a progress bar is a line") {
  StageLeft left;
  left.out("10% loss=3\r20% loss=2\r30% loss=1\n");
  left.collect({metric_from("loss", SourceKind::key_value)});
  CHECK(left.values("loss") == Values{3, 2, 1});
}

TEST_CASE("collect: files of a pattern are ranks, and beneath outputs or the working folder") {
  StageLeft left;
  left.file("outputs/logs/r0.txt", "v 1\n").file("outputs/logs/r1.txt", "v 2\n");
  left.file("own/work/r2.txt", "v 3\n").file("own/work/r2.csv", "v 4\n");
  left.collect({metric_from("v", SourceKind::regex, R"(v (\d))", "*r?.txt")});
  REQUIRE(left.values("v").size() == 3);
  std::map<std::int32_t, double> by_rank;
  for (const auto& point : left.sink.points.at("train/v"))
    by_rank[point.rank] = point.value;
  CHECK(by_rank.size() == 3);
  left.collect({metric_from("v", SourceKind::regex, R"(v (\d))", "r2.csv")});
  CHECK(left.values("v") == Values{4});
}

TEST_CASE("collect: a group can say the rank") {
  StageLeft left;
  left.out("[1,0]<stdout>: v 5\n[1,3]<stdout>: v 6\n");
  left.collect({metric_from("v", SourceKind::regex, R"(\[1,(?<rank>\d+)\].* v (?<value>\d+))")});
  CHECK(left.point("v", 0).rank == 0);
  CHECK(left.point("v", 1).rank == 3);
}

TEST_CASE("collect: a rank that is none is no other rank's") {
  StageLeft left;
  left.out("rank=4294967296 loss=1\nrank=-1 loss=2\nrank=0 loss=3\nrank=2147483647 loss=4\n");
  const auto got = left.collect(
      {metric_from("v", SourceKind::regex, R"(rank=(?<rank>\S+) loss=(?<value>\S+))")});
  CHECK(left.values("v") == Values{3, 4});
  CHECK(left.point("v", 1).rank == 2147483647);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes.front(),
             Catch::Contains("2 match(es)") && Catch::Contains("'4294967296'"));
}

TEST_CASE("collect: keys and values as people print them") {
  struct Case {
    const char* line;
    Values expected;
  };
  const Case cases[] = {{"loss=0.5", {0.5}},
                        {"loss: 0.5 - acc: 0.9", {0.5}},
                        {"loss 12.5ms", {12.5}},
                        {"loss = 93.1%, ok", {93.1}},
                        {"{'loss': 0.25, 'lr': 1e-5}", {0.25}},
                        {"\"loss\":1.5e-05,", {1.5e-5}},
                        {"loss: -3. end", {-3}},
                        {"loss=.5", {0.5}},
                        {"loss: 1d-5", {1e-5}},
                        {"loss:1.0D+03", {1000}},
                        {"loss: 0x1.8p+3", {12}},
                        {"loss: 3 GB of 100 GB", {3}},
                        {"loss: 3% of 100", {3}},
                        {"loss: 3; 4", {3}},
                        {"loss=3;acc=4", {3}},
                        {"loss: 32.5dB", {32.5}},
                        {"loss: 350it/s", {350}},
                        {"loss: 0.5 (0.6)", {0.5}},
                        {"loss: 0.5\xc2\xb1"
                         "0.1",
                         {0.5}},
                        {"loss: 0.5 - 3it/s", {0.5}},
                        {"loss: 0.5->0.6", {0.5}},
                        {"*** loss ***", {}},
                        {"loss: **0.5**", {}},
                        {"loss * 2", {}},
                        {"loss 1 loss 2", {1, 2}},
                        {"val_loss: 0.5", {}},
                        {"train/loss: 0.5", {}},
                        {"--loss 3", {}},
                        {"losses 3 loss1=4 loss_2: 5", {}},
                        {"loss function of 3", {}},
                        {"loss=mse", {}}};
  for (const Case& one : cases) {
    INFO(one.line);
    StageLeft left;
    left.out(std::string(one.line) + "\n");
    const auto got = left.collect({metric_from("loss", SourceKind::key_value)});
    CHECK(left.values("loss") == one.expected);
    CHECK(got.collected.notes.empty());
  }
}

TEST_CASE("collect: a key is text, whatever it looks like to a regular expression") {
  StageLeft left;
  left.out("a\\E.b(c=1\naxEyb(c=2\n");
  left.collect({metric_from("a\\E.b(c", SourceKind::key_value)});
  CHECK(left.values("a\\E.b(c") == Values{1});
}

TEST_CASE("collect: key-value pairs know the step and epoch of their line, or of one before") {
  StageLeft left;
  left.out("Epoch 1/5\n1875/1875 - 3s 1ms/step - loss: 0.5\nloss=0.25 step=7 epoch: 3\n");
  left.collect({metric_from("loss", SourceKind::key_value)});
  REQUIRE(left.values("loss") == Values{0.5, 0.25});
  CHECK(left.point("loss", 0).epoch == 1);
  CHECK(left.point("loss", 1).epoch == 3);
  CHECK(left.point("loss", 1).step == 7);
  StageLeft whole;
  whole.out("{'loss': 0.25, 'epoch': 1.0}\n");
  whole.collect({metric_from("loss", SourceKind::key_value)});
  CHECK(whole.point("loss", 0).epoch == 1);
}

TEST_CASE("collect: key-value pairs know step and epoch in the brackets of PyTorch's examples") {
  struct Case {
    const char* line;
    std::int64_t epoch;
    std::int64_t step;
  };
  const Case cases[] = {{"Epoch [1/2], Step [100/600], loss: 0.5", 1, 100},
                        {"Epoch: [3][  10/5005]\tTime  0.6 ( 1.2)\tloss 0.5 (7.0)", 3, 10},
                        {"Epoch[2] Iteration[70/80] loss: 0.5", 2, 70},
                        {"[Epoch 4/9] [Step: 5] loss=0.5", 4, 5},
                        {"Train Epoch: 1 [640/60000 (1%)]\tloss: 0.5", 1, base::no_step}};
  for (const Case& one : cases) {
    INFO(one.line);
    StageLeft left;
    left.out(std::string(one.line) + "\n");
    left.collect({metric_from("loss", SourceKind::key_value)});
    REQUIRE(left.values("loss") == Values{0.5});
    CHECK(left.point("loss", 0).epoch == one.epoch);
    CHECK(left.point("loss", 0).step == one.step);
  }
}

TEST_CASE("collect: a unit behind a number is turned into that of the metric") {
  struct Case {
    const char* unit;
    const char* text;
    double expected;
  };
  const Case cases[] = {{"s", "950ms", 0.95},
                        {"s", "950 ms, next", 0.95},
                        {"s", "1.2s", 1.2},
                        {"s", "250\xc2\xb5s", 0.00025},
                        {"s", "3 min", 180},
                        {"ms", "1.5s", 1500},
                        {"MiB", "2 GiB", 2048},
                        {"MB", "1.5GB", 1500},
                        {"1", "93 %", 0.93},
                        {"1", "93.1%", 0.931},
                        {"%", "93.1%", 93.1},
                        {"GB", "12 GB of 30 GB", 12},
                        {"A", "500 mA", 0.5},
                        {"Ry", "-12.5 mRy", -0.0125},
                        {"K", "12 mK", 0.012},
                        {"F", "5 nF", 5e-9},
                        {"Mtok", "350 ktok", 0.35},
                        {"MLUPS", "3 GLUPS", 3000},
                        {"Mtok/s", "350 ktok/s", 0.35},
                        {"pJ", "12 pJ/FLOP", 12},
                        {"s", "513.32063ms", 0.51332063},
                        {"s", "5 h min 3", 18000},
                        {"s", "12ms/step", 0.012},
                        {"ms", "1.5D+00s", 1500},
                        {"K", "300K", 300},
                        {"", "2.5x", 2.5},
                        {"s", "12 h=3", 12},
                        {"img/s", "12.5 img/s", 12.5},
                        {"img/s", "12.5 img/sec", 12.5},
                        {"img/s", "1.5 kimg/s", 1500},
                        {"1/s", "12.5 it/s", 12.5},
                        {"B/s", "3.5 GB/s", 3.5e9},
                        {"GB/s", "350 MB/s", 0.35},
                        {"GB/s", "350MB/s", 0.35},
                        {"GiB/s", "512 MiB/s", 0.5},
                        {"MB/s", "120 MB/min", 2},
                        {"GFLOP/s", "2.5 TFLOP/s", 2500},
                        {"GFLOP/s", "2.5 TFLOPS", 2500},
                        {"W", "3 kW", 3000},
                        {"kW", "350W", 0.35},
                        {"Hz", "3 GHz", 3e9},
                        {"mJ", "1.5 J", 1500},
                        {"m/s2", "3 km/s2", 3000},
                        {"s/it", "950 ms/it", 0.95},
                        {"h", "3 days", 72},
                        {"1", "2.5x", 2.5},
                        {"W", "3 B: 4", 3},
                        {"1", "0.5 kl 0.25", 0.5},
                        {"degC", "25 C", 25},
                        {"degC",
                         "25 \xc2\xb0"
                         "C",
                         25},
                        {"K", "300 kelvin", 300},
                        {"C", "5 mC", 0.005},
                        {"bar", "3 bar", 3},
                        {"mph", "3 mph", 3},
                        {"", "25 C", 25},
                        {"", "950ms", 950},
                        {"mm", "3 cm", 30},
                        {"cm", "3 mm", 0.3},
                        {"Pa", "3 hPa", 300},
                        {"mol", "3 mmol", 0.003},
                        {"rad", "3 mrad", 0.003},
                        {"steps/s", "12 steps of 30", 12},
                        {"img/s", "12.5 on GPU", 12.5},
                        {"1", "-9.31e+1%", -0.931},
                        {"s", "nan", std::nan("")}};
  for (const Case& one : cases) {
    INFO(one.text << " in " << one.unit);
    StageLeft left;
    left.out(std::string("v: ") + one.text + "\n");
    spec::MetricSpec metric = metric_from("v", SourceKind::key_value);
    metric.unit = one.unit;
    left.collect({metric});
    REQUIRE(left.values("v").size() == 1);
    const double value = left.values("v")[0];
    CHECK((value == one.expected || (std::isnan(value) && std::isnan(one.expected))));
  }
}

TEST_CASE("collect: not a number and infinity are values") {
  StageLeft left;
  left.out("loss=nan\nloss: NaN\nloss inf\nloss=-inf\nloss=-Infinity\n");
  const auto got = left.collect({metric_from("loss", SourceKind::key_value)});
  const auto values = left.values("loss");
  REQUIRE(values.size() == 5);
  CHECK(std::isnan(values[0]));
  CHECK(std::isnan(values[1]));
  CHECK(values[2] == INFINITY);
  CHECK(values[3] == -INFINITY);
  CHECK(values[4] == -INFINITY);
  CHECK(got.collected.notes.empty());
}

TEST_CASE("collect: a decimal comma and what no double holds are told, not guessed") {
  StageLeft left;
  left.out("loss=0,5\nloss=1e999\nloss=0.25\nloss=1e-999\n");
  const auto got = left.collect({metric_from("loss", SourceKind::key_value)});
  CHECK(left.values("loss") == Values{0.25});
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0], Contains("3 match(es)") && Contains("stdout.log:1: '0,5'"));
  CHECK(got.bad_lines == 0);
}

TEST_CASE("collect: what is another number than its beginning is told, not guessed") {
  struct Case {
    const char* text;
    const char* unit;
  };
  const Case cases[] = {{"1:02:03", "s"},
                        {"00:00:12", ""},
                        {"2026-01-01", ""},
                        {"0.1-0.2", ""},
                        {"2026/01/01", ""},
                        {"1d12h", "h"},
                        {"2d3h", ""},
                        {"12m30s", "s"},
                        {"3m", "s"},
                        {"5k", ""},
                        {"1.5M", "1"},
                        {"2.5 s/it", "1/s"},
                        {"2.5s/it", "it/s"},
                        {"5 m", "s"},
                        {"5 m 30 s", "s"},
                        {"5 min 30 s", "s"},
                        {"12 GB", "s"},
                        {"3 GB/s", "GB"},
                        {"3 GB", "GB/s"},
                        {"350 Mbit/s", "MB/s"},
                        {"3 GHz", "W"},
                        {"12 frames/s", "img/s"},
                        {"12img", "W"},
                        {"25 degC", "K"},
                        {"25 C", "K"},
                        {"25 \xc2\xb0"
                         "C",
                         "K"},
                        {"70 F", "K"},
                        {"300 K", "degC"},
                        {"5 bar", "Pa"},
                        {"1 atm", "Pa"},
                        {"5 cal", "J"},
                        {"3 kcal", "J"},
                        {"10 knots", "m/s"},
                        {"2 t", "kg"},
                        {"3 weeks", "s"},
                        {"5 ft", "m"},
                        {"90 deg", "rad"},
                        {"90 \xc2\xb0", "rad"},
                        {"5 ppm", "1"},
                        {"1 l", "m3"},
                        {"1 hp", "W"},
                        {"93 %", "s"},
                        {"0.5 s/100 steps", "s"},
                        {"12 modes/s", "nodes/s"},
                        {"1 g/cm^3", "kg/m^3"},
                        {"1 /cm^3", "1/m^3"},
                        {"3 km^2", "m^2"},
                        {"3 mm2", "cm2"},
                        {"3 mmol", "s"},
                        {"1.5 M", "1"},
                        {"1/2", ""},
                        {"45/50", ""},
                        {"45 / 50", "1"},
                        {"97/100 (97%)", ""},
                        {"50%/60%", "%"},
                        {"12ms/100", "ms"},
                        {"5ms-10ms", ""},
                        {"1+2j", ""},
                        {"1*2", ""},
                        {"2^10", ""},
                        {"2**10", ""},
                        {"1.5 x 10^5", "s"},
                        {"1.5\xc3\x97"
                         "10^5",
                         ""},
                        {"1\xe2\x80\x93"
                         "2",
                         ""},
                        {"1'000", ""},
                        {"1~2", ""},
                        {"1.#INF", ""},
                        {"1.#QNAN", "s"},
                        {"1\xc2\xbd", ""},
                        {"2\xe2\x81\xb5", ""},
                        {"1 + 2im", ""},
                        {"1.5 - 2.5e-3j", "1"},
                        {"0b1", ""},
                        {"0o17", ""},
                        {"5fa37", ""},
                        {"12 hits", "its"},
                        {"3k/s", "1/s"},
                        {"3.2 M/s", "1/s"},
                        {"2.5 Mtok/s", "1/s"},
                        {"12ab", ""},
                        {"12ab", "s"},
                        {"1e5f", ""},
                        {"12img", ""},
                        {"12 of 30", ""},
                        {"12 of 30", "s"},
                        {"3 out of 4", "1"},
                        {"1;2", ""},
                        {"1|2", "s"},
                        {"1@2", ""},
                        {"1&2", ""},
                        {"1#2", ""},
                        {"1\\2", ""},
                        {"1e-323ms", "s"},
                        {"****", "s"},
                        {"*", ""}};
  for (const Case& one : cases) {
    INFO(one.text << " in " << one.unit);
    StageLeft left;
    left.out(std::string("v: ") + one.text + "\n");
    spec::MetricSpec metric = metric_from("v", SourceKind::key_value);
    metric.unit = one.unit;
    const auto got = left.collect({metric});
    CHECK(left.values("v").empty());
    REQUIRE(got.collected.notes.size() == 1);
    CHECK_THAT(got.collected.notes[0], Contains("1 match(es)"));
  }
}

TEST_CASE("collect: part of an epoch is no epoch, which is told once") {
  StageLeft left;
  left.out(
      "{'loss': 0.5, 'lr': 1, 'epoch': 1.0}\n{'loss': 0.4321, 'lr': 1, 'epoch': 1.5}\n"
      "{'loss': 0.25, 'lr': 1, 'epoch': 10.5, 'step': 7}\n");
  const auto got = left.collect(
      {metric_from("loss", SourceKind::key_value), metric_from("lr", SourceKind::key_value)});
  REQUIRE(left.values("loss") == Values{0.5, 0.4321, 0.25});
  CHECK(left.point("loss", 0).epoch == 1);
  CHECK(left.point("loss", 1).epoch == base::no_step);
  CHECK(left.point("loss", 2).epoch == base::no_step);
  CHECK(left.point("loss", 2).step == 7);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0],
             Contains("2 match(es) have an epoch or step that is not whole") &&
                 Contains("kept without it; the first is stdout.log:2: '1.5'"));
}

TEST_CASE("collect: a group that holds half an epoch leaves the value without one") {
  StageLeft left;
  left.out("e 0.5 l 4\ne 1.0 l 3\n");
  const auto got =
      left.collect({metric_from("loss", SourceKind::regex, R"(e (?<epoch>\S+) l (?<value>\S+))")});
  CHECK(left.values("loss") == Values{4, 3});
  CHECK(left.point("loss", 0).epoch == base::no_step);
  CHECK(left.point("loss", 1).epoch == 1);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0],
             Contains("their values are kept without it") && !Contains("left out"));
}

TEST_CASE("collect: a time is no step, and neither is what is said per step") {
  const char* line = GENERATE("time per step: 5 ms",
                              "time per training step: 5",
                              "Time per epoch 12",
                              "ms each iter: 7",
                              "step: 5 ms",
                              "iteration 25.000 ms",
                              "epoch: 12.5 seconds",
                              "step 5 min",
                              "step 250 \xc2\xb5s",
                              "ms/step: 5");
  INFO(line);
  StageLeft left;
  left.out(std::string(line) + "\nloss = 0.3\n");
  const auto got = left.collect({metric_from("loss", SourceKind::key_value)});
  REQUIRE(left.values("loss") == Values{0.3});
  CHECK(left.point("loss", 0).step == base::no_step);
  CHECK(left.point("loss", 0).epoch == base::no_step);
  CHECK(got.collected.notes.empty());
}

TEST_CASE("collect: a time that is the key of the number behind it makes no time of the step") {
  const char* line = GENERATE("step 100 ms 12.5 loss 0.3",
                              "step 100 s 12.5 loss 0.3",
                              "step 100 sec -1 loss 0.3",
                              "iter 100 min .5 loss 0.3");
  INFO(line);
  StageLeft left;
  left.out(std::string(line) + "\nepoch 3 sec 12.1\nloss 0.4\n");
  left.collect({metric_from("loss", SourceKind::key_value)});
  REQUIRE(left.values("loss") == Values{0.3, 0.4});
  CHECK(left.point("loss", 0).step == 100);
  CHECK(left.point("loss", 1).epoch == 3);
}

TEST_CASE("collect: a metric may be called as a step's time is") {
  StageLeft left;
  left.out("ms per step: 5\nstep 3 min 0.5 loss 1\n");
  left.collect({metric_from("ms per step", SourceKind::key_value),
                metric_from("loss", SourceKind::key_value)});
  CHECK(left.values("ms per step") == Values{5});
  CHECK(left.point("loss", 0).step == 3);
}

TEST_CASE("collect: key-value pairs take nothing from MLLOG lines") {
  StageLeft left;
  left.out(
      ":::MLLOG {\"key\": \"x\", \"value\": 1, \"loss\": 7, \"metadata\": {\"step\": 3}}\n"
      "epoch 1 loss: 0.5\n");
  left.collect({metric_from("loss", SourceKind::key_value)});
  REQUIRE(left.values("loss") == Values{0.5});
  CHECK(left.point("loss", 0).step == base::no_step);
  CHECK(left.point("loss", 0).epoch == 1);
}

TEST_CASE("collect: a pattern that backtracks without end is given up, and that is told") {
  StageLeft left;
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += std::string(60, 'a') + "!b x\n";
  left.out(text + "b 1\n");
  const auto got = left.collect({metric_from("v", SourceKind::regex, R"((?:a+)+b (?<value>\d))"),
                                 metric_from("w", SourceKind::regex, R"(b (?<value>\d))")});
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0],
             Contains("'v'") &&
                 Contains("too many steps on 10 line(s), the first is stdout.log:1") &&
                 Contains("given up"));
  CHECK(left.values("w") == Values{1});
}

TEST_CASE("collect: of a line without end the beginning is searched, and that is told") {
  StageLeft left;
  left.out("loss=1 " + std::string(std::size_t{40} << 20U, 'x') + " loss=2\nloss=3\n");
  const auto got = left.collect({metric_from("loss", SourceKind::key_value)});
  CHECK(left.values("loss") == Values{1, 3});
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0], Contains("1 line(s) are longer than a mebibyte"));
}

TEST_CASE("collect: binary output does no harm") {
  StageLeft left;
  std::string text;
  for (int i = 0; i < 4096; ++i)
    text += static_cast<char>(i * 37 % 256);
  left.out(text + "\nl\xc3\xb6ss=1\n\xff\xfe loss=2" + std::string("\0 loss=3\n", 9));
  left.collect({metric_from("loss", SourceKind::key_value),
                metric_from("l\xc3\xb6ss", SourceKind::regex, "l\xc3\xb6ss=(.)")});
  CHECK(left.values("loss") == Values{2, 3});
  CHECK(left.values("l\xc3\xb6ss") == Values{1});
}

TEST_CASE("collect: a match of nothing ends") {
  StageLeft left;
  left.out("abc\n");
  const auto got = left.collect({metric_from("v", SourceKind::regex, R"((?<value>\d*))")});
  CHECK(got.points == 0);
}

TEST_CASE("collect: a metric of another stage is not looked for") {
  StageLeft left;
  left.out("loss=1\n");
  auto metric = metric_from("loss", SourceKind::key_value);
  metric.from.stage = "test";
  CHECK(left.collect({metric}).points == 0);
  metric.from.stage = "train";
  CHECK(left.collect({metric}).points == 1);
}

TEST_CASE("collect: a number that continues is told with all of it") {
  StageLeft left;
  left.out("x ******\nx: 45/50 right\nx=1\n");
  const auto got = left.collect({metric_from("x", SourceKind::key_value)});
  CHECK(left.values("x") == Values{1});
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0], Contains("2 match(es)") && Contains("stdout.log:1: '******'"));
  left.out("x: 45/50 right\n");
  CHECK_THAT(left.collect({metric_from("x", SourceKind::key_value)}).collected.notes.at(0),
             Contains("'45/50'"));
}

TEST_CASE("collect: a step with separators of thousands is not its beginning") {
  StageLeft left;
  left.out("step 1,000 loss=0.5\nepoch 2'000: loss=1\n");
  const auto got = left.collect({metric_from("loss", SourceKind::key_value)});
  REQUIRE(left.values("loss") == Values{0.5, 1});
  CHECK(left.point("loss", 0).step == base::no_step);
  CHECK(left.point("loss", 1).epoch == base::no_step);
  REQUIRE(got.collected.notes.size() == 1);
  CHECK_THAT(got.collected.notes[0], Contains("2 match(es)") && Contains("'1,000'"));
}
