#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/report_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/stop_signal.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/report/report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <unistd.h>

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

struct ReportOptions {
  std::vector<std::string> selections{};
  std::string file{};
  std::vector<std::string> by{};
  std::vector<std::string> across{};
  std::vector<std::string> watch{};  ///< the pause; one empty text: the usual one
};

const report::ReportFormat& format_of(const std::string& file) {
  if (const report::ReportFormat* format = report::format_of(file)) return *format;
  const auto extension = [](const report::ReportFormat& one) { return one.extensions.front(); };
  throw usage_error("-o " + base::printable(file) + ": the format is not known",
                    "the file's name ends with one of " +
                        base::joined(report::builtin_formats(), ", ", extension));
}

/// Before anything is read: many runs take a while.
void check_place(const fs::path& file) {
  std::error_code code;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, code))
    throw Error(ErrorKind::storage, folder.string() + ": this folder does not exist");
  if (fs::is_directory(file, code))
    throw Error(ErrorKind::storage, file.string() + ": is a folder");
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(ErrorKind::storage, folder.string() + ": you may not write there");
}

std::string command_of(const ReportOptions& options) {
  std::vector<std::string> words{"sabath", "report"};
  words.insert(words.end(), options.selections.begin(), options.selections.end());
  for (const std::string& by : options.by)
    words.insert(words.end(), {"--by", by});
  for (const std::string& across : options.across)
    words.insert(words.end(), {"--across", across});
  words.insert(words.end(), {"-o", fs::path(options.file).filename().string()});
  return base::shown_command(words);
}

std::string report_text(const WrittenReport& written) {
  std::string text = fmt::format("{}: {}, {}\n",
                                 base::printable(written.file),
                                 base::counted(written.runs.all, "run"),
                                 base::format_bytes(written.size_bytes));
  if (written.runs.all > 1) text += spec::count_text(written.runs) + "\n";
  for (const std::string& note : written.notes)
    text += "note: " + base::printable(note) + "\n";
  return text;
}

/// Writes the report once. Returns whether all of its runs have ended.
bool write_report(const ReportOptions& options,
                  const std::optional<std::chrono::seconds>& pause,
                  Workspace& workspace) {
  const report::ReportFormat& format = format_of(options.file);
  SelectedRuns selected = selected_together(options.selections, workspace);
  known_names(workspace).check_across(
      "--across", options.across, selected.runs, workspace.catalog());
  analysis::ReportRequest request;
  request.selection = fmt::format("{}", fmt::join(options.selections, " "));
  request.by = options.by;
  request.across = {options.across.begin(), options.across.end()};
  request.command = command_of(options);
  request.named = std::move(selected.named);
  report::Report report =
      analysis::report_runs(selected.runs, request, workspace.catalog(), workspace.clock());
  const bool are_over = std::ranges::all_of(selected.runs, [&](const catalog::RunRow& run) {
    const home::StudyFiles study(workspace.folders().studies() / run.study);
    return spec::is_final(run.state) && (run.study.empty() || !study.has_other_driver());
  });
  if (pause && !are_over) report.refresh_s = static_cast<int>(pause->count());
  const std::string text = format.write(report);
  base::write_file_atomically(options.file, text);
  if (pause && !are_over) {
    workspace.observer().note(base::printable(options.file) + ": " +
                              base::counted(selected.runs.size(), "run") + ", not all have ended");
    return false;
  }
  const WrittenReport written{
      options.file, std::string(format.name), report.count, text.size(), report.notes};
  answer_with(written, report_text(written), workspace);
  return true;
}

int run_report(const ReportOptions& options, Workspace& workspace) {
  format_of(options.file);
  check_place(options.file);
  if (options.watch.empty()) {
    write_report(options, std::nullopt, workspace);
    return exit_done;
  }
  const std::string given = options.watch.front().empty() ? "30s" : options.watch.front();
  const std::chrono::seconds pause = duration_of("--watch", given, "10s, 30s or 5m");
  if (pause.count() < 1) throw usage_error("--watch: the pause is at least a second");
  const std::stop_token stop = workspace.stop();
  while (!write_report(options, pause, workspace)) {
    if (!base::wait_unless_stopped(pause, stop)) return exit_interrupted;
    workspace.refresh_catalog();
  }
  return exit_done;
}

}  // namespace

void setup_report(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "report", "write a report of runs: HTML, Markdown, CSV or JSON", run_report);
  command.add_option("selection", options.selections, "the runs (id, @last, recipe=..., tag=...)")
      ->required();
  command
      .add_option("-o,--output",
                  options.file,
                  "the file to write; its name says the format: .html, .md, .csv or .json")
      ->required();
  command
      .add_option("--watch", options.watch, "write it again every 30s (or so) until all runs ended")
      ->expected(0, 1)
      ->type_name("DURATION");
  command.add_option("--by", options.by, "group the runs by this: host, seed, a parameter, ...")
      ->comma_separated();
  command
      .add_option("--across",
                  options.across,
                  "compare although this differs: recipe, data, parameters, or a parameter's name")
      ->one_each();
}

}  // namespace sabath::cli
