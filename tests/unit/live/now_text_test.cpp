#include <sabath/base/text/display_width.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/live/now_text.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json run_of(const std::string& id, const std::string& state) {
  return {{"id", id},
          {"state", state},
          {"goes_on", true},
          {"stage", "train"},
          {"detail", "train"},
          {"alive", "2026-11-20T10:00:00.000Z"},
          {"last_line", "epoch 3"},
          {"spark", {4, 3, 2, 1}}};
}

std::string text_of(const json& now, live::TerminalSize size = {100, 24}) {
  return live::now_text(now.dump(),
                        size,
                        report::PlotLetters::ascii,
                        base::parse_rfc3339("2026-11-20T10:00:09.000Z").value());
}

}  // namespace

TEST_CASE("now: on a terminal it says since when the scheduler does not answer") {
  const json page = {
      {"counts", {{"planned", 1}}},
      {"runs", {{{"id", "a"}, {"state", "planned"}, {"goes_on", true}, {"waits_for", "PENDING"}}}},
      {"ended_badly", json::array()},
      {"reasons_from", "2026-11-28T03:04:05.000Z"}};
  const std::string text = live::now_text(page.dump(), {100, 20}, {}, {});
  CHECK_THAT(text, Contains("the scheduler has not answered since 03:04:05 UTC"));
}

TEST_CASE("now text: what runs, what waits and why, what ended badly") {
  json waiting = run_of("b", "planned");
  waiting["waits_for"] = "PENDING (JobHeldUser)";
  waiting["stuck"] = true;
  json ended = run_of("c", "failed");
  ended["detail"] = "true exited with status 1";
  const std::string text = text_of({{"counts", {{"running", 1}, {"planned", 1}}},
                                    {"problem", ""},
                                    {"runs", {run_of("a", "running"), waiting}},
                                    {"ended_badly", {ended}}});
  CHECK_THAT(text, Contains("1 planned, 1 running") && Contains("(q leaves)"));
  CHECK_THAT(text, Contains("epoch 3") && Contains("9.0 s"));
  CHECK_THAT(text, Contains("PENDING (JobHeldUser), which as a rule does not pass by itself"));
  CHECK_THAT(text, Contains("true exited with status 1"));
}

TEST_CASE("now text: has no more lines and signs than the terminal") {
  json runs = json::array();
  for (int i = 0; i < 50; ++i)
    runs.push_back(run_of("run-" + std::to_string(i) + std::string(200, 'x'), "running"));
  const std::string text = text_of({{"counts", {{"running", 50}}},
                                    {"problem", ""},
                                    {"runs", runs},
                                    {"ended_badly", json::array()}},
                                   {40, 10});
  const auto lines = base::text_lines(text);
  CHECK(lines.size() == 10);
  for (const std::string& line : lines)
    CHECK(base::display_width(line) <= 40);
  CHECK_THAT(lines.back(), Contains("... 45 more"));
}

TEST_CASE("now text: nothing is under way, and what a stranger wrote acts on no terminal") {
  json now{{"counts", json::object()},
           {"problem", ""},
           {"runs", json::array()},
           {"ended_badly", json::array()}};
  CHECK_THAT(text_of(now), Contains("nothing is under way"));
  json run = run_of("a", "running");
  run["last_line"] = "\x1b[2J";
  now["runs"] = {run};
  now["problem"] = "\x1b]0;x";
  CHECK_THAT(text_of(now), !Contains("\x1b"));
}
