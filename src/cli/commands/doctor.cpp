#include "commands.hpp"
#include "commands/run/wait_reasons.hpp"
#include "commands/run/watching.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/batch/job_reasons.hpp>
#include <sabath/home/program_bundle.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_logs.hpp>
#include <sabath/home/sites.hpp>
#include <sabath/spec/job.hpp>
#include <sabath/spec/run_state.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <sys/statvfs.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr std::uint64_t little_space_bytes = std::uint64_t{1} << 30U;

Check check_folder(const std::string& what,
                   const std::filesystem::path& path,
                   const std::string& remedy) {
  try {
    base::make_directories(path);
    const base::TempDir probe(path, ".doctor-");
  } catch (const base::Error& error) {
    return {what, "bad", error.what(), remedy};
  }
  struct statvfs space {};
  if (::statvfs(path.c_str(), &space) != 0) return {what, "ok", path.string(), {}};
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  const std::string detail = path.string() + ", " + base::format_bytes(free_bytes) + " free";
  if (free_bytes < little_space_bytes) return {what, "note", detail, "there is little space left"};
  return {what, "ok", detail, {}};
}

/// "scratch=$TMPDIR": a folder that a site names for this node.
Check check_node_folder(const std::string& text) {
  const std::size_t sign = std::min(text.find('='), text.size());
  const std::string what = text.substr(0, sign);
  const std::string named = sign < text.size() ? text.substr(sign + 1) : "";
  const auto folder = home::folder_on_node(named, base::current_environment());
  if (folder) return check_folder(what, *folder, "runs work without it, where their files are");
  return {what,
          "bad",
          "'" + named + "' is not a folder on this node, " +
              (named.starts_with('$') ? "where the variable is not set to one"
                                      : "as the path is not absolute"),
          "runs work without it, where their files are; \"setup\" or \"variables\" of the site "
          "can set "
          "it"};
}

Check check_program(const std::string& name, const std::string& purpose) {
  const auto path = base::find_program(name);
  if (!path) return {name, "note", "not found: " + purpose, "install it if a recipe asks for it"};
  return {name, "ok", path->string(), {}};
}

/// Which of the three ways files come out of the cache, tried with a real object.
Check check_placement(Workspace& workspace) {
  const base::TempDir folder(workspace.folders().home, ".doctor-");
  base::write_file_atomically(folder.path() / "file", "sabath doctor\n");
  const cache::Object object = workspace.cache().publish_file(folder.path() / "file");
  const cache::Placement how = workspace.cache().place(object, folder.path() / "placed");
  return {"placement",
          "ok",
          "files come out of the cache by " + std::string(cache::to_string(how)),
          {}};
}

/// What it means that others may write to the cache.
Check check_sharing(Workspace& workspace) {
  std::string beneath;
  for (const cache::LowerCache& lower : workspace.cache().lower()) {
    if (!lower.problem.empty()) {
      return {"sharing",
              "bad",
              lower.root.string() + ": " + lower.problem + ", so nothing is found in it",
              "correct cache.lower in config.json, or SABATH_LOWER_CACHES"};
    }
    beneath += ", " + lower.root.string() + " beneath it";
  }
  if (!workspace.cache().is_shared()) {
    return {"sharing", "ok", "the cache is written by its owner alone" + beneath, {}};
  }
  return {"sharing",
          "note",
          "the group may write to the cache" + beneath,
          "data are safe: you use nothing that you have not hashed yourself. Anybody of the group "
          "can remove what lies there. Environments in it are executed only where "
          "\"environments\": {\"trusted_groups\": ...} of the configuration has the group. "
          "Otherwise set "
          "SABATH_CACHE to a folder of your own for them, with this one as cache.lower"};
}

Check check_trust(Workspace& workspace) {
  std::error_code code;
  const std::filesystem::path path = workspace.folders().environments();
  if (!std::filesystem::exists(path, code)) return {"trust", "ok", "no environments yet", {}};
  if (const auto reason = base::why_untrusted(path, workspace.trust())) {
    return {"trust",
            "bad",
            *reason,
            "environments beneath are refused; chmod go-w, or choose another SABATH_CACHE"};
  }
  return {"trust", "ok", "only you, root and whom you trust can write where environments are", {}};
}

Check check_environments(Workspace& workspace) {
  const auto entries = workspace.environments().list();
  for (const env::EnvironmentEntry& entry : entries) {
    const std::string name =
        "'" + entry.lock.name + "' (" + entry.lock.key.hex.substr(0, 16) + "): ";
    const std::string remove = "'sabath env rm " + entry.lock.key.hex.substr(0, 16) + "'";
    if (!entry.drift.empty()) {
      return {"environments", "bad", name + entry.drift.front(), remove + ", and build it again"};
    }
    if (entry.state == "failed" || entry.state == "untrusted") {
      return {"environments", "note", name + entry.problem, remove + " removes what is left of it"};
    }
  }
  return {"environments", "ok", std::to_string(entries.size()) + " layers", {}};
}

Check check_documents(Workspace& workspace) {
  std::vector<home::BadDocument> bad;
  const auto assets = workspace.documents().assets(bad).size();
  const auto recipes = workspace.documents().recipes(bad).size();
  const std::string detail =
      std::to_string(assets) + " assets, " + std::to_string(recipes) + " recipes";
  if (!bad.empty())
    return {
        "documents", "bad", bad.front().problem, std::to_string(bad.size()) + " cannot be read"};
  if (recipes == 0)
    return {"documents", "note", detail, "the shipped ones were not found beside the program"};
  return {"documents", "ok", detail, {}};
}

/// A catalog that was restored, or came from another home, has other runs than there are folders.
Check check_catalog(Workspace& workspace) {
  const catalog::CatalogStats stats = workspace.catalog().stats();
  std::set<std::string> known;
  std::size_t gone = 0;
  std::error_code code;
  for (const catalog::RunRow& run : workspace.catalog().runs()) {
    known.insert(std::filesystem::path(run.directory).filename());
    if (!std::filesystem::exists(run.directory, code)) ++gone;
  }
  std::size_t unknown = 0;
  for (const auto& entry : std::filesystem::directory_iterator(workspace.folders().runs(), code)) {
    const std::string name = entry.path().filename().string();
    if (known.contains(name) || !spec::is_run_id(name)) continue;
    if (std::filesystem::exists(home::RunFiles(entry.path()).record())) ++unknown;
  }
  if (unknown + gone > 0) {
    return {"catalog",
            "bad",
            base::counted(unknown, "run folder") + " not in it, " + base::counted(gone, "run") +
                " in it without a folder",
            "sabath catalog reindex"};
  }
  return {
      "catalog", "ok", base::counted(stats.runs, "run") + ", SQLite " + stats.sqlite_version, {}};
}

template <class Function>
void add(std::vector<Check>& checks, const std::string& what, Function&& function) {
  try {
    checks.push_back(function());
  } catch (const base::Error& error) {
    checks.push_back({what, "bad", error.what(), error.hint()});
  }
}

/// Where the job of --site failed before it began to look.
std::optional<Check> check_setup() {
  const std::string failed =
      base::variable_of(base::current_environment(), spec::job_setup_variable);
  if (failed.empty()) return std::nullopt;
  return Check{"setup",
               "note",
               failed,
               "jobs continue after such a line; write \"LINE || exit 1\" where they must not"};
}

std::vector<Check> check_here(const std::vector<std::string>& node_folders, Workspace& workspace) {
  std::vector<Check> checks;
  const home::Folders& folders = workspace.folders();
  checks.push_back(check_folder("home", folders.home, "make it writable, or set SABATH_HOME"));
  checks.push_back(check_folder("cache", folders.cache, "make it writable, or set SABATH_CACHE"));
  if (auto setup = check_setup()) checks.push_back(*std::move(setup));
  for (const std::string& folder : node_folders)
    checks.push_back(check_node_folder(folder));
  add(checks, "catalog", [&] { return check_catalog(workspace); });
  add(checks, "placement", [&] { return check_placement(workspace); });
  add(checks, "sharing", [&] { return check_sharing(workspace); });
  add(checks, "trust", [&] { return check_trust(workspace); });
  add(checks, "environments", [&] { return check_environments(workspace); });
  add(checks, "documents", [&] { return check_documents(workspace); });
  checks.push_back(check_program("c++", "recipes that compile C++ need it"));
  checks.push_back(check_program("cmake", "recipes that build with CMake need it"));
  checks.push_back(check_program("make", "recipes that build with make need it"));
  checks.push_back(check_program("gfortran", "recipes in Fortran need it"));
  return checks;
}

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
  constexpr std::chrono::seconds enough{300};
  job.resources.time.reset();
  if (takes_time) job.resources.time = std::min(site.resources.time.value_or(enough), enough);
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
  const std::string words = home::last_words(probe.log());
  const std::string log = words.empty() ? "" : "; its log ends: " + words;
  if (awaited.has_ended) {
    return {"job",
            "bad",
            "ended (" + how + ") without a word" + log,
            "does the node see " + probe.folder.string() +
                " and the program? "
                "\"program\", \"setup\" and \"variables\" of the site help"};
  }
  if (view.phase == spec::JobPhase::pending &&
      batch::is_stuck(workspace.monitor(site).scheduler().description(), view.text())) {
    return {"job",
            "bad",
            "does not start: " + how + stays_so,
            "another partition, account, time or size in the site's document; " + fate};
  }
  return {"job",
          "bad",
          "did not end in time: " + how + log,
          "a longer --timeout, or another partition; " + fate};
}

/// Proves a site with a job of a second, which looks at its node as `doctor` looks at this one.
/// Throws Error{not_found|usage} for the site; what its scheduler refuses is a finding.
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

struct DoctorOptions {
  std::string site{};
  std::string timeout = "5m";
  std::string report{};
  std::vector<std::string> node_folders{};
};

std::string text_of(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    std::string line = check.state;
    line.resize(6, ' ');
    text += line + base::printable(check.what + ": " + check.detail) + "\n";
    if (!check.remedy.empty()) text += "      " + base::printable(check.remedy) + "\n";
  }
  return text;
}

int run_doctor(const DoctorOptions& options, Workspace& workspace) {
  const std::chrono::seconds limit =
      duration_of("--timeout", options.timeout, "90s, 15m, 2h or 00:30:00");
  const std::vector<Check> checks = options.site.empty()
                                        ? check_here(options.node_folders, workspace)
                                        : check_site(options.site, limit, workspace);
  if (!options.report.empty()) base::write_file_atomically(options.report, json_answer(checks));
  workspace.answer(workspace.json() ? json_answer(checks) : text_of(checks));
  const bool bad =
      std::ranges::any_of(checks, [](const Check& check) { return check.state == "bad"; });
  return bad ? exit_no : exit_done;
}

}  // namespace

void setup_doctor(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app,
                  action,
                  "doctor",
                  "check that sabath can work here, and say what to do where it cannot",
                  run_doctor);
  command.add_option("--site", options.site, "check a site by a job that looks at its node");
  command.add_option("--timeout", options.timeout, "with --site: how long to wait (5m)");
  command.add_option("--report", options.report, "write the findings as JSON to this file too");
  // Given to the job of --site; not for people.
  command.add_option("--node-folder", options.node_folders, "")->one_each()->group("");
}

}  // namespace sabath::cli
