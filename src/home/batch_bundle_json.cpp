#include <sabath/base/archive/archive.hpp>
#include <sabath/base/archive/archive_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/home/batch_bundle.hpp>
#include <sabath/home/program_bundle.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/output_rule.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using nlohmann::ordered_json;

constexpr const char* archive_name = "bundle.tar.gz";
constexpr const char* top = ".sabath-task";  // the program is there as "sabath"
constexpr const char* manifest_name = "bundle.json";

/// Where things lay -> where they lie beneath the folder in which the job begins.
using Moves = std::map<std::string, std::string>;

bool can_be_in_name(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// "-I/usr/include"
bool is_option(const std::string& text, std::size_t at) {
  return at >= 2 && text[at - 2] == '-' && (at == 2 || text[at - 3] == ' ');
}

/// Every place in the text, which may be shell, where an old path stands: of a longer name, or
/// behind other folders, it is not.
std::string moved(std::string text, const Moves& moves, const fs::path& here) {
  // The longest first: a folder may lie in another.
  std::vector<std::pair<std::string, std::string>> ordered(moves.begin(), moves.end());
  std::ranges::sort(ordered,
                    [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::ranges::find_if(ordered, [&](const auto& move) {
      const std::size_t end = at + move.first.size();
      return text.compare(at, move.first.size(), move.first) == 0 &&
             (end == text.size() || !can_be_in_name(text[end])) &&
             (at == 0 || !can_be_in_name(text[at - 1]) || is_option(text, at));
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
    if (std::ranges::find(inputs, path) != inputs.end()) continue;
    for (const fs::path& other : inputs) {
      if (other.filename() != path.filename()) continue;
      throw Error(ErrorKind::usage,
                  path.string() + " and " + other.string() +
                      ": have one name, and go to the node into one folder");
    }
    const std::string name = path.filename().string();
    if (name == "sabath" || name == bundled_libraries || name == archive_name || name == top ||
        name.starts_with("returned-"))
      throw Error(ErrorKind::usage, path.string() + ": cannot go to the node by this name");
    moves.emplace(input.path, name);
    inputs.push_back(path);
  }
}

void copy_all(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, code);
  if (code) base::throw_errno(from.string(), "cannot be copied", code.value());
}

/// Another who watches may have taken it at this moment.
void take(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::rename(from, to, code);
  if (code && code != std::errc::no_such_file_or_directory)
    base::throw_errno(to.string(), "cannot be written", code.value());
}

/// Regular files alone; the record last, which says that all is there.
void merge(const fs::path& from, const fs::path& to) {
  constexpr const char* record = "record.json";
  base::make_directories(to);
  std::error_code code;
  bool has_record = false;
  for (fs::directory_iterator at(from, code), end; !code && at != end; at.increment(code)) {
    std::error_code gone;
    const fs::path name = at->path().filename();
    const fs::file_type type = at->symlink_status(gone).type();
    if (type == fs::file_type::directory) merge(at->path(), to / name);
    if (type != fs::file_type::regular) continue;
    if (name == record) {
      has_record = true;
    } else {
      take(at->path(), to / name);
    }
  }
  if (has_record) take(from / record, to / record);
}

/// All that a node makes in a run's folder, and as what. The plan, the kept code, the jobs and
/// later collections are the submitter's.
struct MadeThere {
  const char* name;
  fs::file_type type;
};
constexpr std::array<MadeThere, 6> made_there{{{"attempts", fs::file_type::directory},
                                               {"outputs", fs::file_type::directory},
                                               {"trees", fs::file_type::directory},
                                               {"series.h5", fs::file_type::regular},
                                               {"status.json", fs::file_type::regular},
                                               {"record.json", fs::file_type::regular}}};

/// A record that cannot be read, or says something else than `plan`, is none.
bool is_planned_record(const fs::path& file, const spec::RunPlan& plan) {
  try {
    return is_as_planned(spec::parse_run_record(base::read_file(file), file.string()), plan);
  } catch (const Error&) {
    return false;
  }
}

/// Removes from a folder that came back all that a node does not make.
void leave_out_others(const fs::path& run) {
  std::error_code code;
  std::vector<fs::path> refused;
  for (fs::directory_iterator at(run, code), end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename().string();
    std::error_code gone;
    const fs::file_type type = at->symlink_status(gone).type();
    const bool is_made_there = std::ranges::any_of(
        made_there, [&](const MadeThere& made) { return name == made.name && type == made.type; });
    if (!is_made_there) refused.push_back(at->path());
  }
  for (const fs::path& path : refused)
    base::remove_tree(path);
}

/// Nothing where it cannot be read.
std::optional<spec::RunPlan> plan_of(const fs::path& run) {
  try {
    return RunFiles(run).read_plan();
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// An attempt's record becomes the run's, where the run was cancelled.
void leave_out_forged_attempts(const fs::path& run, const spec::RunPlan& plan) {
  std::error_code code;
  for (fs::directory_iterator at(run / "attempts", code), end; !code && at != end;
       at.increment(code)) {
    std::error_code gone;
    // What a link leads to is not what came back.
    if (at->symlink_status(gone).type() != fs::file_type::directory) continue;
    const fs::path record = RunFiles(at->path()).record();
    if (fs::symlink_status(record, gone).type() == fs::file_type::not_found) continue;
    if (!fs::is_regular_file(fs::symlink_status(record, gone)) || !is_planned_record(record, plan))
      base::remove_tree(record);
  }
}

}  // namespace

Bundle make_bundle(const BatchFiles& files, const spec::BatchPlan& plan) {
  const base::TempDir staging(files.directory(), ".bundle-");
  const fs::path& root = staging.path();
  const fs::path runs = plan.runs_directory;
  Bundle bundle{files.directory() / archive_name, {}};
  Moves moves;
  for (const std::string& id : plan.runs) {
    const RunFiles run(runs / id);
    const spec::RunPlan one = run.read_plan();
    add_needs(one, moves, bundle.inputs);
    base::make_directories(root / "runs" / id);
    copy_all(run.plan(), root / "runs" / id / run.plan().filename());
    copy_all(run.status(), root / "runs" / id / run.status().filename());
    if (one.stop_when_diverged)
      copy_all(run.reference(), root / "runs" / id / run.reference().filename());
    std::error_code code;
    if (!fs::exists(root / "recipe", code)) copy_all(one.recipe_directory, root / "recipe");
  }
  base::make_directories(root / "batch");
  BatchFiles(root / "batch").write_plan(plan);
  base::write_file_atomically(
      root / manifest_name,
      base::pretty_json({{"schema", 1}, {"runs", plan.runs_directory}, {"moved", moves}}),
      base::Durability::ordered_only);
  std::error_code none;
  fs::remove(bundle.archive, none);
  base::write_archive(root, base::list_tree(root), bundle.archive);
  return bundle;
}

namespace {

fs::path open_unpacked(const fs::path& root, const std::string& name, std::size_t task) {
  const fs::path here = root.parent_path();
  const ordered_json manifest = read_json(root / manifest_name);
  auto moves = manifest.at("moved").get<Moves>();
  moves.emplace(manifest.at("runs").get<std::string>(), name);
  const BatchFiles files(root / "batch");
  spec::BatchPlan plan = files.read_plan();
  plan.runs_directory = (here / name).string();
  files.write_plan(plan);
  for (const std::string& id : plan.runs_of(task)) {
    std::error_code code;
    fs::rename(root / "runs" / id, here / name / id, code);
    if (code) base::throw_errno((root / "runs" / id).string(), "cannot be moved", code.value());
    const fs::path file = RunFiles(here / name / id).plan();
    ordered_json document = read_json(file);
    for (const char* key : with_paths) {
      if (document.contains(key)) move_paths(document[key], moves, here);
    }
    document["batch"] = std::string("../../") + top + "/batch";
    base::write_file_atomically(file, base::pretty_json(document));
  }
  return files.directory();
}

}  // namespace

fs::path open_bundle(const fs::path& archive,
                     std::size_t task,
                     const fs::path& here,
                     base::Observer& observer,
                     const std::stop_token& stop) {
  const fs::path root = here / top;
  const std::string name = returned_name(std::to_string(task));
  for (const fs::path& folder : {root, here / name}) {
    base::remove_tree(folder);  // of a try that was ended early
    base::make_directories(folder);
  }
  base::extract_archive(archive, root, {}, observer, stop);
  try {
    return open_unpacked(root, name, task);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::integrity,
                archive.string() + ": is not a bundle of runs: " + error.what());
  }
}

std::string returned_name(const std::string& task) {
  return "returned-" + task;
}

bool take_returned(const BatchFiles& files, const spec::BatchPlan& plan, std::size_t task) {
  const fs::path returned = files.directory() / returned_name(std::to_string(task));
  std::error_code code;
  if (fs::symlink_status(returned, code).type() != fs::file_type::directory) return false;
  const fs::path runs = plan.runs_directory;
  for (const std::string& id : plan.runs_of(task)) {
    const fs::path run = returned / id;
    if (fs::symlink_status(run, code).type() != fs::file_type::directory) continue;
    leave_out_others(run);
    const auto planned = plan_of(runs / id);
    if (!planned) continue;  // the run's folder was removed here
    leave_out_forged_attempts(run, *planned);
    if (!is_planned_record(RunFiles(run).record(), *planned)) {
      // Then the scheduler says how it ended, not a status that nothing bears out.
      fs::remove(RunFiles(run).record(), code);
      fs::remove(RunFiles(run).status(), code);
    }
    merge(run, runs / id);
    announce(runs / id, RunEvent::finished);
  }
  base::remove_tree(returned);
  return true;
}

bool is_as_planned(const spec::RunRecord& record, const spec::RunPlan& plan) {
  const auto planned_stage = [&](const std::string& name) {
    return std::ranges::find(plan.stages, name, &spec::PlannedStage::name);
  };
  const auto is_planned_stage = [&](const spec::StageRecord& stage) {
    return planned_stage(stage.name) != plan.stages.end();
  };
  // Else a path leads to a file that is not of this run.
  const auto is_planned_output = [&](const spec::OutputRecord& output) {
    const auto stage = planned_stage(output.stage);
    return stage != plan.stages.end() && base::is_safe_relative_path(output.path) &&
           std::ranges::any_of(stage->outputs, [&](const std::string& declared) {
             return spec::declares(declared, output.path);
           });
  };
  const auto code_of = [](std::optional<spec::CodeState> code) {
    if (code) code->changed.reset();
    return code;
  };
  const auto is_same_input = [](const spec::PlannedInput& a, const spec::PlannedInput& b) {
    return a.role == b.role && a.asset == b.asset && a.version == b.version && a.digest == b.digest;
  };
  return record.run_id == plan.run_id && record.study_id == plan.study_id &&
         record.created == plan.created && record.reproduce == plan.reproduce &&
         record.recipe_text == plan.recipe_text && record.parameters == plan.parameters &&
         record.seed == plan.seed && record.tags == plan.tags && record.variant == plan.variant &&
         record.task == plan.task && record.only_stage == plan.only_stage &&
         record.repeats == plan.repeats && code_of(record.code_state) == code_of(plan.code_state) &&
         std::ranges::equal(record.inputs, plan.inputs, is_same_input) &&
         std::ranges::all_of(record.stages, is_planned_stage) &&
         std::ranges::all_of(record.outputs, is_planned_output);
}

bool has_travelled(const fs::path& run_directory, const spec::RunPlan& plan) {
  std::error_code code;
  if (!plan.batch) return false;
  // Where the batch is gone nobody knows.
  const BatchFiles files(run_directory / *plan.batch);
  return fs::exists(files.directory() / archive_name, code) || !fs::exists(files.directory(), code);
}

}  // namespace sabath::home
