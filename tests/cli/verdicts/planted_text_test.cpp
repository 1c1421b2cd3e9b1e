// What a stranger wrote into a record, a document, a log or a table acts on no terminal, starts no
// line of its own, and is no markup, formula or JSON of ours.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

using namespace sabath::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Escape sequences, a bell, an override of direction, a control of the second set, ends of lines,
/// and what spreadsheets, HTML and Markdown take for their own.
constexpr const char* planted =
    "x\nFORGED\x1b[31m\x07\u202e\u009b\rFORGED <b onclick=1>|`=1+1\u2028FORGED";

/// Characters that no output may have. Empty: none.
std::string forbidden_in(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && text[i] != '\n' && text[i] != '\t') || byte == 0x7F)
      return "control character " + std::to_string(byte) + " at " + std::to_string(i);
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0)
      return "control character of two bytes at " + std::to_string(i);
  }
  for (const char* mark : {"\u202e", "\u2028"}) {
    if (text.find(mark) != std::string::npos) return "a mark that is not seen";
  }
  for (std::size_t at = text.find("FORGED"); at != std::string::npos;
       at = text.find("FORGED", at + 1)) {
    const auto line = text.find_last_of('\n', at);
    if (at == (line == std::string::npos ? 0 : line + 1)) return "a line of its own";
  }
  return {};
}

void check_safe(const std::string& text) {
  CHECK(forbidden_in(text) == "");
}

/// What a reader holds to a form of its own, so that nothing can be planted there.
bool has_form(const std::string& path) {
  for (const char* key : {"/state",
                          "/better",
                          "/median",
                          "digest",
                          "_definition",
                          "/recipe_text",
                          "/run_id",
                          "/study_id",
                          "/recipe_name",
                          "code_state/tree",
                          "/recipe",
                          "/cache",
                          "/outputs/0/path",
                          "/outputs/0/stage",
                          "/stages/0/name"}) {
    const std::string_view end(key);
    if (path.size() >= end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0)
      return true;
  }
  return false;
}

/// Puts the text into each string of a document that has no form. Returns how many.
int plant(json& value, const std::string& path) {
  if (value.is_string() && !has_form(path)) {
    value = planted;
    return 1;
  }
  int count = 0;
  if (value.is_array() || value.is_object()) {
    for (auto& [key, member] : value.items())
      count += plant(member, path + "/" + key);
  }
  return count;
}

int plant_in_file(const fs::path& file) {
  json document = json::parse(text_of(file));
  const int count = plant(document, "");
  ::chmod(file.c_str(), 0644);
  write_text(file, document.dump());
  return count;
}

/// Two runs of a recipe whose records a stranger has written into.
std::vector<std::string> planted_runs(const Sabath& sabath) {
  const std::string recipe = sabath.shell_recipe(
      "tiny",
      R"(echo '{{"step": 1, "loss": 2.5}}' >> $SABATH_METRICS; echo 1 > {output}/a.txt
         printf 'log \033[31m\007\n' >&2)",
      R"({"parameters": {"word": {"type": "string", "default": "plain"}},
          "metrics": {"loss": {"unit": "1", "better": "lower"}}})",
      R"({"outputs": ["a.txt"]})");
  for (const char* seed : {"1", "2"}) {
    done(sabath,
         {"run", recipe, "--seed", seed, "--tag", "t", "--set", std::string("word=") + planted});
  }
  std::vector<std::string> ids;
  for (const fs::path& folder : sabath.run_directories()) {
    ids.push_back(folder.filename().string());
    REQUIRE(plant_in_file(folder / "record.json") > 50);
  }
  const Answer indexed = sabath({"catalog", "reindex"});
  INFO(indexed.errors);
  REQUIRE(indexed.output == "2 runs indexed, 0 could not be read\n");
  return ids;
}

}  // namespace

TEST_CASE("cli: what a stranger wrote into a record acts on nothing that shows it") {
  const Sabath sabath;
  const auto ids = planted_runs(sabath);
  const std::vector<std::vector<std::string>> commands = {
      {"list", "runs", "--all"},
      {"show", ids[0]},
      {"status", ids[0]},
      {"search", "FORGED"},
      {"compare", ids[0], ids[1]},
      {"compare", ids[0], ids[1], "--json"},
      {"compare", "recipe=tiny", "--by", "seed"},
      {"compare", ids[0], ids[1], "--better", "loss"},
      {"rank", "recipe=tiny", "--by", "host", "--across", "parameters,recipe,data"},
      {"explain", ids[0], ids[1]},
      {"repro", ids[0]},
      {"collect", ids[0]},
      {"verify", ids[0]},
      {"logs", ids[0], "--stage", planted},
      {"show", planted},
      {"fetch", planted},
      {"run", planted},
      {"list", "runs", std::string("tag=") + planted},
      {"env", "show", planted},
      {"doctor"},
      {"catalog", "stats"}};
  for (const auto& words : commands) {
    INFO(words[0] << " " << (words.size() > 1 ? words[1] : ""));
    const Answer text = sabath(words);
    check_safe(text.output);
    check_safe(text.errors);
    CHECK(text.status != 70);
    std::vector<std::string> as_json = words;
    if (words[0] == "logs") continue;
    as_json.insert(as_json.begin(), "--json");
    const Answer answer = sabath(as_json);
    check_safe(answer.output);
    check_safe(answer.errors);
    if (!answer.output.empty() && words[0] != "fetch") CHECK(json::accept(answer.output));
  }
  // The text is there all the same: it is what the record has.
  const json shown = answered(sabath, {"show", ids[0]});
  CHECK(shown.dump().find("FORGED") != std::string::npos);
}

TEST_CASE("cli: what a stranger wrote into a record acts on no report and no baseline") {
  const Sabath sabath;
  const auto ids = planted_runs(sabath);
  for (const char* file : {"r.html", "r.md", "r.csv", "r.json"}) {
    INFO(file);
    const fs::path path = sabath.folder() / file;
    const Answer answer = sabath({"report", "recipe=tiny", "--by", "seed", "-o", path.string()});
    INFO(answer.errors);
    REQUIRE(fs::exists(path));
    std::string text = text_of(path);
    std::erase(text, '\r');  // ends of lines of CSV
    check_safe(text);
    // In CSV and JSON it is no markup, and in Markdown it stands between fences.
    if (path.extension() == ".html") CHECK(text.find("<b onclick") == std::string::npos);
    check_safe(answer.output);
    check_safe(answer.errors);
  }
  const fs::path baseline = sabath.folder() / "baseline.json";
  const Answer proposed =
      sabath({"baseline", "propose", "recipe=tiny", "-o", baseline.string(), "--note", planted});
  check_safe(proposed.output);
  check_safe(proposed.errors);
  if (!fs::exists(baseline)) return;
  const fs::path junit = sabath.folder() / "check.xml";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"baseline", "show", baseline.string()},
        {"check", "recipe=tiny", "--baseline", baseline.string(), "--junit", junit.string()}}) {
    const Answer answer = sabath(words);
    check_safe(answer.output);
    check_safe(answer.errors);
  }
  if (fs::exists(junit)) check_safe(text_of(junit));
}

TEST_CASE("cli: what a stranger wrote into documents and tables acts on nothing that shows it") {
  const Sabath sabath;
  const json text = planted;
  sabath.asset("stranger",
               R"({"schema": 1, "kind": "dataset", "name": "stranger", "description": )" +
                   text.dump() + R"(, "license": )" + text.dump() +
                   R"(, "files": [{"path": "a", "sources": ["http://127.0.0.1:1/)" + "\u202ex" +
                   R"("]}]})");
  json recipe =
      json::parse(text_of(fs::path(sabath.shell_recipe("plain", "true")) / "recipe.json"));
  recipe["description"] = planted;
  recipe["name"] = "other";
  const std::string folder = sabath.recipe("other", recipe.dump());
  write_text(sabath.folder() / "rows.csv",
             "run,loss,note\na,1.5,\"x\u202e\x1b[31m=1+1\"\nb,1.25,\"y\nFORGED\"\n");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"list", "assets"},
                                                {"list", "recipes"},
                                                {"show", "stranger"},
                                                {"show", folder},
                                                {"fetch", "stranger"},
                                                {"run", folder, "--dry-run"},
                                                {"run", folder},
                                                {"import",
                                                 (sabath.folder() / "rows.csv").string(),
                                                 "--recipe",
                                                 "table",
                                                 "--metrics",
                                                 "loss",
                                                 "--facets",
                                                 "note"},
                                                {"list", "runs"},
                                                {"show", "@last"}}) {
    INFO(words[0] << " " << words[1]);
    const Answer answer = sabath(words);
    check_safe(answer.output);
    check_safe(answer.errors);
    CHECK(answer.status != 70);
  }
}
