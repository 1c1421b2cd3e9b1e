#include "crate_content.hpp"
#include "crate_inputs.hpp"
#include "crate_members.hpp"
#include "described_run.hpp"
#include "local_files.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/run_crate.hpp>
#include <sabath/home/dated_folder.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/sharing/import_crate.hpp>
#include <sabath/spec/asset.hpp>
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

/// Holds each member against the manifest.
void verify_run(const fs::path& place,
                const fs::path& folder,
                CrateMembers members,
                ImportedRun& run) {
  const auto manifest = base::read_file_if_exists(folder / crate_manifest);
  if (members.contains(group_document))
    throw Error(ErrorKind::usage,
                printable(place.string()) + ": has several runs",
                "'sabath import' takes them in; repeat one of them by its id");
  if (!manifest || !members.contains("run/record.json"))
    throw Error(ErrorKind::usage,
                printable(place.string()) + ": is not a run of sabath: " + kind_of_stranger(folder),
                "'sabath export RUN -o FILE' writes one");
  run.digest = base::sha256_of(*manifest).text();
  run.unlisted = verify_members(place, folder, std::move(members));
  if (!fs::exists(folder / "run/record.json"))
    refuse_crate(place, "the manifest does not name 'run/record.json'");
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

/// Whether the user said so of this crate before.
bool is_trusted(const ImportedRun& run) {
  return base::read_file_if_exists(crate_folder(run.directory) / trust_mark) == run.digest;
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

}  // namespace

fs::path crate_folder(const fs::path& run) {
  return run / "crate";
}

void trust_imported(const ImportedRun& run) {
  const fs::path crate = crate_folder(run.directory);
  std::error_code code;
  if (fs::is_directory(crate, code)) base::write_file_atomically(crate / trust_mark, run.digest);
}

void refuse_other_run(const ImportedRun& run, const home::Folders& folders) {
  const fs::path there = folders.run(run.run_id);
  std::error_code code;
  if (!fs::exists(there, code)) return;
  const auto manifest = base::read_file(crate_folder(run.directory) / crate_manifest);
  if (has_same_files(there, exchange::read_manifest(manifest))) return;
  throw Error(ErrorKind::usage,
              "run '" + run.run_id + "' is there with other content",
              "a run of this home has the same id; compare the two by hand");
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
  run.is_trusted = is_trusted(run);
  describe_run(*record, crate / "assets", run);
  return run;
}

namespace {

/// The error with the name of the crate in place of the folder that it was unpacked into.
Error renamed(const Error& error, const fs::path& unpacked, const fs::path& place) {
  std::string message = error.what();
  if (const auto at = message.find(unpacked.string()); at != std::string::npos)
    message.replace(at, unpacked.string().size(), place.string());
  return {error.kind(), message, error.hint()};
}

ImportedRun taken_in(const fs::path& place,
                     const home::Folders& folders,
                     base::Clock& clock,
                     base::Observer& observer,
                     const std::stop_token& stop) {
  ImportedRun run;
  base::make_directories(folders.home);
  home::require_fixed(folders.home);
  home::require_fixed(folders.runs());
  const fs::path unpacked = home::make_unpacking_folder(folders);
  const auto remove = [](const fs::path* folder) { base::remove_tree(*folder); };
  const std::unique_ptr<const fs::path, decltype(remove)> owner(&unpacked, remove);
  std::error_code code;
  CrateMembers members = unpack_crate(place, unpacked, observer, stop);
  verify_run(place, unpacked, std::move(members), run);
  spec::RunRecord record;
  try {
    record = checked_record(place, unpacked / "run");
  } catch (const Error& error) {
    throw renamed(error, unpacked, place);
  }
  run.run_id = record.run_id;
  gather(unpacked);
  describe_run(record, crate_folder(unpacked / "run") / "assets", run);
  run.directory = folders.run(record.run_id);
  if (fs::exists(run.directory, code)) {
    ImportedRun other = run;
    other.directory = unpacked / "run";
    refuse_other_run(other, folders);
    run.was_there = true;
    run.is_trusted = is_trusted(run);
    return run;
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

}  // namespace

ImportedRun import_crate(const fs::path& place,
                         const home::Folders& folders,
                         base::Clock& clock,
                         base::Observer& observer,
                         const std::stop_token& stop) {
  return with_storage_errors([&] { return taken_in(place, folders, clock, observer, stop); });
}

}  // namespace sabath::sharing
