#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "unit/catalog/catalog_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/catalog/saved_selections.hpp>

#include <cmath>
#include <fstream>
#include <random>

using namespace sabath;
using base::ErrorKind;
using catalog::Catalog;
using test::contains;
using test::error_of;
using Ids = std::vector<std::string>;
using Numbers = std::vector<int>;

namespace {

spec::MetricSummary metric(const std::string& stage,
                           const std::string& name,
                           spec::Better better,
                           double last,
                           double best) {
  spec::MetricSummary summary;
  summary.stream = stage;
  summary.name = name;
  summary.better = better;
  summary.points = 3;
  summary.first = summary.max = std::max(1.0, last);
  summary.last = last;
  summary.min = best;
  return summary;
}

/// Runs 1 to 6: lr 0.1 to 0.6; loss 6 to 1, its best half of that; 4 failed; 5 has no loss.
class Runs {
 public:
  Runs() {
    for (int n = 1; n <= 6; ++n) {
      spec::RunRecord record = test::numbered_record(n);
      record.parameters = {{"lr", n / 10.0}, {"layers", std::int64_t{n}}};
      record.seed = {static_cast<std::uint64_t>(n), "given"};
      record.tags = {n % 2 == 0 ? "even" : "odd"};
      record.message = n == 4 ? "out of memory in Epoch 3" : "";
      record.state = n == 4 ? spec::RunState::failed : spec::RunState::ok;
      record.wall_s = 60 * n;
      record.metrics.clear();
      if (n != 5) {
        record.metrics.push_back(
            metric("train", "loss", spec::Better::lower, 7.0 - n, (7.0 - n) / 2));
      }
      record.metrics.push_back(metric("train", "gap", spec::Better::none, n, n));
      test::put(catalog, record);
    }
  }

  Numbers of(std::string_view selection) const {
    Numbers found;
    for (const catalog::RunRow& row : catalog.select(selection, clock.now()))
      found.push_back(std::stoi(row.seed));
    return found;
  }
  Numbers sorted(const std::vector<std::string>& keys, std::string_view selection = {}) const {
    Numbers found;
    for (const catalog::RunRow& row : catalog.runs(0, selection, clock.now(), keys))
      found.push_back(std::stoi(row.seed));
    return found;
  }
  base::Error error(std::string_view selection) const {
    return error_of([&] { static_cast<void>(catalog.select(selection, clock.now())); });
  }
  const std::filesystem::path& folder() const { return home_.folder(); }

 private:
  test::CatalogHome home_;

 public:
  Catalog catalog{home_.file()};
  test::FakeClock clock{};
};

}  // namespace

TEST_CASE("operators: numbers of parameters, seeds and metrics are compared by value") {
  const Runs runs;
  const auto [text, expected] = GENERATE(table<std::string, Numbers>({
      {"lr<0.3", {1, 2}},
      {"lr<=0.3", {1, 2, 3}},
      {"lr>5e-1", {6}},
      {"lr>=0.5", {5, 6}},
      {"lr!=0.5", {1, 2, 3, 4, 6}},
      {"lr=0.2..0.4", {2, 3, 4}},
      {"lr=..0.2", {1, 2}},
      {"lr=0.5..", {5, 6}},
      {"lr!=0.2..0.5", {1, 6}},
      {"layers>4", {5, 6}},
      {"seed>4", {5, 6}},
      {"seed=2..3", {2, 3}},
      {"seed!=2", {1, 3, 4, 5, 6}},
      {"loss<3", {6}},
      {"loss<=3", {4, 6}},
      {"loss=3..5", {2, 3, 4}},
      {"loss!=6", {2, 3, 4, 6}},
      {"train/loss<3", {6}},
      {"metric.loss<3", {6}},
      {"last.loss<3", {6}},
      {"best.loss<1", {6}},
      {"best.loss<=1.5", {4, 6}},
      {"param.lr<0.2", {1}},
      {"lr.lt=0.3", {1, 2}},
      {"lr.le=0.3", {1, 2, 3}},
      {"lr.gt=0.5", {6}},
      {"lr.ge=0.5", {5, 6}},
      {"lr.ne=0.5", {1, 2, 3, 4, 6}},
      {"message.like=memory", {4}},
      {"best.loss.le=1.5", {4, 6}},
      {"loss<inf", {1, 2, 3, 4, 6}},
      {"wall>4m", {5, 6}},
      {"wall.ge=240s", {4, 5, 6}},
      {"wall=2m..3m", {2, 3}},
      {"wall<1.5m", {1}},
      {"wall<00:01:30", {1}},
      {"wall<=60000ms", {1}},
      {"wall>1h", {}},
      {"not seed<3", {3, 4, 5, 6}},
      {"run.wall>4m", {5, 6}},
  }));
  INFO(text);
  CHECK(runs.of(text) == expected);
  CHECK(runs.of("recipe=tiny," + text) == expected);
}

TEST_CASE("operators: texts are looked into, and left out") {
  const Runs runs;
  const auto [text, expected] = GENERATE(table<std::string, Numbers>({
      {"message~memory", {4}},
      {"message~\"MEMORY in\"", {4}},
      {"message~out*epoch", {4}},
      {"message~\"out*epoch\"", {}},
      {"message!=\"\"", {4}},
      {"tag~EV", {2, 4, 6}},
      {"tag!=even", {1, 3, 5}},
      {"tag!=e*", {1, 3, 5}},
      {"status!=ok", {4}},
      {"recipe!=tiny", {}},
      {"id~103203", {3}},
      {"created=2026-11-20", {1, 2, 3, 4, 5, 6}},
      {"created!=2026-11-20", {}},
      {"created=2026-11-20T10:32:03", {3}},
      {"created>2026-11-20T10:32:04Z", {5, 6}},
      {"created<=2026-11-20T10:32:04Z", {1, 2, 3, 4}},
      {"until=2026-11-20T10:32:03Z", {1, 2}},
      {"created<2026-11-20", {}},
      {"created=2026-11-19..2026-11-20", {1, 2, 3, 4, 5, 6}},
      {"created=2026-11-20T10:32:02Z..2026-11-20T10:32:04Z", {2, 3, 4}},
      {"created!=2026-11-20T10:32:02Z..", {1}},
      {"user!=nobody", {1, 2, 3, 4, 5, 6}},
      {"message!=nothing", {4}},  // the others have none
  }));
  INFO(text);
  CHECK(runs.of(text) == expected);
}

TEST_CASE("operators: 'and', 'or', 'not', commas and parentheses") {
  const Runs runs;
  const auto [text, expected] = GENERATE(table<std::string, Numbers>({
      {"lr=0.1 or lr=0.2", {1, 2}},
      {"tag=even,lr=0.1 or lr=0.2", {2}},  // a comma joins less than 'or'
      {"(tag=even,lr=0.1) or lr=0.2", {2}},
      {"tag=even and lr=0.1 or lr=0.3", {3}},  // 'and' joins more than 'or'
      {"tag=even and (lr=0.1 or lr=0.4)", {4}},
      {"not tag=even", {1, 3, 5}},
      {"not(tag=even)", {1, 3, 5}},
      {"not not tag=even", {2, 4, 6}},
      {"not (tag=even or lr<0.3)", {3, 5}},
      {"NOT tag=even AND lr>0.1", {3, 5}},
      {"not loss<3", {1, 2, 3, 4, 5}},  // also what has no loss
      {" tag=even , lr=0.2 ", {2}},
      {"((lr=0.2))", {2}},
      {"(lr=0.2 or lr=0.3),(tag=even or tag=none)", {2}},
      {"loss<3 or status=failed", {4, 6}},
      {"tag=a or b", {}},  // no term behind 'or': a value with blanks, as before
      {"tag=\"even\"", {2, 4, 6}},
  }));
  INFO(text);
  CHECK(runs.of(text) == expected);
}

TEST_CASE("operators: runs without a seed, a time or a text fulfil 'not', and no order") {
  Runs runs;
  spec::RunRecord record = test::numbered_record(7);
  record.seed = {};
  record.wall_s = 0;
  record.user.clear();
  test::put(runs.catalog, record);
  const auto count = [&](const char* text) {
    return runs.catalog.select(text, runs.clock.now()).size();
  };
  CHECK(count("wall<1000h") == 6);
  CHECK(count("not wall<1000h") == 1);
  CHECK(count("not seed<3") == 5);
  CHECK(count("not seed=1..5") == 2);
  CHECK(count("user!=nobody") == 6);
}

TEST_CASE("operators: a parameter called like a later word keeps lists as values") {
  Runs runs;
  spec::RunRecord record = test::numbered_record(8);
  record.seed = {8U, "given"};
  record.parameters = {{"message", spec::ParameterList{{std::int64_t{16}, std::int64_t{8}}}}};
  test::put(runs.catalog, record);
  CHECK(runs.of("message=16,8") == Numbers{8});
  CHECK(runs.of("run.message~memory") == Numbers{4});
}

TEST_CASE("operators: a quoted value is text and nothing else") {
  Runs runs;
  spec::RunRecord odd = test::numbered_record(7);
  odd.seed = {7U, "given"};
  odd.tags = {"a or b=c", "x,y", "it's", "1..5", "q\"q", "*"};
  odd.parameters["optimizer"] = std::string("adam (fused)");
  test::put(runs.catalog, odd);
  const std::string text = GENERATE("tag=\"a or b=c\"",
                                    "tag='x,y'",
                                    "tag=\"it's\"",
                                    "tag='it''s'",
                                    "tag=\"1..5\"",
                                    "tag='q\"q'",
                                    "tag=\"*\",seed=7",
                                    "optimizer=adam (fused)",
                                    "(optimizer=adam (fused))",
                                    "\"optimizer\"='adam (fused)'");
  INFO(text);
  CHECK(runs.of(text) == Numbers{7});
}

TEST_CASE("operators: whole numbers are ordered with all digits") {
  Runs runs;
  const auto put = [&](int n, const std::string& value) {
    spec::RunRecord record = test::numbered_record(n);
    record.seed = {static_cast<std::uint64_t>(n), "given"};
    record.parameters = {{"v", value}};
    test::put(runs.catalog, record);
  };
  put(11, "9007199254740992");
  put(12, "9007199254740993");
  put(13, "text");
  CHECK(runs.of("v>9007199254740992") == Numbers{12});
  CHECK(runs.of("v<=9007199254740992") == Numbers{11});
  CHECK(runs.of("v=9007199254740993..") == Numbers{12});
  CHECK(runs.of("v~tex") == Numbers{13});
}

TEST_CASE("operators: not a number fulfils no order, and is found as nan") {
  Runs runs;
  spec::RunRecord record = test::numbered_record(8);
  record.seed = {8U, "given"};
  record.metrics = {metric("train", "loss", spec::Better::lower, std::nan(""), 0.5)};
  test::put(runs.catalog, record);
  CHECK(runs.of("loss=nan") == Numbers{8});
  CHECK(runs.of("loss!=nan") == Numbers{1, 2, 3, 4, 6});
  CHECK(runs.of("loss<=inf,seed=8").empty());
  CHECK(runs.of("best.loss<1") == Numbers{6, 8});
}

TEST_CASE("operators: a name that is both keeps its old meaning with '=', and else is asked for") {
  Runs runs;
  spec::RunRecord both = test::numbered_record(9);
  both.seed = {9U, "given"};
  both.parameters = {
      {"loss", std::string("mse")}, {"wall", 3.0}, {"x.lt", std::int64_t{1}}, {"best.k", 2.0}};
  both.metrics = {metric("train", "loss", spec::Better::lower, 0.1, 0.1)};
  test::put(runs.catalog, both);
  CHECK(runs.of("loss=mse") == Numbers{9});
  CHECK(runs.of("loss=0.1").empty());
  CHECK(runs.of("metric.loss<1") == Numbers{9});
  CHECK(runs.of("param.loss=mse") == Numbers{9});
  const base::Error error = runs.error("loss<1");
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.what(), "'loss' is a parameter and a metric"));
  CHECK(error.hint() == "write param.loss or metric.loss");
  CHECK(runs.of("wall=3") == Numbers{9});
  CHECK(contains(runs.error("wall>1m").hint(), "param.wall or run.wall"));
  CHECK(runs.of("run.wall=4m") == Numbers{4});
  CHECK(runs.of("x.lt=1") == Numbers{9});
  CHECK(runs.of("best.k>1") == Numbers{9});
}

TEST_CASE("operators: what cannot be read says where and what was expected") {
  const Runs runs;
  const auto [text, problem] = GENERATE(table<std::string, std::string>({
      {"lr<", "'' is not a number"},
      {"lr<abc", "'abc' is not a number (in 'lr<abc')"},
      {"loss<5ms", "'5ms' is not a number"},
      {"loss~3", "metrics have no text"},
      {"recipe<tiny", "are compared by =, != and ~"},
      {"status>ok", "states are compared"},
      {"seed~1", "seeds have no text"},
      {"seed>x", "'x' is not a seed"},
      {"seed>1*", "no place in an order"},
      {"wall>5x", "'5x' is not a duration"},
      {"wall>h", "'h' is not a duration"},
      {"since>7d", "'since' takes '='"},
      {"created=yesterday", "'yesterday' is not a day"},
      {"created>yesterday", "'yesterday' is not a time"},
      {"best.gap<1", "the metric 'gap' has no best value"},
      {"run.nothing=1", "runs have no 'nothing'"},
      {"(lr=0.1", "')' is missing (at character 8)"},
      {"lr=0.1 or", "behind 'or' and 'and' a term was expected"},
      {"lr=0.1 or ", "behind 'or' and 'and' a term was expected"},
      {"()", "'' is not KEY=VALUE"},
      {"not ()", "'' is not KEY=VALUE"},
      {"(lr=0.1),lr", "'lr' is not KEY=VALUE (at character 10)"},
      {"(lr=0.1)x", "the end, a comma, 'and' or 'or' was expected (at character 9)"},
      {"tag=\"even", "a closing quote is missing"},
      {"tag=\"even\"x", "after a quoted value"},
      {"lr or k=1", "'lr' is not KEY=VALUE"},
      {"recipe=tiny,loss", "'loss' is not KEY=VALUE"},
      {"lr=0.1,loss", "'loss' has no operator"},
      {"@last,@running", "two runs are named"},
      {"recipe=tiny or @last", "cannot stand within 'or' or 'not'"},
      {"not @last", "cannot stand within 'or' or 'not'"},
      {"recipe=tiny,@last~1..@last", "a range of runs cannot be joined"},
      {"recipe=tiny,@first", "'@first' is not a run"},
  }));
  INFO(text);
  const base::Error error = runs.error(text);
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.what(), "selection '"));
  INFO(error.what());
  CHECK(contains(error.what(), problem));
}

TEST_CASE("operators: a shell's redirection is named as the likely cause") {
  const Runs runs;
  CHECK(contains(runs.error("lr=0.1,loss").hint(), "loss.lt=VALUE"));
  CHECK(contains(runs.error("recipe=tiny,loss").hint(), "quote the selection"));
}

TEST_CASE("operators: 10,000 conditions and deep nesting are refused, 500 are not") {
  const Runs runs;
  std::string many = "lr=0.1";
  for (int n = 1; n < 500; ++n)
    many += " or lr=0.2";
  CHECK(runs.of(many) == Numbers{1, 2});
  for (int n = 500; n < 10000; ++n)
    many += " or lr=0.2";
  CHECK(contains(runs.error(many).what(), "has more than 500 conditions"));
  std::string deep(100000, '(');
  CHECK(contains(runs.error(deep + "lr=1").what(), "too many parentheses"));
  std::string nots;
  for (int n = 0; n < 100000; ++n)
    nots += "not ";
  CHECK(contains(runs.error(nots + "lr=1").what(), "too many parentheses"));
  // Saved selections count with the text that names them.
  catalog::save_selection(runs.folder(), "s0", "lr=0.1 or lr=0.2");
  for (int n = 1; n < 10; ++n) {
    const std::string before = "@s" + std::to_string(n - 1);
    catalog::save_selection(runs.folder(), "s" + std::to_string(n), before + "," + before);
  }
  CHECK(runs.of("@s7") == Numbers{1, 2});
  CHECK(contains(runs.error("@s9").what(), "has more than 500 conditions"));
}

TEST_CASE("operators: a run beside terms is one of those that fit") {
  const Runs runs;
  CHECK(runs.of("tag=odd,@last") == Numbers{5});
  CHECK(runs.of("@last,tag=odd") == Numbers{5});
  CHECK(runs.of("tag=odd and @last~1") == Numbers{3});
  CHECK(runs.of("lr<0.3,@last") == Numbers{2});
  const base::Error error = runs.error("lr>5,@last");
  CHECK(error.kind() == ErrorKind::not_found);
  CHECK(contains(error.what(), "no run that fits has ended"));
  CHECK(contains(runs.error("tag=odd,@last~7").what(), "not that many runs have ended"));
  CHECK(contains(runs.error("tag=odd,@running").what(), "every run that fits has ended"));
}

TEST_CASE("operators: rows are sorted by value, the best first, and what has none is last") {
  const Runs runs;
  CHECK(runs.sorted({}) == Numbers{6, 5, 4, 3, 2, 1});
  CHECK(runs.sorted({"lr"}) == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(runs.sorted({"-lr"}) == Numbers{6, 5, 4, 3, 2, 1});
  CHECK(runs.sorted({"loss"}) == Numbers{6, 4, 3, 2, 1, 5});
  CHECK(runs.sorted({"best.loss"}) == Numbers{6, 4, 3, 2, 1, 5});
  CHECK(runs.sorted({"-loss"}) == Numbers{1, 2, 3, 4, 6, 5});
  CHECK(runs.sorted({"tag", "loss"}) == Numbers{6, 4, 2, 3, 1, 5});
  CHECK(runs.sorted({"wall"}, "tag=even") == Numbers{2, 4, 6});
  CHECK(runs.sorted({"-run.wall"}, "tag=even,@last") == Numbers{6});
  CHECK(runs.sorted({"lr"}, "@last~3..@last") == Numbers{3, 4, 5, 6});
  CHECK(runs.sorted({}, "@last~3..@last") == Numbers{6, 5, 4, 3});
  const base::Error error = error_of([&] { static_cast<void>(runs.sorted({"loos"})); });
  CHECK(error.kind() == ErrorKind::usage);
}

TEST_CASE("operators: columns are texts, numbers or seconds") {
  const Runs runs;
  const auto rows = runs.catalog.select("recipe=tiny", runs.clock.now());
  using Kind = catalog::RunColumn::Kind;
  const auto lr = runs.catalog.column_of(rows, "lr");
  CHECK(lr.kind == Kind::text);
  CHECK(lr.texts[2] == "0.3");
  const auto loss = runs.catalog.column_of(rows, "best.loss");
  CHECK(loss.kind == Kind::number);
  CHECK(loss.numbers[0] == 3);
  CHECK(std::isnan(loss.numbers[4]));
  CHECK(runs.catalog.column_of(rows, "wall").kind == Kind::seconds);
  CHECK(runs.catalog.column_of(rows, "tag").texts[1] == "even");
  CHECK(runs.catalog.column_of(rows, "cpu").kind == Kind::text);
  const base::Error error =
      error_of([&] { static_cast<void>(runs.catalog.column_of(rows, "layer")); });
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.hint(), "layers"));
}

TEST_CASE("operators: a metric is the value that it is judged by, last. and best. say which") {
  Runs runs;
  const auto put_judged = [&](int n, const char* judge, double judged) {
    spec::RunRecord record = test::numbered_record(n);
    record.seed = {static_cast<std::uint64_t>(n), "given"};
    record.metrics = {metric("train", "error", spec::Better::lower, 9, 1)};
    if (judge != nullptr) record.metrics[0].judge = judge;
    if (judge != nullptr) record.metrics[0].judged = judged;
    test::put(runs.catalog, record);
  };
  put_judged(1, "mean of last 2", 5);
  put_judged(2, "mean of last 2", 6);
  CHECK(runs.of("error<5.5") == Numbers{1});
  CHECK(runs.of("metric.error<5.5") == Numbers{1});
  CHECK(runs.of("last.error=9") == Numbers{1, 2});
  CHECK(runs.of("best.error=1") == Numbers{1, 2});
  const auto column = [&](const char* key) {
    const auto rows = runs.catalog.select("last.error=9", runs.clock.now());
    return runs.catalog.column_of(rows, key);
  };
  CHECK(column("error").title == "error, mean of last 2");
  CHECK(column("error").numbers == std::vector<double>{5, 6});
  CHECK(column("last.error").title == "last.error");
  CHECK(column("best.error").title == "best.error");
  put_judged(2, nullptr, 0);
  CHECK(column("error").title == "error, mean of last 2 or last");
  put_judged(1, nullptr, 0);
  CHECK(column("error").title == "error");
}

TEST_CASE("saved selections: a name stands for its text, in every place of a run or of terms") {
  const Runs runs;
  CHECK_FALSE(catalog::save_selection(runs.folder(), "good", "loss<4 or lr=0.1"));
  CHECK(runs.of("@good") == Numbers{1, 4, 6});
  CHECK(runs.of("@good,status=ok") == Numbers{1, 6});
  CHECK(runs.of("not @good") == Numbers{2, 3, 5});
  CHECK(runs.of("@good,@last") == Numbers{6});
  CHECK(catalog::save_selection(runs.folder(), "good", "tag=odd,@last") == "loss<4 or lr=0.1");
  CHECK(runs.of("@good") == Numbers{5});
  CHECK(runs.of("lr<0.4,@good") == Numbers{3});
  catalog::save_selection(runs.folder(), "pair", "@last~1..@last");
  CHECK(runs.of("@pair") == Numbers{5, 6});
  CHECK(contains(runs.error("@pair,tag=odd").what(), "is a range of runs"));
  CHECK(catalog::saved_selections(runs.folder()).size() == 2);
  catalog::forget_selection(runs.folder(), "pair");
  CHECK(contains(runs.error("@pair").what(), "'@pair' is not a run"));
  CHECK(error_of([&] { catalog::forget_selection(runs.folder(), "goood"); }).hint() ==
        "did you mean 'good'?");
}

TEST_CASE("saved selections: names with a meaning, no names, and circles are refused") {
  const Runs runs;
  for (const char* name : {"last", "best", "running", "previous", "", "A b", "../x", "a/b"}) {
    INFO(name);
    CHECK(error_of([&] { catalog::save_selection(runs.folder(), name, "lr<1"); }).kind() ==
          ErrorKind::usage);
  }
  catalog::save_selection(runs.folder(), "one", "lr<1");
  catalog::save_selection(runs.folder(), "two", "@one,tag=odd");
  for (const char* text : {"@one", "lr<1,@one", "@two", "not (@two)"}) {
    INFO(text);
    const auto refused = error_of([&] { catalog::save_selection(runs.folder(), "one", text); });
    CHECK(contains(refused.what(), "names itself"));
    CHECK(catalog::saved_selection(runs.folder(), "one") == "lr<1");
  }
  catalog::save_selection(runs.folder(), "on", "@one");
  std::ofstream(runs.folder() / "selections/circle") << "lr<1,@circle\n";  // by hand
  CHECK(contains(runs.error("@circle").what(), "names itself"));
}

TEST_CASE("selection: @previous is side A of the last comparison") {
  const Runs runs;
  const base::Error none = runs.error("@previous");
  CHECK(none.kind() == ErrorKind::not_found);
  CHECK(contains(none.what(), "no two runs were compared"));
  catalog::keep_previous(runs.folder(), test::numbered_record(3).run_id);
  CHECK(runs.of("@previous") == Numbers{3});
  CHECK(runs.of("@previous..@last") == Numbers{3, 4, 5, 6});
  CHECK(runs.of("tag=odd,@previous") == Numbers{3});
  CHECK(runs.error("tag=even,@previous").kind() == ErrorKind::not_found);
}

TEST_CASE("operators: random texts are read or refused, and read the same twice") {
  const Runs runs;
  std::mt19937 random(20261127);
  const std::vector<std::string> pieces{
      "lr",    "loss",   "tag",   "=", "<",    "<=",   ">",        "!=",         "~",
      "0.3",   "1..5",   "(",     ")", ",",    " or ", " and ",    "not ",       "\"",
      "'",     "@last",  "@best", "*", "even", "..",   "wall",     "1h",         "seed",
      "best.", "param.", ".lt",   " ", "@",    "\n",   "\xc3\xa4", "recipe=tiny"};
  int read = 0;
  for (int n = 0; n < 4000; ++n) {
    std::string text;
    for (std::size_t i = 0, size = 1 + random() % 9; i < size; ++i)
      text += pieces[random() % pieces.size()];
    INFO(text);
    try {
      const auto once = runs.of(text);
      CHECK(runs.of(text) == once);
      ++read;
    } catch (const base::Error& error) {
      const bool is_answer =
          error.kind() == ErrorKind::usage || error.kind() == ErrorKind::not_found;
      CHECK(is_answer);
    }
  }
  CHECK(read > 40);
}
