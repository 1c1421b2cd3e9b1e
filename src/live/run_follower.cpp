#include "run_follower.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/execution/current_record.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/whole_numbers.hpp>

namespace sabath::live {

void RunFollower::read_finished(base::SeriesSink& sink, const std::function<void()>& forget) {
  const auto current = execution::read_current(files_);
  if (!current) return;  // its record comes in a moment
  std::error_code code;
  spec::SeriesRests rests;
  std::vector<spec::Series> all;
  if (std::filesystem::exists(current->series, code))
    all = arrays::read_series(current->series, &rests);
  recipe_ = spec::parse_recipe(current->record.recipe_text, files_.record().string());
  declared_ = current->declared;
  stages_.clear();
  is_over_ = true;
  forget();
  for (const spec::Series& series : all) {
    const std::vector<double>* const rest = spec::rests_of(rests, series);
    const base::SeriesId id = sink.open(series.stream, series.name);
    for (std::size_t i = 0; i < series.size(); ++i) {
      sink.add(id,
               {series.rank[i],
                series.step[i],
                series.epoch[i],
                series.value[i],
                series.time_s[i],
                rest == nullptr ? 0 : (*rest)[i]});
    }
  }
}

void RunFollower::begin_attempt(int attempt) {
  if (recipe_.text.empty()) {
    const spec::RunPlan plan = files_.read_plan();
    recipe_ = spec::parse_recipe(plan.recipe_text, files_.plan().string() + ":/recipe");
    declared_ = recipe_.metrics;
    for (const spec::PlannedStage& stage : plan.stages) {
      if (!stage.not_due) stage_names_.push_back(stage.name);
    }
  }
  stages_.clear();
  for (const std::string& name : stage_names_) {
    collect::StageFiles stage{name, files_.attempt(attempt) / name, files_.outputs(name), {}, {}};
    stages_.push_back(std::make_unique<collect::SeriesFollower>(std::move(stage), declared_));
  }
  attempt_ = attempt;
}

void RunFollower::more(base::SeriesSink& sink, const std::function<void()>& forget) {
  if (is_over_) return;
  const spec::RunStatus status = files_.read_status();
  if (spec::is_final(status.state)) read_finished(sink, forget);
  if (is_over_ || status.attempt < 1) return;
  if (status.attempt != attempt_) {
    forget();
    begin_attempt(status.attempt);
  }
  bool is_void = false;
  for (const auto& stage : stages_)
    stage->more(sink, [&is_void] { is_void = true; });
  if (!is_void) return;
  // Points of one stage cannot be taken out of what all have given: all are read again.
  forget();
  begin_attempt(status.attempt);
  for (const auto& stage : stages_)
    stage->more(sink, {});
}

}  // namespace sabath::live
