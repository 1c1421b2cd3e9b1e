#pragma once

#include "support/program.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace sabath::test {

using nlohmann::json;
namespace fs = std::filesystem;

inline json described() {
  return {{"schema", 1},
          {"description", "ours"},
          {"keep", {"OURS_STATE"}},
          {"submit",
           {{"directive", "#OURS "},
            {"options", {"-n {comment}", "-c {cpus}", "-g {request.gpu}={gpus}"}},
            {"command", {"osub", "{script}"}},
            {"id", "^job ([0-9]+)"},
            {"untold", {{"gpus", "\"gpu\" in the site's \"request\" says what they are called"}}}}},
          {"poll",
           {{{"command", {"ostat", "{ids}"}},
             {"rows", "(?m)^(?<id>[0-9]+) (?<state>[A-Z]+)(?: (?<reason>.*))?$"}}}},
          {"states", {{"W", "pending"}, {"R", "running"}, {"E", "done"}}},
          {"called", {{"W", "waits its turn"}}},
          {"stuck", "\\(Held"},
          {"cancel", {{"command", {"oend", "{ids}"}}}}};
}

/// A user at such a site, whose jobs wait until the test says what else.
struct DescribedSite {
  explicit DescribedSite(const json& site = {}, const json& description = described()) {
    const fs::path config = sabath.folder() / "config";
    fs::create_directories(config / "sites");
    fs::create_directories(config / "schedulers");
    fs::create_directories(tools());
    json document = {{"schema", 1}, {"scheduler", "ours"}, {"grace", "1s"}};
    if (!site.is_null()) document.update(site);
    write_text(config / "sites/here.json", document.dump());
    write_text(config / "schedulers/ours.json", description.dump());
    auto& variables = sabath.environment();
    variables["PATH"] = tools().string() + ":" + variables["PATH"];
    variables["OURS_STATE"] = sabath.folder().string();
    tool("osub", "echo >> \"$OURS_STATE/jobs\"; echo \"job $(wc -l < \"$OURS_STATE/jobs\")\"");
    tool("oend", "");
    say("W");
  }

  fs::path tools() const { return sabath.folder() / "tools"; }
  void tool(const std::string& name, const std::string& script) const {
    write_text(tools() / name, "#!/bin/bash\n" + script + "\n");
    fs::permissions(tools() / name, fs::perms::owner_all);
  }
  /// The state of all jobs; empty: nobody knows them.
  void say(const std::string& state) const {
    tool("ostat", state.empty() ? "" : "for id; do echo \"$id " + state + "\"; done");
  }
  /// Nobody answers what is asked of the queue; `oend` writes down whom it ended.
  void go_deaf() const {
    tool("ostat", "echo 'cannot contact the queue' >&2; exit 1");
    note_ends();
  }
  void note_ends() const { tool("oend", "echo \"$@\" >> \"$OURS_STATE/ended\""); }
  std::string ended() const { return text_of(sabath.folder() / "ended"); }
  bool was_asked() const { return fs::exists(sabath.folder() / "jobs"); }
  std::string recipe(const std::string& resources) const {
    return sabath.shell_recipe("tiny", "true", "{}", R"({"resources": )" + resources + "}");
  }

  Sabath sabath{};
};

}  // namespace sabath::test
