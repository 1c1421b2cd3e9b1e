#include "run.hpp"
#include "watching.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/home/run_logs.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/planning/recipe_preparer.hpp>

#include <algorithm>

namespace sabath::cli {
namespace {

/// Environments can take long to build, and jobs long to begin.
constexpr std::chrono::hours longest_wait{24 * 7};

planning::PreparedRecipe make_ready_in_job(const planning::RunRequest& request,
                                           const spec::Site& site,
                                           const std::vector<std::string>& arguments,
                                           Workspace& workspace) {
  const auto parent = workspace.folders().state() / "prepare";
  base::make_directories(parent);
  const base::TempDir folder(parent);
  const auto file = folder.path() / "ready.json";
  launch::BatchJob job;
  job.name = "sabath-prepare";
  job.comment = launch::job_word("sabath-prepare-" + folder.path().filename().string());
  job.script = folder.path() / "job.sh";
  job.log = folder.path() / "job.log";
  job.argv = {site.program.empty() ? program_path().string() : site.program};
  for (const std::filesystem::path& catalog : workspace.folders().catalogs)
    job.argv.insert(job.argv.end(), {"--catalog", catalog.string()});
  job.argv.insert(job.argv.end(), arguments.begin(), arguments.end());
  job.argv.insert(job.argv.end(), {"--prepare", file.string()});
  const bool resumes = arguments.size() > 1 && arguments[1] == "--resume";
  const auto variants = workspace.runner().preparer().environments_of(request.recipe).variants;
  const bool has_variant = std::ranges::find(variants, site.variant) != variants.end();
  if (!resumes && request.variant.empty() && has_variant)
    job.argv.insert(job.argv.end(), {"--variant", site.variant});
  if (!resumes && request.offline) job.argv.emplace_back("--offline");
  job.resources = site.resources;
  const std::string id = workspace.monitor(site).scheduler().submit(job, workspace.stop());
  workspace.observer().note("job " + id + " of '" + site.name + "' makes everything ready");
  const auto failed = planning::unprepared(file);
  const AwaitedJob awaited = await_file({file, failed}, id, site, longest_wait, false, workspace);
  const std::string place = "job " + id + " of '" + site.name + "': ";
  std::error_code code;
  if (std::filesystem::exists(file, code)) return planning::read_prepared(file, request);
  if (std::filesystem::exists(failed, code)) throw planning::read_unprepared(file, place);
  const std::string fate = awaited.has_ended ? "it has ended" : cancel_job(id, site, workspace);
  if (!awaited.has_ended || workspace.stop().stop_requested())
    throw base::Error(base::ErrorKind::interrupted, place + "nothing is ready; " + fate);
  throw base::Error(base::ErrorKind::environment,
                    place + "ended (" + awaited.view.state +
                        ") and nothing is ready: " + home::last_words(job.log),
                    "'sabath doctor --site " + site.name + "' checks what its nodes see");
}

}  // namespace

planning::PreparedRecipe make_ready(const planning::RunRequest& request,
                                    const std::vector<spec::StudyPoint>& points,
                                    const std::string& site,
                                    const std::vector<std::string>& arguments,
                                    Workspace& workspace) {
  if (!site.empty()) {
    const spec::Site chosen = workspace.site(site);
    if (chosen.build_in_job) return make_ready_in_job(request, chosen, arguments, workspace);
  }
  return workspace.runner().preparer().prepare(
      request, workspace.observer(), workspace.stop(), planning::settings_of(points));
}

int keep_prepared(const planning::PreparedRecipe& prepared,
                  const std::string& file,
                  Workspace& workspace) {
  planning::write_prepared(file, prepared);
  workspace.observer().note("the prepared runs are in " + file);
  return exit_done;
}

}  // namespace sabath::cli
