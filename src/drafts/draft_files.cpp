#include "sources.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/drafts/recipe_draft.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_logs.hpp>
#include <sabath/planning/repeat_run.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <array>
#include <chrono>

namespace sabath::drafts {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

std::string log_of(const fs::path& run_directory, bool errors) {
  home::RunLogs logs(run_directory, {std::string(spec::command_stage), errors, false});
  return logs.more();
}

/// Files of the folder that the run changed, but for its sources.
std::vector<std::string> written_by(const fs::path& run_directory, const fs::path& folder) {
  constexpr std::size_t most = 20;
  std::error_code code;
  const auto begin = fs::last_write_time(home::RunFiles(run_directory).plan(), code);
  const auto end = fs::last_write_time(home::RunFiles(run_directory).record(), code);
  const std::vector<fs::path> sources = sources_beneath(folder);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const auto time = entry.last_write_time(code);
    const fs::path name = entry.path().filename();
    const bool is_ours = entry.is_regular_file(code) && time >= begin && time <= end &&
                         std::ranges::find(sources, name) == sources.end();
    if (is_ours && files.size() < most) files.push_back(name.string());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

fs::path script_of_folder(const fs::path& folder) {
  const std::string place = base::printable(folder.string());
  std::error_code code;
  if (fs::exists(folder / "recipe.json", code)) {
    throw Error(ErrorKind::usage,
                place + ": has a recipe.json already, and 'init' overwrites nothing",
                "sabath validate " + place);
  }
  std::vector<std::string> scripts;
  bool has_notebook = false;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".py" || path.extension() == ".sh")
      scripts.push_back(path.filename().string());
    has_notebook = has_notebook || path.extension() == ".ipynb";
  }
  std::ranges::sort(scripts);
  constexpr std::array usual{"train.py", "main.py", "run.py", "run.sh"};
  for (const char* const name : usual) {
    if (std::ranges::find(scripts, name) != scripts.end()) return name;
  }
  if (scripts.size() == 1) return scripts.front();
  if (scripts.empty()) {
    throw Error(ErrorKind::not_found,
                place + (has_notebook ? ": has a notebook and no script" : ": has no script"),
                has_notebook
                    ? "'jupyter nbconvert --to script FILE.ipynb' makes a script of one"
                    : "name a script: 'sabath init SCRIPT'; 'sabath learn' shows an example");
  }
  throw Error(ErrorKind::usage,
              place + ": has several scripts: " + base::printable(base::joined(scripts, ", ")),
              "name one of them: 'sabath init " + base::printable(scripts.front()) + "'");
}

DraftRequest request_of_run(const fs::path& run_directory) {
  const home::RunFiles files(run_directory);
  const std::string id = run_directory.filename().string();
  const auto command = planning::direct_command(files.read_plan());
  if (!command) {
    throw Error(
        ErrorKind::usage,
        "run " + id + ": has a recipe already",
        "'init' takes runs of 'sabath run -- COMMAND'; 'sabath show " + id + "' names the recipe");
  }
  DraftRequest request;
  request.folder = command->directory;
  const std::vector<fs::path> scripts = named_scripts(command->words, request.folder);
  if (scripts.empty()) {
    throw Error(
        ErrorKind::not_found,
        "run " + id + ": its command names no script in " + base::printable(command->directory),
        "a recipe needs one: write the command into a script, and 'sabath init SCRIPT'");
  }
  request.script = scripts.front();
  const auto at = std::ranges::find_if(command->words, [&](const std::string& word) {
    return (request.folder / word).lexically_normal() == request.folder / request.script;
  });
  if (at != command->words.end()) request.arguments.assign(at + 1, command->words.end());
  request.log = log_of(run_directory, false) + log_of(run_directory, true);
  if (const auto record = files.read_record()) {
    for (const spec::MetricSummary& metric : record->metrics)
      request.metrics.push_back(metric.name);
  }
  request.written = written_by(run_directory, request.folder);
  return request;
}

void write_draft(const RecipeDraft& draft, const fs::path& to) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(to, code))) {
    throw Error(ErrorKind::usage,
                base::printable(to.string()) + ": is there already, and 'init' overwrites nothing",
                "choose another folder with --to");
  }
  base::make_directories(to);
  for (const fs::path& source : draft.sources) {
    const fs::path copy = to / "code" / source;
    base::make_directories(copy.parent_path());
    base::write_file_atomically(copy, base::read_file(draft.folder / source));
  }
  base::write_file_atomically(to / "README.md", draft.readme);
  base::write_file_atomically(to / "recipe.json", draft.document);
}

}  // namespace sabath::drafts
