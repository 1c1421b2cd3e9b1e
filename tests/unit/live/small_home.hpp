#pragma once

#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/live/live_view.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <memory>
#include <string>

namespace sabath::test {

/// A home with runs of a small recipe, and the view of it.
class SmallHome {
 public:
  SmallHome() {
    folders.home = home / "home";
    folders.cache = home / "cache";
    std::filesystem::create_directories(folders.runs());
    open_catalog();
    live::ViewParts parts;
    parts.folders = folders;
    parts.catalog = [this]() -> catalog::Catalog& { return *catalog; };
    parts.refresh = [this] { ++refreshes; };
    parts.documents = [this]() -> const home::Documents& { return documents; };
    parts.cache = [this]() -> cache::Cache& { return *cache; };
    parts.clock = &clock;
    parts.asks_schedulers = false;
    view = std::make_unique<live::LiveView>(std::move(parts));
    cache = std::make_unique<cache::Cache>(folders.cache, folders.state(), clock);
  }

  void open_catalog() { catalog = std::make_unique<catalog::Catalog>(folders.catalog()); }

  static std::string id(int number) {
    return fmt::format("tiny-20261120-1032{:02}-abcdefgh", number);
  }
  home::RunFiles files(int number) const { return home::RunFiles(folders.runs() / id(number)); }

  static constexpr const char* recipe =
      R"({"schema": 1, "name": "tiny", "metrics": {"loss": {"better": "lower"}},)"
      R"( "stages": [{"name": "one", "run": ["true"]}, {"name": "two", "run": ["true"], "needs": ["one"]}]})";

  /// A run whose stage "one" runs now.
  home::RunFiles start(int number) {
    spec::RunPlan plan;
    plan.run_id = id(number);
    plan.created = fmt::format("2026-11-20T10:32:{:02}.000Z", number);
    plan.recipe_text = recipe;
    for (const char* name : {"one", "two"}) {
      spec::PlannedStage& stage = plan.stages.emplace_back();
      stage.name = name;
      stage.argv = {"true"};
    }
    plan.stages.back().needs = {"one"};
    plan.reproduce = "sabath run tiny";
    const home::RunFiles made = files(number);
    std::filesystem::create_directories(made.attempt(1) / "one");
    base::write_file_atomically(made.plan(), base::pretty_json(spec::to_json(plan)));
    base::write_file_atomically(made.attempt(1) / "one/stdout.log", "begin\nlast words\n");
    base::write_file_atomically(made.attempt(1) / "one/stderr.log", "");
    set_state(number, spec::RunState::running);
    catalog->put_plan(plan, made.directory().string());
    catalog->put_state(plan.run_id, spec::RunState::running, "");
    return made;
  }
  void set_state(int number, spec::RunState state, const std::string& message = {}) {
    spec::RunStatus status;
    status.state = state;
    status.attempt = 1;
    status.stage = "one";
    status.message = message;
    home::stamp_process(status);
    files(number).write_status(status);
  }
  /// Reports values of the metric, as the code of stage "one".
  void report(int number, int first_step, const std::vector<std::string>& values) {
    std::ofstream file(files(number).attempt(1) / "one/metrics-0.jsonl", std::ios::app);
    for (std::size_t i = 0; i < values.size(); ++i)
      file << fmt::format(
          "{{\"step\": {}, \"loss\": {}}}\n", first_step + static_cast<int>(i), values[i]);
  }
  /// Ends the run with a record and a series of these values.
  void finish(int number, const std::vector<double>& values) {
    spec::RunRecord record = full_record();
    record.run_id = id(number);
    record.created = fmt::format("2026-11-20T10:32:{:02}.000Z", number);
    record.recipe_text = recipe;
    record.recipe_digest = base::sha256_of(recipe);
    record.variants.reset();
    record.stages.resize(1);
    record.stages.front().name = "one";
    record.metrics.clear();
    spec::MetricSummary& metric = record.metrics.emplace_back();
    metric.stream = "one";
    metric.name = "loss";
    metric.better = spec::Better::lower;
    metric.points = values.size();
    metric.last = values.back();
    arrays::SeriesWriter writer(files(number).series());
    const auto series = writer.open("one", "loss");
    for (std::size_t i = 0; i < values.size(); ++i)
      writer.add(series, {0, static_cast<std::int64_t>(i + 1), base::no_step, values[i]});
    writer.close();
    files(number).write_record(record);
    set_state(number, spec::RunState::ok);
    catalog->put_record(record, files(number).directory().string());
  }

  nlohmann::json ask(std::vector<std::string> words,
                     std::map<std::string, std::string> parameters = {}) {
    return nlohmann::json::parse(view->answer({std::move(words), std::move(parameters)}));
  }

  TempHome home{};
  FakeClock clock{};
  home::Folders folders{};
  home::Documents documents{{}, {}};
  std::unique_ptr<catalog::Catalog> catalog{};
  std::unique_ptr<cache::Cache> cache{};
  std::unique_ptr<live::LiveView> view{};
  int refreshes = 0;
};

}  // namespace sabath::test
