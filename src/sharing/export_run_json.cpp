#include <sabath/base/archive/archive.hpp>
#include <sabath/base/archive/zip_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/redact.hpp>
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

/// Everything that goes into a crate: texts that are made, and files of the run.
struct Content {
  std::map<std::string, std::string> texts{};  ///< member -> text
  std::map<std::string, fs::path> files{};     ///< member -> file
};

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

void add_files(const CrateRequest& request, Content& content) {
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
                 Content& content,
                 CrateReport& report) {
  for (const spec::OutputRecord& output : record.outputs) {
    const std::string path = output.stage + "/" + output.path;
    const fs::path file = request.run / "outputs" / path;
    std::error_code code;
    const bool is_there = fs::symlink_status(file, code).type() == fs::file_type::regular;
    if (is_there && output.size_bytes <= request.largest_output) {
      content.files["run/outputs/" + path] = file;
    } else {
      report.left_out.push_back(path);
    }
  }
}

/// The document that came with the run in a crate, else that of the home.
spec::Asset document_of(const fs::path& run, const std::string& name, const CrateTools& tools) {
  const fs::path beside = crate_folder(run) / "assets" / (name + ".asset.json");
  const auto text = base::is_safe_name(name) ? base::read_file_if_exists(beside) : std::nullopt;
  return text ? spec::parse_asset(*text, beside.string()) : tools.documents.asset(name);
}

std::vector<spec::Asset> add_inputs(const fs::path& run,
                                    const spec::RunRecord& record,
                                    const CrateTools& tools,
                                    Content& content) {
  std::vector<spec::Asset> assets;
  for (const spec::PlannedInput& input : record.inputs) {
    try {
      assets.push_back(document_of(run, input.asset, tools));
      content.texts["assets/" + input.asset + ".asset.json"] =
          base::pretty_json(spec::to_json(assets.back()));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_found) throw;
      tools.observer.warn("input '" + input.role + "': the document of '" + input.asset +
                              "' is gone: the crate cannot say where its files are",
                          "add it to a catalog before you export");
    }
  }
  return assets;
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

/// Refuses a text that has a secret, with its place.
void refuse_secret(const std::string& member, std::string_view text, const CrateTools& tools) {
  for (const base::SecretSpan& span : base::find_secrets(text)) {
    if (!span.is_certain) continue;
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(span.begin), '\n');
    throw Error(ErrorKind::usage,
                printable(member) + ":" + std::to_string(line) + ": has " + std::string(span.what) +
                    ", which must not leave the house",
                "remove it from the run's files, and make the run again");
  }
  if (tools.secrets.are_in(text))
    throw Error(ErrorKind::usage,
                printable(member) + ": has a secret of your environment or of credentials.json",
                "remove it from the run's files, and make the run again");
}

bool is_text_member(const std::string& name) {
  return std::ranges::any_of(
      std::to_array<std::string_view>({".json", ".jsonl", ".diff", ".log", ".txt", ".md"}),
      [&](std::string_view suffix) { return name.ends_with(suffix); });
}

void refuse_secrets(const Content& content, const CrateTools& tools) {
  constexpr std::uintmax_t largest = 64U << 20U;
  for (const auto& [name, text] : content.texts)
    refuse_secret(name, text, tools);
  for (const auto& [name, file] : content.files) {
    if (is_text_member(name) && fs::file_size(file) <= largest)
      refuse_secret(name, base::read_file(file, largest), tools);
    if (!name.ends_with(".tar.gz")) continue;
    const base::TempDir folder(fs::temp_directory_path());
    base::extract_archive(file, folder.path(), {}, tools.observer, tools.stop);
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      if (entry.is_regular_file() && !entry.is_symlink() && entry.file_size() <= largest)
        refuse_secret(name + "/" + entry.path().lexically_relative(folder.path()).string(),
                      base::read_file(entry.path(), largest),
                      tools);
  }
}

/// Absolute paths among the texts of a document, as far as two folders deep.
void collect_paths(const json& value, std::set<std::string>& paths) {
  if (value.is_structured()) {
    for (const json& item : value)
      collect_paths(item, paths);
  } else if (value.is_string() && value.get_ref<const std::string&>().starts_with("/")) {
    const auto& text = value.get_ref<const std::string&>();
    const auto second = text.find('/', 1);
    paths.insert(text.substr(0, second == std::string::npos ? second : text.find('/', second + 1)));
  }
}

void list_private(const spec::RunRecord& record, CrateReport& report) {
  report.users = {record.user};
  std::set<std::string> hosts;
  for (const spec::HostFacts& host : record.hosts)
    hosts.insert(host.node);
  report.hosts.assign(hosts.begin(), hosts.end());
  std::set<std::string> paths;
  collect_paths(json::parse(spec::to_json(record).dump()), paths);
  constexpr std::size_t most = 12;
  for (const std::string& path : paths)
    if (report.paths.size() < most) report.paths.push_back(path);
}

/// Writes the members. The metadata come last, since they have the digests of the others.
void write_crate(const CrateRequest& request,
                 const Content& content,
                 exchange::CrateRun& run,
                 const CrateTools& tools,
                 CrateReport& report) {
  base::ZipWriter zip(request.output);
  base::Progress progress{.task = "exporting " + run.record.run_id, .total = 0};
  for (const auto& [name, file] : content.files)
    *progress.total += fs::file_size(file);
  std::uint64_t before = 0;
  const auto keep = [&](const base::ZipWriter::Member& member) {
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
  zip.add_text(exchange::crate_metadata, exchange::process_crate(run));
  zip.finish(exchange::crate_metadata);
  progress.finished = true;
  tools.observer.progress(progress);
  report.digest = base::sha256_of(manifest).text();
  report.members = zip.members().size();
  report.bytes = fs::file_size(request.output);
}

}  // namespace

CrateReport export_run(const CrateRequest& request, const CrateTools& tools) {
  CrateReport report;
  exchange::CrateRun run;
  run.record = record_of(request.run);
  report.path = request.output;
  report.run_id = run.record.run_id;
  const fs::path recipe_folder = home::RunFiles(request.run).read_plan().recipe_directory;
  run.license = licence_of(request, run.record, tools.shipped_recipes);
  if (!request.with_code) ask_for_code(unknown_code(run.record, recipe_folder, request, tools));
  Content content;
  content.texts["recipe.json"] = run.record.recipe_text;
  add_files(request, content);
  add_outputs(request, run.record, content, report);
  run.inputs = add_inputs(request.run, run.record, tools, content);
  refuse_secrets(content, tools);
  list_private(run.record, report);
  write_crate(request, content, run, tools, report);
  return report;
}

}  // namespace sabath::sharing
