#include "anonymous_run.hpp"
#include "crate_content.hpp"
#include "crate_inputs.hpp"
#include "outgoing_texts.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/archive/zip_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/run_crate.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/provenance/git_state.hpp>
#include <sabath/sharing/export_run.hpp>
#include <sabath/sharing/import_crate.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;
using nlohmann::json;

constexpr const char* own_licence = "BSD-3-Clause";

spec::RunRecord record_of(const fs::path& run) {
  auto record = home::RunFiles(run).read_record();
  if (!record)
    throw Error(ErrorKind::usage,
                run.filename().string() + ": has no record: it has not ended",
                "wait for it, and export it then");
  if (record->state == spec::RunState::imported)
    throw Error(
        ErrorKind::usage,
        run.filename().string() + ": is a row of an imported table: nothing can be repeated");
  return *std::move(record);
}

/// The licence that was asked for, that of the recipe, or of a recipe of this program.
std::string licence_of(const CrateRequest& request,
                       const spec::RunRecord& record,
                       const fs::path& shipped) {
  if (!request.license.empty()) return request.license;
  const json recipe = json::parse(record.recipe_text, nullptr, false);
  if (recipe.is_object() && recipe.contains("x-license") && recipe["x-license"].is_string())
    return recipe["x-license"].get<std::string>();
  const auto own = base::read_file_if_exists(shipped / record.recipe_name / "recipe.json");
  if (own == record.recipe_text) return own_licence;
  throw Error(ErrorKind::usage,
              "the recipe '" + record.recipe_name + "' states no licence, and a crate needs one",
              "--license ID, such as CC-BY-4.0, or the member 'x-license' in its recipe.json");
}

/// Which files of a run's folder go in. Outputs are chosen apart.
bool is_wanted(const std::string& path, const CrateRequest& request) {
  const bool is_log = path.starts_with("attempts/") || path == "exec.log";
  if (is_log) return request.has_logs;
  const bool is_code =
      path == "code.tar.gz" || path == "code.untracked.tar.gz" || path == "code.diff";
  if (is_code) return request.with_code.value_or(true);
  return !path.starts_with("outputs/") && !path.starts_with("crate/");
}

void add_files(const CrateRequest& request, CrateContent& content) {
  std::error_code code;
  for (fs::recursive_directory_iterator it(request.run, code), end; !code && it != end;
       it.increment(code)) {
    const std::string path = it->path().lexically_relative(request.run).string();
    std::error_code unreadable;
    if (it->symlink_status(unreadable).type() != fs::file_type::regular) continue;
    if (is_wanted(path, request)) content.files["run/" + path] = it->path();
  }
  if (code)
    throw Error(ErrorKind::storage, request.run.string() + ": cannot be read: " + code.message());
}

void add_outputs(const CrateRequest& request,
                 const spec::RunRecord& record,
                 CrateContent& content,
                 CrateReport& report) {
  for (const spec::OutputRecord& output : record.outputs) {
    const std::string path = output.stage + "/" + output.path;
    const fs::path file = request.run / "outputs" / path;
    std::error_code code;
    const bool is_there = fs::symlink_status(file, code).type() == fs::file_type::regular;
    const bool is_wanted = request.largest_output && output.size_bytes <= *request.largest_output;
    if (is_there && is_wanted) {
      content.files["run/outputs/" + path] = file;
    } else {
      report.left_out.push_back(path);
    }
  }
}

/// Paths in the recipe's folder that were not as in the commit.
std::set<std::string> changed_paths(const spec::GitState& git) {
  std::set<std::string> paths;
  const std::string folder = git.path.empty() ? "" : git.path + "/";
  for (const std::string& entry : git.dirty)
    if (entry.size() > 2 && entry.substr(2).starts_with(folder))
      paths.insert(entry.substr(2 + folder.size()));
  return paths;
}

/// Files of the kept code that no commit has. A recipe of this program is known to everybody.
std::vector<std::string> unknown_code(const spec::RunRecord& record,
                                      const fs::path& recipe_folder,
                                      const CrateRequest& request,
                                      const CrateTools& tools) {
  std::vector<std::string> unknown;
  std::error_code code;
  for (const char* name : {"code.untracked.tar.gz", "code.diff"})
    if (fs::exists(request.run / name, code)) unknown.emplace_back(name);
  const fs::path archive = request.run / "code.tar.gz";
  if (!fs::exists(archive, code)) return unknown;
  std::optional<std::set<std::string>> known;
  std::set<std::string> changed;
  if (record.code_state && record.code_state->git) {
    const spec::GitState& git = *record.code_state->git;
    known = provenance::files_of_commit(recipe_folder, git.commit, tools.processes, tools.stop);
    changed = changed_paths(git);
  }
  const fs::path shipped = tools.shipped_recipes / record.recipe_name;
  for (const base::ArchiveEntry& entry : base::read_archive(archive, tools.observer, tools.stop)) {
    if (known && known->contains(entry.path) && !changed.contains(entry.path)) continue;
    const fs::path own = shipped / entry.path;
    if (fs::is_regular_file(own, code) && base::digest_file(own) == entry.digest) continue;
    unknown.push_back(entry.path);
  }
  return unknown;
}

void ask_for_code(const std::vector<std::string>& unknown) {
  constexpr std::size_t shown = 20;
  if (unknown.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(unknown.size(), shown); ++i)
    names += "\n  " + printable(unknown[i]);
  if (unknown.size() > shown)
    names += "\n  and " + base::counted(unknown.size() - shown, "other file");
  throw Error(ErrorKind::access,
              "the code of the run has files that no repository knows:" + names,
              "--with-code puts the code into the crate, --without-code leaves it out");
}

void report_texts(const OutgoingTexts& found, CrateReport& report) {
  report.users.assign(found.facts.users.begin(), found.facts.users.end());
  report.hosts.assign(found.facts.hosts.begin(), found.facts.hosts.end());
  report.paths.assign(found.facts.paths.begin(), found.facts.paths.end());
  report.not_scanned = found.not_scanned;
}

/// The digests of the record by the names of members.
std::map<std::string, base::Digest> recorded_outputs(const spec::RunRecord& record) {
  std::map<std::string, base::Digest> digests;
  for (const spec::OutputRecord& output : record.outputs)
    if (!output.is_outdated())
      digests.emplace("run/outputs/" + output.stage + "/" + output.path, output.digest);
  return digests;
}

/// Writes the members. The metadata come last, since they have the digests of the others.
void write_crate(const CrateRequest& request,
                 const CrateContent& content,
                 exchange::CrateRun& run,
                 const CrateTools& tools,
                 CrateReport& report) {
  base::ZipWriter zip(request.output);
  base::Progress progress{.task = "exporting " + run.record.run_id, .total = 0};
  for (const auto& [name, file] : content.files)
    progress.total = saturated_sum(*progress.total, size_of_file(file));
  std::uint64_t before = 0;
  const auto outputs = recorded_outputs(run.record);
  const auto keep = [&](const base::ZipWriter::Member& member) {
    const auto recorded = outputs.find(member.name);
    if (recorded != outputs.end() && recorded->second != member.digest)
      throw Error(ErrorKind::integrity,
                  printable(content.files.at(member.name).string()) + ": was changed after the run",
                  "'sabath verify' names all of them; --outputs none leaves outputs out");
    run.members.push_back({member.name, member.size_bytes, member.digest});
  };
  for (const auto& [name, file] : content.files) {
    const auto show = [&](std::uint64_t bytes) {
      progress.done = before + bytes;
      tools.observer.progress(progress);
    };
    keep(zip.add_file(name, file, show, tools.stop));
    before += run.members.back().size_bytes;
  }
  for (const auto& [name, text] : content.texts)
    keep(zip.add_text(name, text));
  keep(zip.add_text(exchange::crate_readme, exchange::crate_page(run)));
  const std::string manifest = exchange::write_manifest(run.members);
  keep(zip.add_text(exchange::crate_manifest, manifest));
  zip.add_text(
      exchange::crate_metadata,
      request.is_provenance ? exchange::provenance_crate(run) : exchange::process_crate(run));
  zip.finish(exchange::crate_metadata);
  progress.finished = true;
  tools.observer.progress(progress);
  report.digest = base::sha256_of(manifest).text();
  report.members = zip.members().size();
  report.bytes = size_of_file(request.output);
}

CrateReport exported(const CrateRequest& request, const CrateTools& tools) {
  CrateReport report;
  exchange::CrateRun run;
  run.record = record_of(request.run);
  report.path = request.output;
  if (request.is_anonymous && request.has_logs)
    throw Error(ErrorKind::usage,
                "--anonymous and --logs exclude each other: logs name everything");
  const fs::path recipe_folder = home::RunFiles(request.run).read_plan().recipe_directory;
  run.license = licence_of(request, run.record, tools.shipped_recipes);
  if (!request.with_code) ask_for_code(unknown_code(run.record, recipe_folder, request, tools));
  CrateContent content;
  content.texts["recipe.json"] = run.record.recipe_text;
  add_files(request, content);
  add_outputs(request, run.record, content, report);
  run.inputs = add_inputs(request.run, run.record, tools, content);
  if (request.has_inputs) add_input_files(run.record, content);
  if (request.is_anonymous)
    run.derived_from = make_anonymous(request.run, scan_texts(content, tools).facts, content, run);
  report.run_id = run.record.run_id;
  report.license = run.license;
  report.ended = run.record.ended;
  report_texts(scan_texts(content, tools), report);
  write_crate(request, content, run, tools, report);
  return report;
}

}  // namespace

std::uint64_t size_of_file(const fs::path& file) {
  std::error_code code;
  const auto size = fs::file_size(file, code);
  if (code)
    throw Error(ErrorKind::storage,
                printable(file.string()) + ": cannot be read: " + code.message());
  return size;
}

CrateReport export_run(const CrateRequest& request, const CrateTools& tools) {
  return with_storage_errors([&] { return exported(request, tools); });
}

}  // namespace sabath::sharing
