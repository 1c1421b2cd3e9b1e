#include "collect_stages.hpp"

#include "joined_attempts.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/collect.hpp>
#include <sabath/spec/derived_metric.hpp>

#include <algorithm>
#include <chrono>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

/// Enough to find the mistake: a recipe of a thousand metrics rarely has a thousand.
constexpr std::size_t max_notes = 50;

bool is_from(const spec::MetricSource& source, const collect::Searched& searched) {
  return source.kind == searched.kind && source.file == searched.file;
}

/// "regex 'loss (\\S+)'", "column 'loss' of log.csv"
std::string wanted_text(const spec::MetricSpec& metric) {
  std::string text(spec::to_string(metric.from.kind));
  text += " '" + (metric.from.pattern.empty() ? metric.key() : metric.from.pattern) + "'";
  if (!metric.from.file.empty()) text += " in " + metric.from.file;
  return base::printable(text);
}

/// "; did you mean 'loss', which stage train reports?"; empty if no undeclared metric is near.
std::string nearest_text(const spec::MetricSpec& metric,
                         const std::vector<spec::MetricSpec>& declared,
                         const std::vector<spec::MetricSummary>& found) {
  std::vector<std::string> names;
  std::map<std::string, const spec::MetricSummary*> by_name;
  for (const spec::MetricSummary& summary : found) {
    if (std::ranges::find(declared, summary.name, &spec::MetricSpec::name) != declared.end())
      continue;
    for (const std::string& name : {summary.name, summary.stream + "/" + summary.name}) {
      names.push_back(name);
      by_name.emplace(name, &summary);
    }
  }
  const std::string guess = base::nearest(metric.key(), names);
  if (guess.empty()) return {};
  const spec::MetricSummary& near = *by_name.at(guess);
  return base::printable("; did you mean '" + near.name + "', which stage " + near.stream +
                         " reports?");
}

void append(std::vector<std::string>& notes, const std::string& note) {
  if (notes.size() < max_notes) notes.push_back(base::redact(note));
}

}  // namespace

spec::Collected CollectedStages::collected() const {
  using Places = std::vector<spec::SeedPlace>;
  spec::Collected all;
  for (const auto& [stage, extraction] : stages) {
    for (const auto& [name, value] : extraction.collected.parameters)
      all.parameters.emplace(name, base::redact(value));
    const auto& seeds = extraction.collected.seeds;
    all.seeds.insert(all.seeds.end(), seeds.begin(), seeds.end());
    for (spec::SeedPlace place : extraction.collected.seed_places.value_or(Places{})) {
      if (!all.seed_places) all.seed_places.emplace();
      place.file = base::redact(place.file);
      all.seed_places->push_back(std::move(place));
    }
    for (const std::string& note : extraction.collected.notes)
      append(all.notes, "stage " + stage + ": " + note);
  }
  for (const std::string& note : notes)
    append(all.notes, base::printable(note));
  return all;
}

std::string CollectedStages::problem(const std::string& stage) const {
  const auto found = stages.find(stage);
  if (found == stages.end() || found->second.bad_lines == 0) return {};
  const collect::BadLine& first = found->second.examples.front();
  return "stage " + stage + ": " + std::to_string(found->second.bad_lines) +
         " metrics line(s) cannot be read; the first is " + first.file.string() + ":" +
         std::to_string(first.line) + ": " + (first.problem.starts_with('\'') ? "" : "it ") +
         first.problem;
}

std::vector<std::string> CollectedStages::missing(
    const std::vector<spec::MetricSpec>& declared) const {
  std::vector<std::string> lines;
  for (const spec::MetricSpec& metric : declared) {
    const bool is_there = std::ranges::any_of(metrics, [&](const auto& summary) {
      return summary.name == metric.name &&
             (metric.from.stage.empty() || summary.stream == metric.from.stage);
    });
    // A stage of another task could not report it.
    const bool is_asked = metric.from.stage.empty() || stages.contains(metric.from.stage);
    if (is_there || !is_asked) continue;
    std::string searched;
    for (const auto& [stage, extraction] : stages) {
      for (const collect::Searched& file : extraction.searched) {
        if (!is_from(metric.from, file)) continue;
        searched += (searched.empty() ? "" : ", ") + stage + "/" + file.path.filename().string();
      }
    }
    append(lines,
           "metric '" + base::printable(metric.name) + "' was not found: " + wanted_text(metric) +
               (searched.empty() ? "; there was no file to search"
                                 : "; searched " + base::printable(searched)) +
               nearest_text(metric, declared, metrics));
  }
  return lines;
}

std::vector<fs::path> earlier_folders(const home::RunFiles& files,
                                      int attempt,
                                      const std::string& stage) {
  // A step that ended before the attempt has a link there to where it was executed.
  std::error_code code;
  const auto folder_of = [&](int number) { return files.attempt(number) / stage; };
  while (attempt > 1 && fs::is_symlink(fs::symlink_status(folder_of(attempt), code)))
    --attempt;
  std::vector<fs::path> folders;
  for (int number = 1; number < attempt; ++number) {
    if (fs::is_directory(fs::symlink_status(folder_of(number), code)))
      folders.push_back(folder_of(number));
  }
  return folders;
}

std::vector<collect::StageFiles> files_of(const std::vector<std::string>& stages,
                                          const spec::RunPlan& plan,
                                          const home::RunFiles& files,
                                          int attempt,
                                          const std::stop_token& stop) {
  // An interrupted run has metrics too.
  base::ReadLimits limits{stop};
  if (stop.stop_requested())
    limits = {{}, std::chrono::steady_clock::now() + std::chrono::minutes(1)};
  std::vector<collect::StageFiles> found;
  for (const std::string& name : stages) {
    found.push_back({name, files.attempt(attempt) / name, files.outputs(name), {}, limits});
    const auto stage = std::ranges::find(plan.stages, name, &spec::PlannedStage::name);
    if (stage != plan.stages.end() && stage->checkpoint.value_or(false))
      found.back().earlier = earlier_folders(files, attempt, name);
  }
  return found;
}

void note_earlier(const std::vector<collect::StageFiles>& files, spec::StageRecord& stage) {
  const auto own = std::ranges::find(files, stage.name, &collect::StageFiles::stage);
  if (own != files.end() && !own->earlier.empty())
    stage.earlier_attempts = static_cast<int>(own->earlier.size());
}

CollectedStages collect_stages(const std::vector<collect::StageFiles>& stages,
                               const std::vector<spec::MetricSpec>& declared,
                               const std::filesystem::path& series) {
  CollectedStages result;
  arrays::SeriesWriter writer(series);
  collect::Summarizer summarizer(spec::with_derived(declared), writer);
  collect::DerivedMetrics derived(declared, summarizer);
  for (const collect::StageFiles& files : stages) {
    collect::Extraction& extraction = result.stages[files.stage];
    // Between attempts times stand still, or pass without the stage: nothing follows from them.
    if (!files.earlier.empty()) {
      extraction = extract_joined(files, declared, summarizer);
      continue;
    }
    extraction = collect::extract_all(files, declared, derived);
    if (extraction.start_s) derived.start(files.stage, *extraction.start_s);
    for (const auto& [metric, is_samples] : extraction.counts_samples) {
      if (is_samples) derived.count_samples(files.stage, metric);
    }
  }
  result.notes = derived.finish();
  writer.close();
  result.metrics = summarizer.summaries();
  return result;
}

}  // namespace sabath::execution
