#include <sabath/app/run_recipe.hpp>
#include <sabath/base/error.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Reports the stages of a run as they begin, and long tasks, from its status.
class StageProgress {
 public:
  StageProgress(const home::RunFiles& files, base::Observer& observer)
      : files_(files), observer_(observer) {}

  void look() {
    const spec::RunStatus status = files_.read_status();
    if (status.stage != reported_) observer_.note("  stage " + status.stage);
    reported_ = status.stage;
    const bool goes_on = status.state == spec::RunState::running && !status.message.empty();
    if (goes_on && status.message != message_) observer_.note("  " + status.message);
    message_ = status.message;
  }

 private:
  const home::RunFiles& files_;
  base::Observer& observer_;
  std::string reported_;
  std::string message_;
};

/// An asset while it is being made; a caller that continues after an error may ask for it again.
class Generating {
 public:
  Generating(std::vector<std::string>& names, const std::string& name) : names_(names) {
    names_.push_back(name);
  }
  ~Generating() { names_.pop_back(); }
  Generating(const Generating&) = delete;
  Generating& operator=(const Generating&) = delete;

 private:
  std::vector<std::string>& names_;
};

}  // namespace

RecipeRunner::RecipeRunner(const planning::RecipePreparer::Tools& tools,
                           launch::Launcher& launcher,
                           home::Folders folders,
                           fs::path program)
    : tools_(tools),
      launcher_(launcher),
      folders_(std::move(folders)),
      program_(std::move(program)),
      preparer_(tools,
                folders_,
                [this](const spec::Asset& asset,
                       bool offline,
                       base::Observer& observer,
                       const std::stop_token& stop) {
                  return generate(asset, offline, observer, stop);
                }) {}

assets::Generated RecipeRunner::generate(const spec::Asset& asset,
                                         bool offline,
                                         base::Observer& observer,
                                         const std::stop_token& stop) {
  if (std::ranges::find(generating_, asset.name) != generating_.end()) {
    std::string circle;
    for (const std::string& name : generating_)
      circle += "'" + name + "' needs ";
    throw Error(
        ErrorKind::usage,
        "asset '" + asset.name + "': it is made from itself: " + circle + "'" + asset.name + "'");
  }
  const Generating generating(generating_, asset.name);
  planning::RunRequest request;
  request.recipe = tools_.documents.recipe(asset.generate->recipe);
  request.only_stage = asset.generate->stage;
  request.offline = offline;
  request.tags = {"asset:" + asset.name};  // no tag of a user's, and @last passes it by
  request.seed = 1;  // a generated asset is a thing, not an experiment: everybody gets the same
  const execution::RunOutcome outcome = run(request, observer, stop);
  if (outcome.state != spec::RunState::ok) {
    const bool stopped = outcome.state == spec::RunState::interrupted;
    throw Error(stopped ? ErrorKind::interrupted : ErrorKind::launch,
                "asset '" + asset.name + "': run " + outcome.run_id + ": " + outcome.message,
                "'sabath show " + outcome.run_id + "' shows what happened");
  }
  const auto record = home::RunFiles(outcome.directory).read_record();
  assets::Generated made{{}, outcome.run_id, record->hosts.front().node};
  for (const spec::StageRecord& stage : record->stages) {
    if (stage.name != request.only_stage || stage.made_by_run.empty()) continue;
    made.run_id = stage.made_by_run;
    made.host = stage.made_on_host;
  }
  for (const spec::OutputRecord& output : record->outputs) {
    if (output.stage != request.only_stage) continue;
    const auto object = tools_.cache.find(output.digest);
    made.files.emplace(
        output.path,
        object ? *object
               : tools_.cache.publish_file(home::RunFiles(outcome.directory).outputs(output.stage) /
                                           output.path));
  }
  return made;
}

execution::RunInFlight RecipeRunner::launch(const spec::RunPlan& plan,
                                            const planning::Placement& placement) {
  const auto& variables = placement.variables;
  const std::set<std::string>& left_out = placement.left_out;
  const fs::path directory = folders_.runs() / plan.run_id;
  launch::Job job{plan.run_id, {program_.string(), "exec", directory.string()}, directory, {}};
  if (variables || !left_out.empty()) {
    job.environment = base::current_environment();
    std::erase_if(*job.environment, [&](const auto& item) {
      if (left_out.contains(item.first)) return true;
      if (!variables || home::stays_of_session(item.first)) return false;
      return home::is_of_determinism(item.first) || home::is_of_surroundings(item.first);
    });
    for (const auto& [name, value] : variables.value_or(base::Environment{}))
      (*job.environment)[name] = value;
  }
  return follow(directory, launcher_.submit(job));
}

execution::RunOutcome RecipeRunner::run(const planning::RunRequest& request,
                                        base::Observer& observer,
                                        std::stop_token stop) {
  const planning::PreparedRecipe prepared = preparer_.prepare(request, observer, stop);
  const spec::RunPlan planned = preparer_.plan(prepared, prepared.request, stop);
  observer.note("run " + planned.run_id);
  const execution::RunInFlight flight = launch(planned, prepared.request.placement);
  const home::RunFiles files(flight.directory());
  StageProgress progress(files, observer);
  std::chrono::nanoseconds pause = execution::first_look;
  bool cancelled = false;
  while (!flight.is_over()) {
    if (stop.stop_requested() && !cancelled) {
      flight.cancel();
      cancelled = true;
    }
    tools_.clock.sleep_for(pause);
    pause = execution::longer_look(pause);
    if (pause > std::chrono::milliseconds(20)) progress.look();
  }
  return flight.outcome(cancelled);
}

}  // namespace sabath::app
