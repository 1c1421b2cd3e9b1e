#include "commands/run/watching.hpp"
#include "doctor.hpp"
#include "exit_status.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/program_bundle.hpp>
#include <sabath/home/run_logs.hpp>

#include <algorithm>
#include <array>

namespace sabath::cli {
namespace {

/// The job that looks at its node, and where it says what it found.
struct Probe {
  std::filesystem::path folder{};
  std::string job{};
  /// Where files travel a folder comes back.
  bool comes_back = false;
  std::filesystem::path report() const {
    return folder / (comes_back ? "returned/report.json" : "report.json");
  }
  std::filesystem::path log() const { return folder / "job.log"; }
};

Probe submit_probe(const spec::Site& site, launch::Scheduler& scheduler, Workspace& workspace) {
  const auto parent = workspace.folders().home / "doctor";
  base::make_directories(parent);
  const std::string now = base::format_rfc3339(workspace.clock().now());
  Probe probe{parent / launch::job_word("doctor-" + site.name + "-" + now), {}, false};
  base::make_directories(probe.folder);
  launch::BatchJob job;
  job.name = "sabath-doctor";
  job.comment = probe.folder.filename().string();
  job.script = probe.folder / "job.sh";
  job.log = probe.log();
  job.argv = {site.program.empty() ? program_path().string() : site.program, "doctor", "--report"};
  job.resources = site.resources;
  // A scheduler that takes no limit of time needs none for this.
  constexpr std::array time_words{"time_s", "time_min", "time_hm", "time_hms"};
  const bool takes_time = std::ranges::any_of(
      time_words, [&](const char* word) { return scheduler.description().knows(word); });
  job.resources.time = takes_time ? std::optional(std::chrono::seconds(300)) : std::nullopt;
  if (scheduler.description().moves_files()) {
    // The node sees none of our files: the program goes there, and the report comes back.
    if (site.program.empty()) job.inputs = home::program_bundle(program_path(), probe.folder);
    probe.comes_back = true;
    job.outputs = {"returned"};
    job.argv.emplace_back("returned/report.json");
  } else {
    job.argv.push_back(probe.report().string());
  }
  const auto look_at = [&](const std::string& what, const std::string& folder) {
    if (!folder.empty()) job.argv.insert(job.argv.end(), {"--node-folder", what + "=" + folder});
  };
  look_at("scratch", site.scratch);
  look_at("staging.folder", site.staging.folder);
  probe.job = scheduler.submit(job, workspace.stop());
  return probe;
}

/// The end of the job's log, in a line, to be added to another; empty where there is none.
std::string log_in_words(const std::filesystem::path& file) {
  const std::string log = home::last_words(file);
  return log.empty() ? log : "; its log ends: " + log;
}

/// Throws Error{interrupted} where the user ended the waiting: that is not a fault of the site.
Check why_no_answer(const Probe& probe,
                    const AwaitedJob& awaited,
                    const spec::Site& site,
                    Workspace& workspace) {
  const launch::JobView& view = awaited.view;
  const std::string how = view.is_unheard ? view.reason : view.text();
  const std::string fate =
      awaited.has_ended ? "it has ended" : cancel_job(probe.job, site, workspace);
  if (workspace.stop().stop_requested())
    throw base::Error(base::ErrorKind::interrupted,
                      "interrupted while job " + probe.job + " was waited for; " + fate);
  const std::string log = log_in_words(probe.log());
  if (awaited.has_ended) {
    return {"job",
            "bad",
            "ended (" + how + ") without a word" + log,
            "does the node see " + probe.folder.string() +
                " and the program? "
                "\"program\", \"setup\" and \"variables\" of the site help"};
  }
  return {"job",
          "bad",
          "did not end in time: " + how + log,
          "a longer --timeout, or another partition; " + fate};
}

}  // namespace

std::vector<Check> check_site(const std::string& name,
                              std::chrono::nanoseconds limit,
                              Workspace& workspace) {
  const spec::Site site = workspace.site(name);
  workspace.use_site(name);
  std::vector<Check> checks;
  checks.push_back({"site", "ok", name + ": " + site.scheduler, {}});
  const base::SteadyTime begin = workspace.clock().steady();
  launch::Scheduler& scheduler = workspace.monitor(site).scheduler();
  Probe probe;
  try {
    probe = submit_probe(site, scheduler, workspace);
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::interrupted) throw;
    checks.push_back({"submission", "bad", error.what(), error.hint()});
    return checks;
  }
  checks.push_back({"submission", "ok", "job " + probe.job + " was accepted", {}});
  const AwaitedJob awaited = await_file({probe.report()}, probe.job, site, limit, true, workspace);
  const auto report = base::read_file_if_exists(probe.report());
  if (!report) {
    checks.push_back(why_no_answer(probe, awaited, site, workspace));
    return checks;
  }
  checks.push_back({"job",
                    "ok",
                    "ran; its answer was here after " +
                        base::format_duration(workspace.clock().steady() - begin),
                    {}});
  for (Check& check : parse_checks(*report, probe.report().string())) {
    check.what = "node: " + check.what;
    checks.push_back(std::move(check));
  }
  base::remove_tree(probe.folder);
  return checks;
}

}  // namespace sabath::cli
