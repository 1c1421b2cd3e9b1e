#include "crate_content.hpp"
#include "crate_members.hpp"
#include "outgoing_texts.hpp"

#include <sabath/base/archive/zip_reader.hpp>
#include <sabath/base/archive/zip_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/asset_names.hpp>
#include <sabath/exchange/run_crate.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/sharing/group_crate.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;
using nlohmann::json;

constexpr const char* crate_suffix = ".crate.zip";

void add_items(const std::vector<std::string>& items, std::vector<std::string>& to) {
  std::set<std::string> all(to.begin(), to.end());
  all.insert(items.begin(), items.end());
  to.assign(all.begin(), all.end());
}

/// Adds what left the house with one run to what left it with all.
void add_report(const CrateReport& one, CrateReport& all) {
  const auto of_run = [&](const std::vector<std::string>& items) {
    std::vector<std::string> named;
    for (const std::string& item : items)
      named.push_back(one.run_id + "/" + item);
    return named;
  };
  add_items(one.users, all.users);
  add_items(one.hosts, all.hosts);
  add_items(one.paths, all.paths);
  add_items(of_run(one.left_out), all.left_out);
  add_items(of_run(one.not_scanned), all.not_scanned);
}

std::string group_text(const std::string& name, const std::vector<std::string>& ids) {
  return base::pretty_json({{"schema", 1}, {"name", name}, {"runs", ids}});
}

CrateReport group_exported(const GroupRequest& request, const CrateTools& tools) {
  const fs::path beside = fs::absolute(request.output).parent_path();
  const base::TempDir folder(beside, ".sabath-export-");
  CrateReport all;
  exchange::CrateGroup group;
  group.name = request.name;
  std::map<std::string, fs::path> crates;
  for (const fs::path& run : request.runs) {
    CrateRequest one = request.each;
    one.run = run;
    one.output = folder.path() / (run.filename().string() + crate_suffix);
    const CrateReport report = export_run(one, tools);
    add_report(report, all);
    group.runs.push_back(report.run_id);
    group.licenses.insert(report.license);
    group.published = std::max(group.published, report.ended);
    crates["runs/" + report.run_id + crate_suffix] = one.output;
  }
  std::ranges::sort(group.runs);
  CrateContent content;
  content.texts = request.documents;
  const OutgoingTexts found = scan_texts(content, tools);
  add_items({found.facts.users.begin(), found.facts.users.end()}, all.users);
  add_items({found.facts.hosts.begin(), found.facts.hosts.end()}, all.hosts);
  add_items({found.facts.paths.begin(), found.facts.paths.end()}, all.paths);
  base::ZipWriter zip(request.output);
  const auto keep = [&](const base::ZipWriter::Member& member) {
    group.members.push_back({member.name, member.size_bytes, member.digest});
  };
  keep(zip.add_text(group_document, group_text(request.name, group.runs)));
  for (const auto& [name, text] : content.texts)
    keep(zip.add_text(name, text));
  for (const auto& [name, file] : crates)
    keep(zip.add_file(
        name, file, [](std::uint64_t) {}, tools.stop));
  keep(zip.add_text(exchange::crate_readme, exchange::group_page(group)));
  const std::string manifest = exchange::write_manifest(group.members);
  keep(zip.add_text(exchange::crate_manifest, manifest));
  zip.add_text(exchange::crate_metadata, exchange::group_crate(group));
  zip.finish(exchange::crate_metadata);
  all.path = request.output;
  all.runs = group.runs;
  all.digest = base::sha256_of(manifest).text();
  all.members = zip.members().size();
  all.bytes = size_of_file(request.output);
  return all;
}

/// Where the documents of a group are kept: another one of the same name is beside it.
fs::path documents_of(const ImportedGroup& group, const home::Folders& folders) {
  constexpr std::size_t shown = 12;
  const std::string part = group.digest.substr(group.digest.find(':') + 1, shown);
  return folders.home / "imports" / (exchange::asset_name_of(group.name) + "-" + part);
}

/// The crates of the runs that the document of the group names.
std::vector<fs::path> crates_of(const fs::path& place,
                                const fs::path& folder,
                                ImportedGroup& group) {
  base::JsonDocument document =
      base::JsonDocument::parse(base::read_file(folder / group_document), group_document);
  base::JsonReader root = document.root();
  root.required("schema").unsigned_integer();
  group.name = root.required("name").string();
  std::vector<fs::path> crates;
  for (const base::JsonReader& item : root.required("runs").items()) {
    const std::string path = "runs/" + base::JsonReader(item).string() + crate_suffix;
    std::error_code code;
    if (!base::is_safe_relative_path(path) || !fs::is_regular_file(folder / path, code))
      refuse_crate(place, "the member '" + printable(path) + "' is missing");
    crates.push_back(folder / path);
  }
  document.finish();
  return crates;
}

void keep_documents(const fs::path& unpacked, const fs::path& to) {
  std::error_code code;
  if (fs::exists(to, code)) return;
  base::remove_tree(unpacked / "runs");
  base::make_directories(to.parent_path());
  if (!base::rename_no_replace(unpacked, to))
    throw Error(ErrorKind::storage, to.string() + ": appeared meanwhile");
}

ImportedGroup group_taken_in(const fs::path& place,
                             const home::Folders& folders,
                             base::Clock& clock,
                             base::Observer& observer,
                             const std::stop_token& stop) {
  ImportedGroup group;
  base::make_directories(folders.home);
  const fs::path unpacked = home::make_unpacking_folder(folders);
  const auto remove = [](const fs::path* folder) { base::remove_tree(*folder); };
  const std::unique_ptr<const fs::path, decltype(remove)> owner(&unpacked, remove);
  const CrateMembers members = unpack_crate(place, unpacked, observer, stop);
  if (!members.contains(exchange::crate_manifest) || !members.contains(group_document))
    refuse_crate(place, "has no manifest");
  group.digest = base::sha256_of(base::read_file(unpacked / exchange::crate_manifest)).text();
  group.unlisted = verify_members(place, unpacked, members);
  const auto crates = crates_of(place, unpacked, group);
  // All of them are good before one is taken in: a home that is thrown away says so.
  home::Folders trial;
  trial.home = unpacked / "trial";
  for (const fs::path& crate : crates)
    refuse_other_run(import_crate(crate, trial, clock, observer, stop), folders);
  base::remove_tree(trial.home);
  for (const fs::path& crate : crates)
    group.runs.push_back(import_crate(crate, folders, clock, observer, stop));
  group.documents = documents_of(group, folders);
  keep_documents(unpacked, group.documents);
  return group;
}

}  // namespace

CrateReport export_group(const GroupRequest& request, const CrateTools& tools) {
  return with_storage_errors([&] { return group_exported(request, tools); });
}

bool is_group_crate(const fs::path& place) {
  std::error_code code;
  if (fs::is_directory(place, code)) return fs::exists(place / group_document, code);
  try {
    base::ZipReader zip(place);
    while (const auto member = zip.next())
      if (member->path == group_document) return true;
    return false;
  } catch (const Error&) {
    return false;  // the reader of the whole file reports the damage
  }
}

ImportedGroup import_group(const fs::path& place,
                           const home::Folders& folders,
                           base::Clock& clock,
                           base::Observer& observer,
                           const std::stop_token& stop) {
  return with_storage_errors([&] { return group_taken_in(place, folders, clock, observer, stop); });
}

}  // namespace sabath::sharing
