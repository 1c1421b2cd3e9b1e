#include "local_files.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/run_crate.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/sharing/import_crate.hpp>
#include <sabath/spec/asset.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;
using exchange::crate_manifest;
using exchange::crate_metadata;
using nlohmann::json;

/// In the folder of what came beside a run, which no crate can bring: the digest that was trusted.
constexpr const char* trust_mark = "trusted";
constexpr const char* damaged = "the crate was damaged or changed; ask for it again";

[[noreturn]] void refuse(const fs::path& place, const std::string& problem) {
  throw Error(ErrorKind::integrity, printable(place.string()) + ": " + problem, damaged);
}

/// Members of a crate as they were unpacked, with their digests.
using Members = std::map<std::string, base::Digest>;

/// Names that one file system holds apart and another does not.
void refuse_alike(const fs::path& place, const Members& members) {
  std::map<std::string, std::string> seen;
  for (const auto& [name, digest] : members) {
    const auto [other, is_new] = seen.emplace(base::lower_case(name), name);
    if (!is_new)
      refuse(place,
             "the members '" + printable(name) + "' and '" + printable(other->second) +
                 "' differ in case only");
  }
}

Members unpack(const fs::path& place,
               const fs::path& to,
               base::Observer& observer,
               const std::stop_token& stop) {
  Members members;
  for (const base::ArchiveEntry& entry : base::extract_archive(place, to, {}, observer, stop)) {
    if (!entry.link_target.empty())
      refuse(place, "the member '" + printable(entry.path) + "' is a link");
    members.emplace(entry.path, entry.digest);
  }
  return members;
}

Members copy(const fs::path& place, const fs::path& to, const std::stop_token& stop) {
  Members members;
  for (const std::string& path : files_matching(place, "*")) {
    if (stop.stop_requested())
      throw Error(ErrorKind::interrupted, place.string() + ": interrupted");
    base::make_directories((to / path).parent_path());
    std::error_code code;
    fs::copy_file(place / path, to / path, code);
    if (code)
      throw Error(ErrorKind::storage,
                  (to / path).string() + ": cannot be written: " + code.message());
    members.emplace(path, base::digest_file(to / path));
  }
  return members;
}

/// What a crate that is not of a run of sabath says it is.
std::string kind_of_stranger(const fs::path& folder) {
  const auto text = base::read_file_if_exists(folder / crate_metadata);
  const json root = text ? json::parse(*text, nullptr, false) : json(nullptr);
  if (!root.is_object() || !root.contains("@graph"))
    return "it has no " + std::string(crate_metadata);
  for (const json& entity : root["@graph"]) {
    if (!entity.is_object() || entity.value("@id", json("")) != "./" || !entity.contains("name"))
      continue;
    return "it is the crate '" +
           printable(entity["name"].is_string() ? entity["name"].get<std::string>() : "?") +
           "' of another tool";
  }
  return "it is a crate of another tool";
}

/// Holds each member against the manifest. Removes members that it does not name.
void verify(const fs::path& place, const fs::path& folder, Members members, ImportedRun& run) {
  const auto manifest = base::read_file_if_exists(folder / crate_manifest);
  if (!manifest || !members.contains("run/record.json"))
    throw Error(ErrorKind::usage,
                printable(place.string()) + ": is not a run of sabath: " + kind_of_stranger(folder),
                "'sabath export RUN -o FILE' writes one");
  run.digest = base::sha256_of(*manifest).text();
  refuse_alike(place, members);
  for (const auto& [name, digest] : exchange::read_manifest(*manifest)) {
    const auto member = members.find(name);
    if (member == members.end()) refuse(place, "the member '" + printable(name) + "' is missing");
    if (member->second != digest)
      refuse(place, "the member '" + printable(name) + "' has other bytes than the manifest says");
    members.erase(member);
  }
  members.erase(crate_manifest);
  members.erase(crate_metadata);
  for (const auto& [name, digest] : members) {
    run.unlisted.push_back(name);
    base::remove_tree(folder / name);
  }
  if (!fs::exists(folder / "run/record.json"))
    refuse(place, "the manifest does not name 'run/record.json'");
}

/// A recipe of a stranger stays in its folder.
void refuse_outside(const spec::Recipe& recipe) {
  for (const spec::Stage& stage : recipe.stages) {
    for (const std::string& word : stage.run) {
      for (const char* begin : {"{recipe}/..", "{code}/.."}) {
        if (word.find(begin) == std::string::npos) continue;
        throw Error(ErrorKind::usage,
                    "recipe '" + recipe.name + "': stage '" + stage.name +
                        "' names a file outside of its folder: " + printable(word),
                    "such a run cannot be repeated elsewhere");
      }
    }
  }
}

/// What a repetition does, for the user to judge: by the recipe that it executes, not by what the
/// record says of the past.
void describe(const spec::RunRecord& record, const fs::path& assets, ImportedRun& run) {
  const spec::Recipe recipe = spec::parse_recipe(record.recipe_text, "recipe.json");
  for (const spec::LayerSpec& layer : recipe.environment.layers) {
    std::string line = layer.name + ": " + std::string(spec::to_string(layer.kind));
    const auto& asked = layer.packages.requirements;
    if (!asked.empty()) line += ", " + base::joined(asked, ", ");
    run.layers.push_back(line);
  }
  for (const spec::Stage& stage : recipe.stages)
    run.commands.push_back(stage.name + ": " + base::joined(stage.run, " "));
  for (const fs::path& file : json_files(assets)) {
    const spec::Asset asset = spec::parse_asset(base::read_file(file), file.filename().string());
    std::string from = asset.list;
    for (const spec::AssetFile& one : asset.files)
      if (from.empty() && !one.sources.empty()) from = one.sources.front();
    if (asset.generate) from = "the recipe '" + asset.generate->recipe + "'";
    run.sources.push_back(asset.name + " from " + (from.empty() ? "nowhere" : from));
  }
}

/// Files of inputs that came along are a source like others, before them.
void prefer_inputs(const spec::RunRecord& record,
                   const fs::path& crate,
                   const fs::path& final_crate) {
  for (const spec::PlannedInput& input : record.inputs) {
    const fs::path document = crate / "assets" / (input.asset + ".asset.json");
    std::error_code code;
    if (!fs::exists(document, code) || !fs::is_directory(crate / "inputs" / input.role, code))
      continue;
    spec::Asset asset = spec::parse_asset(base::read_file(document), document.filename().string());
    for (spec::AssetFile& file : asset.files) {
      if (!fs::exists(crate / "inputs" / input.role / file.path, code)) continue;
      const fs::path path = final_crate / "inputs" / input.role / file.path;
      file.sources.insert(file.sources.begin(),
                          "file://" + base::percent_encoded(path.string(), "-._~/"));
    }
    base::write_file_atomically(document, base::pretty_json(spec::to_json(asset)));
  }
}

/// Whether a run of the home has all files that the manifest names, with the same bytes.
bool has_same_files(const fs::path& run, const std::map<std::string, base::Digest>& manifest) {
  constexpr std::string_view folder = "run/";
  for (const auto& [name, digest] : manifest) {
    if (!name.starts_with(folder)) continue;
    const fs::path file = run / name.substr(folder.size());
    std::error_code code;
    // What was said later may have grown.
    if (name.starts_with("run/said/")) continue;
    if (!fs::is_regular_file(file, code) || base::digest_file(file) != digest) return false;
  }
  return true;
}

/// Moves what came beside the run into its folder.
void gather(const fs::path& unpacked) {
  const fs::path crate = unpacked / "run" / "crate";
  base::remove_tree(crate);
  base::make_directories(crate);
  for (const char* name : {"assets", "inputs", "locks"}) {
    std::error_code code;
    if (fs::is_directory(unpacked / name, code)) fs::rename(unpacked / name, crate / name);
  }
  for (const char* name : {crate_manifest, crate_metadata, "recipe.json"}) {
    std::error_code code;
    fs::rename(unpacked / name, crate / name, code);
    if (code && name == crate_manifest)
      throw Error(ErrorKind::storage,
                  (crate / name).string() + ": cannot be written: " + code.message());
  }
}

spec::RunRecord checked_record(const fs::path& place, const fs::path& run) {
  const home::RunFiles files(run);
  auto record = files.read_record();
  if (!record) refuse(place, "has no record that can be read");
  const spec::RunPlan plan = files.read_plan();
  if (plan.run_id != record->run_id) refuse(place, "its plan and its record are of two runs");
  const bool is_name = base::is_safe_relative_path(record->run_id) &&
                       record->run_id.find('/') == std::string::npos && record->run_id[0] != '.';
  if (!is_name) refuse(place, "'" + printable(record->run_id) + "' is not the id of a run");
  for (const spec::PlannedInput& input : record->inputs)
    if (!base::is_safe_name(input.asset) || !base::is_safe_name(input.role))
      refuse(place, "'" + printable(input.asset) + "' is not the name of an input");
  refuse_outside(spec::parse_recipe(record->recipe_text, "recipe.json"));
  return *std::move(record);
}

}  // namespace

fs::path crate_folder(const fs::path& run) {
  return run / "crate";
}

void trust_imported(const ImportedRun& run) {
  const fs::path crate = crate_folder(run.directory);
  std::error_code code;
  if (fs::is_directory(crate, code)) base::write_file_atomically(crate / trust_mark, run.digest);
}

std::optional<ImportedRun> imported_run(const fs::path& directory) {
  const fs::path crate = crate_folder(directory);
  const auto manifest = base::read_file_if_exists(crate / crate_manifest);
  const auto record = manifest ? home::RunFiles(directory).read_record() : std::nullopt;
  if (!record) return std::nullopt;
  ImportedRun run;
  run.run_id = record->run_id;
  run.directory = directory;
  run.digest = base::sha256_of(*manifest).text();
  run.was_there = true;
  run.is_trusted = base::read_file_if_exists(crate / trust_mark) == run.digest;
  describe(*record, crate / "assets", run);
  return run;
}

ImportedRun import_crate(const fs::path& place,
                         const home::Folders& folders,
                         base::Clock& clock,
                         base::Observer& observer,
                         const std::stop_token& stop) {
  ImportedRun run;
  base::make_directories(folders.home);
  const fs::path unpacked = home::make_unpacking_folder(folders);
  const auto remove = [](const fs::path* folder) { base::remove_tree(*folder); };
  const std::unique_ptr<const fs::path, decltype(remove)> owner(&unpacked, remove);
  std::error_code code;
  Members members = fs::is_directory(place, code) ? copy(place, unpacked, stop)
                                                  : unpack(place, unpacked, observer, stop);
  verify(place, unpacked, std::move(members), run);
  const spec::RunRecord record = checked_record(place, unpacked / "run");
  run.run_id = record.run_id;
  gather(unpacked);
  describe(record, crate_folder(unpacked / "run") / "assets", run);
  run.directory = folders.run(record.run_id);
  if (fs::exists(run.directory, code)) {
    const auto manifest = base::read_file(crate_folder(unpacked / "run") / crate_manifest);
    run.was_there = has_same_files(run.directory, exchange::read_manifest(manifest));
    if (run.was_there) return run;
    throw Error(ErrorKind::usage,
                "run '" + record.run_id + "' is there with other content",
                "a run of this home has the same id; compare the two by hand");
  }
  run.directory = folders.runs() / record.run_id;
  prefer_inputs(record, crate_folder(unpacked / "run"), crate_folder(run.directory));
  home::add_statement(unpacked / "run",
                      home::RunStatement::Kind::tag,
                      std::string(spec::imported_crate_tag),
                      base::format_rfc3339(clock.now()));
  base::make_directories(folders.runs());
  if (!base::rename_no_replace(unpacked / "run", run.directory))
    throw Error(ErrorKind::storage, run.directory.string() + ": appeared meanwhile");
  home::announce(run.directory, home::RunEvent::finished);
  return run;
}

}  // namespace sabath::sharing
