#include <sabath/app/batch_bundle.hpp>
#include <sabath/app/run_files.hpp>
#include <sabath/base/archive.hpp>
#include <sabath/base/archive_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using nlohmann::ordered_json;

constexpr const char* archive_name = "bundle.tar.gz";
constexpr const char* top = "sabath";
constexpr const char* manifest_name = "bundle.json";

/// Where things lay -> where they lie beneath the folder in which the job begins.
using Moves = std::map<std::string, std::string>;

/// Every place in the text where an old path begins, or is whole.
std::string moved(std::string text, const Moves& moves, const fs::path& here) {
  // The longest first: a folder may lie in another.
  std::vector<std::pair<std::string, std::string>> ordered(moves.begin(), moves.end());
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return a.first.size() > b.first.size();
  });
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::find_if(ordered.begin(), ordered.end(), [&](const auto& move) {
      const std::size_t end = at + move.first.size();
      return text.compare(at, move.first.size(), move.first) == 0 &&
             (end == text.size() || text.find_first_of("/:;, \"'", end) == end);
    });
    if (found == ordered.end()) {
      result += text[at++];
    } else {
      result += (here / found->second).string();
      at += found->first.size();
    }
  }
  return result;
}

void move_paths(ordered_json& value, const Moves& moves, const fs::path& here) {
  if (value.is_string()) {
    value = moved(value.get<std::string>(), moves, here);
  } else if (value.is_structured()) {
    for (auto& part : value)
      move_paths(part, moves, here);
  }
}

/// What names paths in a plan; the rest says what a run is, and stays.
constexpr std::array<const char*, 7> with_paths{"recipe_directory",
                                                "inputs",
                                                "stages",
                                                "environment",
                                                "variants",
                                                "cache_directory",
                                                "state_directory"};

ordered_json read_json(const fs::path& file) {
  try {
    return ordered_json::parse(base::read_file(file));
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::integrity, file.string() + ": " + error.what());
  }
}

void refuse_prefixes(const spec::RunPlan& plan) {
  for (const spec::BuiltEnvironment& environment : plan.environments()) {
    for (const spec::BuiltLayer& layer : environment.layers) {
      if (layer.lock.kind == spec::LayerKind::host) continue;
      throw Error(ErrorKind::usage,
                  "environment layer '" + layer.lock.name +
                      "': is on this machine, and the nodes of " + "the site see none of its files",
                  "an image that has what the recipe needs (\"image\" in the site's request), and "
                  "a variant of the environment with no layer but 'host'");
    }
  }
}

/// Adds what one run needs of elsewhere.
void add_needs(const spec::RunPlan& plan, Moves& moves, std::vector<fs::path>& inputs) {
  refuse_prefixes(plan);
  moves.emplace(plan.recipe_directory, std::string(top) + "/recipe");
  moves.emplace(plan.cache_directory, std::string(top) + "/cache");
  moves.emplace(plan.state_directory, std::string(top) + "/state");
  for (const spec::PlannedInput& input : plan.inputs) {
    const fs::path path = input.path;
    if (std::find(inputs.begin(), inputs.end(), path) != inputs.end()) continue;
    for (const fs::path& other : inputs) {
      if (other.filename() != path.filename()) continue;
      throw Error(ErrorKind::usage,
                  path.string() + " and " + other.string() +
                      ": have one name, and go to the node into one folder");
    }
    moves.emplace(input.path, path.filename().string());
    inputs.push_back(path);
  }
}

void copy_all(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, code);
  if (code) base::throw_errno(from.string(), "cannot be copied", code.value());
}

/// Regular files alone; the record last, which says that all is there.
void merge(const fs::path& from, const fs::path& to) {
  constexpr const char* record = "record.json";
  base::make_directories(to);
  bool has_record = false;
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path target = to / entry.path().filename();
    if (entry.is_symlink()) continue;
    if (entry.is_directory()) {
      merge(entry.path(), target);
    } else if (entry.is_regular_file()) {
      if (entry.path().filename() == record) {
        has_record = true;
      } else {
        fs::rename(entry.path(), target);
      }
    }
  }
  if (has_record) fs::rename(from / record, to / record);
}

}  // namespace

Bundle make_bundle(const BatchFiles& files, const spec::BatchPlan& plan) {
  const base::TempDir staging(files.directory(), ".bundle-");
  const fs::path root = staging.path();
  const fs::path runs = plan.runs_directory;
  Bundle bundle{files.directory() / archive_name, {}};
  Moves moves{{plan.runs_directory, std::string(top) + "/runs"}};
  for (const std::string& id : plan.runs) {
    const RunFiles run(runs / id);
    const spec::RunPlan one = run.read_plan();
    add_needs(one, moves, bundle.inputs);
    base::make_directories(root / "runs" / id);
    copy_all(run.plan(), root / "runs" / id / run.plan().filename());
    copy_all(run.status(), root / "runs" / id / run.status().filename());
    std::error_code code;
    if (!fs::exists(root / "recipe", code)) copy_all(one.recipe_directory, root / "recipe");
  }
  base::make_directories(root / "batch");
  BatchFiles(root / "batch").write_plan(plan);
  base::write_file_atomically(root / manifest_name,
                              base::pretty_json({{"schema", 1}, {"moved", moves}}),
                              base::Durability::ordered_only);
  std::error_code none;
  fs::remove(bundle.archive, none);
  base::write_archive(root, base::list_tree(root), bundle.archive);
  return bundle;
}

fs::path open_bundle(const fs::path& archive,
                     std::size_t task,
                     const fs::path& here,
                     base::Observer& observer,
                     const std::stop_token& stop) {
  const fs::path root = here / top;
  base::remove_tree(root);
  base::make_directories(root);
  base::extract_archive(archive, root, {}, observer, stop);
  const auto moves = read_json(root / manifest_name).at("moved").get<Moves>();
  const BatchFiles files(root / "batch");
  spec::BatchPlan plan = files.read_plan();
  plan.runs_directory = (root / "runs").string();
  files.write_plan(plan);
  for (const std::string& id : plan.runs_of(task)) {
    const fs::path file = RunFiles(root / "runs" / id).plan();
    ordered_json document = read_json(file);
    for (const char* key : with_paths) {
      if (document.contains(key)) move_paths(document[key], moves, here);
    }
    document["batch"] = "../../batch";
    base::write_file_atomically(file, base::pretty_json(document));
  }
  return files.directory();
}

std::string returned_name(const std::string& task) {
  return "returned-" + task;
}

void return_runs(const fs::path& batch, std::size_t task, const fs::path& returned) {
  const spec::BatchPlan plan = BatchFiles(batch).read_plan();
  for (const std::string& id : plan.runs_of(task)) {
    const RunFiles run(fs::path(plan.runs_directory) / id);
    fs::remove(run.plan());
    fs::rename(run.directory(), returned / id);
  }
}

bool take_returned(const BatchFiles& files, const spec::BatchPlan& plan, std::size_t task) {
  const fs::path returned = files.directory() / returned_name(std::to_string(task));
  std::error_code code;
  if (!fs::is_directory(returned, code)) return false;
  const fs::path runs = plan.runs_directory;
  try {
    for (const std::string& id : plan.runs_of(task)) {
      if (!fs::is_directory(returned / id, code)) continue;
      merge(returned / id, runs / id);
      announce(runs, id, RunEvent::finished);
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorKind::storage, error.what());
  }
  base::remove_tree(returned);
  return true;
}

}  // namespace sabath::app
