#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/assets/linked_files.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/output_rule.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <set>

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;

struct VerifyOptions {
  std::vector<std::string> names{};
  bool full = false;
};

void add_report(std::vector<Check>& checks,
                const std::string& what,
                const cache::VerifyReport& report) {
  checks.push_back({what,
                    report.damaged.empty() ? "ok" : "bad",
                    std::to_string(report.objects) + " objects and " +
                        std::to_string(report.trees) + " trees, " +
                        base::format_bytes(report.size_bytes) + ", " +
                        base::format_bytes(report.bytes_hashed) + " hashed, " +
                        std::to_string(report.damaged.size()) + " damaged",
                    {}});
  const std::string remedy = "'sabath cache repair' brings it back";
  for (const cache::VerifyFinding& finding : report.damaged) {
    checks.push_back({finding.path.string(), "bad", finding.problem, remedy});
  }
}

/// Of something that must be there.
void add_part(std::vector<Check>& checks,
              const std::string& what,
              const cache::VerifyReport& report,
              const std::string& remedy) {
  if (report.objects + report.trees > 0) return add_report(checks, what, report);
  checks.push_back({what, "bad", "is not in the cache", remedy});
}

void add_link(std::vector<Check>& checks,
              const std::string& what,
              const cache::SourceRecord& link,
              bool full) {
  const std::string problem = assets::link_problem(link, full);
  if (problem.empty()) {
    checks.push_back({what, "ok", "is linked to " + link.path + ", " + link.digest.text(), {}});
  } else {
    checks.push_back({what, "bad", link.path + ": " + problem, std::string(assets::link_remedy)});
  }
}

/// Files that somebody put into a folder or pattern that is an output.
void add_additions(const spec::RunRecord& record,
                   const home::RunFiles& files,
                   std::vector<Check>& checks) {
  std::set<std::pair<std::string, std::string>> groups;
  std::set<std::pair<std::string, std::string>> known;
  for (const spec::OutputRecord& output : record.outputs) {
    known.emplace(output.stage, output.path);
    if (output.part_of) groups.emplace(output.stage, *output.part_of);
  }
  for (const auto& [stage, declared] : groups) {
    const fs::path folder = files.outputs(stage);
    std::error_code code;
    for (fs::recursive_directory_iterator next(folder, code), end; !code && next != end;
         next.increment(code)) {
      std::error_code gone;
      const std::string path = next->path().lexically_relative(folder).string();
      if (fs::is_directory(next->symlink_status(gone)) || !spec::declares(declared, path)) continue;
      if (!known.emplace(stage, path).second) continue;
      checks.push_back({record.run_id + ": " + stage + "/" + path,
                        "bad",
                        "is not in the record",
                        "it was added to '" + declared + "' after the run"});
    }
  }
}

void verify_run(const std::string& name, std::vector<Check>& checks, Workspace& workspace) {
  const catalog::RunRow row = one_run(name, workspace);
  const home::RunFiles files(row.directory);
  const auto record = files.read_record();
  if (!record)
    throw base::Error(base::ErrorKind::not_found,
                      row.id + ": the run has no record",
                      "it is not finished, or was lost; 'sabath list runs' shows its state");
  for (const spec::OutputRecord& output : record->outputs) {
    const fs::path path = files.outputs(output.stage) / output.path;
    Check check{row.id + ": " + output.stage + "/" + output.path, "ok", output.digest.text(), {}};
    try {
      const base::Digest now = base::digest_file(path);
      if (now != output.digest && output.is_outdated()) {
        check = {check.what,
                 "note",
                 "is now " + now.text(),
                 "a later stage of the run changed it; what it was then is not in the record"};
      } else if (now != output.digest) {
        check = {check.what, "bad", "is now " + now.text(), "it was changed after the run"};
      }
    } catch (const base::Error& error) {
      check = {check.what, "bad", error.what(), {}};
    }
    checks.push_back(check);
  }
  add_additions(*record, files, checks);
  if (record->outputs.empty()) checks.push_back({row.id, "note", "the run has no outputs", {}});
}

/// A URL or a digest.
void verify_stored(const std::string& name,
                   bool full,
                   std::vector<Check>& checks,
                   Workspace& workspace) {
  const auto link = assets::link_of_url(name, workspace.cache());
  if (link && !workspace.cache().find(link->digest)) {
    return add_link(checks, assets::displayed_name(name), *link, full);
  }
  const cache::Inventory inventory = workspace.inventory();
  for (const base::Digest& digest :
       assets::digests_called(name, workspace.documents(), workspace.cache(), inventory)) {
    const cache::VerifyReport report =
        workspace.cache().verify(full, workspace.observer(), workspace.stop(), digest);
    add_part(checks, assets::displayed_name(name), report, "'sabath cache repair' brings it back");
  }
}

void verify_asset(const spec::Asset& asset,
                  bool full,
                  std::vector<Check>& checks,
                  Workspace& workspace) {
  for (const assets::AssetPart& part : assets::parts_of(asset, workspace.cache())) {
    const std::string what = asset.name + (part.path.empty() ? "" : ": " + part.path);
    cache::VerifyReport report;
    if (part.digest) {
      report = workspace.cache().verify(full, workspace.observer(), workspace.stop(), part.digest);
    }
    if (part.link && report.objects + report.trees == 0) {
      add_link(checks, what, *part.link, full);
    } else {
      add_part(checks, what, report, "sabath fetch " + asset.name);
    }
  }
}

int run_verify(const VerifyOptions& options, Workspace& workspace) {
  std::vector<Check> checks;
  if (options.names.empty()) {
    add_report(checks,
               "cache",
               workspace.cache().verify(options.full, workspace.observer(), workspace.stop()));
    for (const cache::LowerCache& lower : workspace.cache().lower()) {
      checks.push_back({lower.root.string(),
                        lower.problem.empty() ? "ok" : "note",
                        lower.problem.empty() ? "a cache beneath, checked too" : lower.problem,
                        {}});
    }
  }
  for (const std::string& name : options.names) {
    if (assets::is_url(name) || base::parse_digest(name)) {
      verify_stored(name, options.full, checks, workspace);
      continue;
    }
    std::optional<spec::Asset> asset;
    if (!names_a_run(name)) asset = if_found([&] { return workspace.documents().asset(name); });
    if (asset) {
      verify_asset(*asset, options.full, checks, workspace);
    } else {
      verify_run(name, checks, workspace);
    }
  }
  bool good = true;
  std::string text;
  for (const Check& check : checks) {
    good = good && check.state != "bad";
    text += check.state + "  " + base::printable(check.what + ": " + check.detail) + "\n";
    if (!check.remedy.empty()) text += "     " + base::printable(check.remedy) + "\n";
  }
  workspace.answer(workspace.json() ? json_answer(checks) : text);
  const bool judged =
      std::ranges::any_of(checks, [](const Check& check) { return check.state != "note"; });
  if (!good) return exit_no;
  return judged ? exit_done : exit_inconclusive;
}

}  // namespace

void setup_verify(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "verify", "check that bytes are still what they were", run_verify);
  command.add_option(
      "names", options.names, "assets, runs, URLs or digests; none: the whole cache");
  command.add_flag("--full", options.full, "hash everything again, whatever was checked before");
}

}  // namespace sabath::cli
