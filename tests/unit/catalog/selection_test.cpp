#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "unit/catalog/catalog_home.hpp"

#include <sabath/catalog/selection_terms.hpp>
#include <sabath/spec/run_record.hpp>

using namespace sabath;
using base::ErrorKind;
using catalog::Catalog;
using test::contains;
using test::error_of;
using Ids = std::vector<std::string>;

namespace {

/// A catalog of runs "tiny-...-01" to "-04" and one of another recipe, a clock beside it.
class Selections {
 public:
  Selections() {
    for (int n = 1; n <= 4; ++n)
      test::put(catalog, test::numbered_record(n));
  }
  Ids ids(std::string_view selection) const {
    return test::ids_of(catalog.select(selection, clock.now()));
  }
  base::Error error(std::string_view selection) const {
    return error_of([&] { static_cast<void>(catalog.select(selection, clock.now())); });
  }

 private:
  test::CatalogHome home_;

 public:
  Catalog catalog{home_.file()};
  test::FakeClock clock{};
};

std::string id(int n) {
  return test::numbered_record(n).run_id;
}

}  // namespace

TEST_CASE("selection: @last is the newest run, @last~N the one N before it") {
  const Selections runs;
  CHECK(runs.ids("@last") == Ids{id(4)});
  CHECK(runs.ids("@last~0") == Ids{id(4)});
  CHECK(runs.ids("@last~3") == Ids{id(1)});
  const base::Error error = runs.error("@last~4");
  CHECK(error.kind() == ErrorKind::not_found);
  CHECK(contains(error.what(), "@last~4: not that many runs have ended"));
}

TEST_CASE("selection: @last of no runs is told by that name") {
  const test::CatalogHome home;
  Catalog empty(home.file());
  const test::FakeClock clock;
  const auto text = GENERATE("@last", "@last~0");
  const base::Error error = error_of([&] { (void)empty.select(text, clock.now()); });
  CHECK(error.kind() == ErrorKind::not_found);
  CHECK(std::string(error.what()) == "@last: no run has ended yet");
}

TEST_CASE("selection: @last and ranges pass by the runs that only made an asset") {
  Selections runs;
  for (const int n : {2, 4}) {
    spec::RunRecord record = test::numbered_record(n);
    record.tags = {"asset:bubbles"};
    test::put(runs.catalog, record);
  }
  CHECK(runs.ids("@last") == Ids{id(3)});
  CHECK(runs.ids("@last~1") == Ids{id(1)});
  CHECK(runs.ids("@last~1..@last") == Ids{id(1), id(3)});
  CHECK(runs.ids(id(2) + ".." + id(3)) == Ids{id(2), id(3)});
  CHECK(runs.ids("tag=asset:bubbles") == Ids{id(2), id(4)});
}

TEST_CASE("selection: @last is the newest run that has ended and that somebody requested") {
  Selections runs;
  const std::string hybrid = "hybrid-0123456789abcdef";
  const std::vector<std::vector<std::string>> tags{
      {"explain", hybrid}, {"explain"}, {hybrid}, {"explain", "hybrid-model"}};
  int n = 10;
  for (const auto& of_run : tags) {
    spec::RunRecord record = test::numbered_record(++n);
    record.tags = of_run;
    test::put(runs.catalog, record);
  }
  // A user's own words are no hybrid.
  CHECK(runs.ids("@last") == Ids{id(14)});
  CHECK(runs.ids("@last~2") == Ids{id(12)});
  CHECK(runs.ids("@last~3") == Ids{id(4)});
  CHECK(runs.ids("@last~3..@last") == Ids{id(4), id(12), id(13), id(14)});
  CHECK(runs.ids(id(11) + "..@last").size() == 4);
}

TEST_CASE("selection: what has not ended, or has no record, is not @last, @running is the first") {
  Selections runs;
  CHECK(runs.error("@running").kind() == ErrorKind::not_found);
  CHECK(contains(runs.error("@running").hint(), "@last"));
  const auto put_open = [&](int n, spec::RunState state) {
    spec::RunRecord record = test::numbered_record(n);
    record.ended.clear();
    record.state = state;
    test::put(runs.catalog, record);
  };
  put_open(20, spec::RunState::running);
  CHECK(runs.ids("@running") == Ids{id(20)});
  put_open(21, spec::RunState::planned);
  put_open(22, spec::RunState::lost);  // without a record
  put_open(23, spec::RunState::interrupted);
  CHECK(runs.ids("@running") == Ids{id(21)});
  CHECK(runs.ids("@last") == Ids{id(4)});
  spec::RunRecord asset = test::numbered_record(24);
  asset.state = spec::RunState::running;
  asset.tags = {"asset:bubbles"};
  test::put(runs.catalog, asset);
  CHECK(runs.ids("@running") == Ids{id(21)});
  CHECK(runs.error("@running~1").kind() == ErrorKind::usage);
  for (const auto state :
       {spec::RunState::failed, spec::RunState::interrupted, spec::RunState::lost}) {
    spec::RunRecord record = test::numbered_record(30 + static_cast<int>(state));
    record.state = state;
    test::put(runs.catalog, record);
    CHECK(runs.ids("@last") == Ids{id(30 + static_cast<int>(state))});
  }
}

TEST_CASE("selection: where nothing has ended the hint names what runs") {
  const test::CatalogHome home;
  Catalog catalog(home.file());
  spec::RunRecord record = test::numbered_record(1);
  record.ended.clear();
  record.state = spec::RunState::running;
  test::put(catalog, record);
  CHECK(contains(error_of([&] { (void)catalog.select("@last", {}); }).hint(), "@running"));
}

TEST_CASE("selection: @last of an empty catalog is not found") {
  const test::CatalogHome home;
  const Catalog catalog(home.file());
  CHECK(error_of([&] { static_cast<void>(catalog.select("@last", {})); }).kind() ==
        ErrorKind::not_found);
}

TEST_CASE("selection: an id, or a beginning that only one has, names a run") {
  const Selections runs;
  CHECK(runs.ids(id(2)) == Ids{id(2)});
  CHECK(runs.ids("tiny-20261120-103203") == Ids{id(3)});
}

TEST_CASE("selection: a beginning that several have is refused with two of them") {
  const Selections runs;
  const base::Error error = runs.error("tiny-2026");
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.what(), "the id is ambiguous"));
  CHECK(contains(error.hint(), id(1)));
  CHECK(contains(error.hint(), id(2)));
  CHECK_FALSE(contains(error.hint(), "recipe="));
  CHECK(contains(runs.error("tiny").hint(), "; recipe=tiny names all runs of the recipe"));
}

TEST_CASE("selection: an id that other ids begin with still names its own run") {
  Selections runs;
  spec::RunRecord longer = test::numbered_record(1, id(2));  // older, and begins with the id of 2
  longer.created = "2020-01-01T00:00:00.000Z";
  test::put(runs.catalog, longer);
  longer.run_id += "x";
  test::put(runs.catalog, longer);
  longer.run_id += "x";
  test::put(runs.catalog, longer);
  CHECK(runs.ids(id(2)) == Ids{id(2)});
}

TEST_CASE("selection: an unknown id suggests the nearest, or says where to look") {
  const Selections runs;
  const base::Error near = runs.error("tiny-20261120-103203-abcdefgx");
  CHECK(near.kind() == ErrorKind::not_found);
  CHECK(contains(near.hint(), "did you mean '" + id(3) + "'?"));
  const base::Error far = runs.error("zzz");
  CHECK(far.kind() == ErrorKind::not_found);
  CHECK(contains(far.hint(), "sabath list runs"));
}

TEST_CASE("selection: characters of patterns and of terminals in an id are only text") {
  const Selections runs;
  CHECK(runs.error("tiny*").kind() == ErrorKind::not_found);
  CHECK(runs.error("tiny%").kind() == ErrorKind::not_found);
  CHECK(contains(runs.error("\x1b[31m").what(), "\\x1b[31m"));
}

TEST_CASE("selection: a range holds both ends, oldest first, in either order") {
  const Selections runs;
  const Ids expected{id(2), id(3), id(4)};
  CHECK(runs.ids(id(2) + ".." + id(4)) == expected);
  CHECK(runs.ids(id(4) + ".." + id(2)) == expected);
  CHECK(runs.ids("@last~2..@last") == expected);
  CHECK(runs.ids("@last..@last") == Ids{id(4)});
}

TEST_CASE("selection: runs of one instant are in a range by their ids") {
  Selections runs;
  for (const char* last : {"aaaaaaaa", "bbbbbbbb", "cccccccc"}) {
    spec::RunRecord record = test::numbered_record(9);
    record.run_id = std::string("tiny-20261120-103209-") + last;
    test::put(runs.catalog, record);
  }
  CHECK(runs.ids("@last..@last~1") ==
        Ids{"tiny-20261120-103209-bbbbbbbb", "tiny-20261120-103209-cccccccc"});
}

TEST_CASE("selection: terms must all hold") {
  Selections runs;
  spec::RunRecord other = test::numbered_record(5, "supercell");
  other.tags = {"nightly", "gpu"};
  other.seed = {8U, "drawn"};
  other.user = "bob";
  other.study_id = "threads";
  other.hosts.front().node = "node2";
  other.state = spec::RunState::failed;
  other.parameters["epochs"] = std::int64_t{9};
  other.parameters["hidden"] = spec::ParameterList{{std::int64_t{16}, std::int64_t{8}}};
  other.parameters["none"] = spec::ParameterList{};
  test::put(runs.catalog, other);
  const std::string term = GENERATE("id=supercell-*",
                                    "recipe=supercell",
                                    "tag=nightly",
                                    "tag=gpu",
                                    "seed=8",
                                    "user=bob",
                                    "study=threads",
                                    "node=node2",
                                    "host=node2",
                                    "status=failed",
                                    "state=failed",
                                    "epochs=9",
                                    "epochs=9.0",
                                    "epochs=9e0",
                                    "hidden=16,8",
                                    "hidden=16,8,seed=8",
                                    "none=,hidden=16,*",
                                    "rate=3e-3,epochs=9",
                                    "recipe=super*,tag=nightly,epochs=9,fast=true,rate=0.003");
  CHECK(runs.ids(term) == Ids{other.run_id});
  CHECK(runs.ids(term + ",recipe=tiny").empty());
}

TEST_CASE("selection: whole numbers are compared with all digits") {
  Selections runs;
  const auto put = [&](int n, const spec::ParameterValue& value) {
    spec::RunRecord record = test::numbered_record(n);
    record.parameters["v"] = value;
    test::put(runs.catalog, record);
  };
  put(11, std::int64_t{9007199254740992});
  put(12, std::int64_t{9007199254740993});
  put(13, std::int64_t{-9007199254740993});
  put(14, std::string("18446744073709551616"));
  put(15, std::string("18446744073709551617"));
  put(16, std::int64_t{10000000000000000});
  put(17, 1e16);
  put(18, std::int64_t{0});
  CHECK(runs.ids("v=9007199254740992") == Ids{id(11)});
  CHECK(runs.ids("v=9007199254740993") == Ids{id(12)});
  CHECK(runs.ids("v=9007199254740993.0") == Ids{id(12)});
  CHECK(runs.ids("v=-9007199254740993") == Ids{id(13)});
  CHECK(runs.ids("v=-9007199254740992").empty());
  CHECK(runs.ids("v=18446744073709551616") == Ids{id(14)});
  CHECK(runs.ids("v=18446744073709551617") == Ids{id(15)});
  CHECK(runs.ids("v=18446744073709551618").empty());
  CHECK(runs.ids("v=10000000000000000") == Ids{id(16), id(17)});
  CHECK(runs.ids("v=1e16") == Ids{id(16), id(17)});
  CHECK(runs.ids("v=-0.0") == Ids{id(18)});
  CHECK(runs.ids("v=123456789012345678901234567890123456789012345678901").empty());
}

TEST_CASE("selection: in a term only * is a pattern") {
  Selections runs;
  spec::RunRecord odd = test::numbered_record(5);
  odd.tags = {"a[b]c", "what?", "x=y", "50%_"};
  test::put(runs.catalog, odd);
  for (const char* term : {"tag=a[b]c", "tag=what?", "tag=x=y", "tag=50%_", "tag=a[*c", "tag=*?"}) {
    INFO(term);
    CHECK(runs.ids(term) == Ids{odd.run_id});
  }
  for (const char* term :
       {"tag=a[bx]c", "tag=wha?", "tag=50%", "tag=A[B]C", "tag=", "tag=[a-z]*"}) {
    INFO(term);
    CHECK(runs.ids(term).empty());
  }
  CHECK(runs.ids("tag=*").size() == 5);
  CHECK(runs.ids("no-such-parameter=*").empty());
}

TEST_CASE("selection: since takes an age, a day or a time") {
  Selections runs;
  for (const int days : {1, 6, 8}) {
    spec::RunRecord record = test::numbered_record(days, "aged");
    record.created = base::format_rfc3339(runs.clock.now() - std::chrono::days(days));
    test::put(runs.catalog, record);
  }
  const std::string cut = base::format_rfc3339(runs.clock.now() - std::chrono::days(2));
  const Ids two{test::numbered_record(6, "aged").run_id, test::numbered_record(1, "aged").run_id};
  CHECK(runs.ids("recipe=aged,since=7d") == two);
  CHECK(runs.ids("recipe=aged,since=144h") == two);
  CHECK(runs.ids("recipe=aged,since=143h") == Ids{two[1]});
  CHECK(runs.ids("recipe=aged,since=" + cut) == Ids{two[1]});
  CHECK(runs.ids("recipe=aged,since=" + cut.substr(0, 10)) == Ids{two[1]});
  CHECK(runs.ids("recipe=aged,since=2000-01-01").size() == 3);
  for (const char* age : {"5000w", "36000d"})
    CHECK(runs.ids(std::string("recipe=aged,since=") + age).size() == 3);
  for (const char* age : {"40000w", "100000000d"})
    CHECK(contains(runs.error(std::string("recipe=aged,since=") + age).what(), "is not a time"));
}

TEST_CASE("selection: one that cannot be read says what is wrong with it") {
  const Selections runs;
  const auto [text, problem] = GENERATE(table<std::string, std::string>({
      {"", "is empty"},
      {"..", "an end of the range is missing"},
      {"@last..", "an end of the range is missing"},
      {"..@last", "an end of the range is missing"},
      {"@", "'@' is not a run"},
      {"@first", "'@first' is not a run"},
      {"@last~", "'@last~' is not a run"},
      {"@last~x", "'@last~x' is not a run"},
      {"@last~-1", "'@last~-1' is not a run"},
      {"@last~1x", "'@last~1x' is not a run"},
      {"@last~18446744073709551615", "is not a run"},
      {"@last~99999999999999999999999", "is not a run"},
      {"@last3", "'@last3' is not a run"},
      {"=tiny", "'=tiny' is not KEY=VALUE"},
      {"recipe=tiny,", "'' is not KEY=VALUE"},
      {"recipe=tiny,ci", "'ci' is not KEY=VALUE"},
      {"hidden=16,", "'' is not KEY=VALUE"},
      {"16,hidden=16", "'16' is not KEY=VALUE"},
      {"status=great", "'great' is not a state"},
      {"status=o*", "'o*' is not a state"},
      {"since=yesterday", "'yesterday' is not a time"},
      {"since=", "'' is not a time"},
      {"since=7", "'7' is not a time"},
      {"since=2026-13-45", "'2026-13-45' is not a time"},
  }));
  INFO(text);
  const base::Error error = runs.error(text);
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(contains(error.what(), "selection '" + text + "': "));
  CHECK(contains(error.what(), problem));
}

TEST_CASE("selection: an unknown state is refused with those that there are") {
  CHECK(contains(Selections().error("status=done").hint(), "planned, running, ok, failed"));
}

TEST_CASE("selection: an unknown operator is refused, and those that there are are named") {
  const Selections runs;
  for (const char* text : {"lr==1", "lr=~a", "lr<>1", "lr=>1", "lr=<1", "lr!1", "lr!~a"}) {
    INFO(text);
    for (const std::string& whole : {std::string(text), "recipe=tiny," + std::string(text)}) {
      const base::Error error = runs.error(whole);
      CHECK(error.kind() == ErrorKind::usage);
      CHECK(contains(error.what(), "is not supported (at character"));
      CHECK(contains(error.hint(), "as in lr=VALUE"));
    }
  }
  // No operators: the value has an '=' of its own, and the '~' of @last.
  CHECK(runs.ids("tag=a=b").empty());
  CHECK(runs.ids("@last~1..@last").size() == 2);
}

TEST_CASE("selection: a seed is a number, and a state one of those that there are") {
  const Selections runs;
  const base::Error seed = runs.error("seed=abc");
  CHECK(seed.kind() == ErrorKind::usage);
  CHECK(contains(seed.what(), "'abc' is not a seed"));
  CHECK(runs.error("seed=-1").kind() == ErrorKind::usage);
  CHECK(runs.error("seed=").kind() == ErrorKind::usage);
  CHECK(runs.ids("seed=12345678*").empty());
  CHECK(runs.ids("seed=007") == runs.ids("seed=7"));
  CHECK(runs.ids("seed=00") == runs.ids("seed=0"));
  CHECK(contains(runs.error("status=faild").hint(), "did you mean 'failed'?"));
}

TEST_CASE("selection: its terms are read as they were typed") {
  const Selections runs;
  const auto terms = runs.catalog.parts_of("recipe=tiny,tag=a=b or not loss.lt=0.3").terms;
  REQUIRE(terms.size() == 3);
  CHECK(terms[0].key == "recipe");
  CHECK(terms[1].value == "a=b");
  CHECK(terms[2].key == "loss");
  CHECK(terms[2].comparison == catalog::Comparison::less);
  CHECK(runs.catalog.parts_of("@last~2").terms.empty());
  CHECK(runs.catalog.parts_of("@last~2").is_one_run);
  CHECK(runs.catalog.parts_of("recipe=tiny,@last").is_one_run);
  CHECK_FALSE(runs.catalog.parts_of("@last~2..@last").is_one_run);
}
