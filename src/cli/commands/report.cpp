#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "selected_runs.hpp"
#include "workspace.hpp"

#include <sabath/analysis/report_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/report.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

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
};

const report::ReportFormat& format_of(const std::string& file) {
  if (const report::ReportFormat* format = report::format_of(file)) return *format;
  std::string known;
  for (const report::ReportFormat& format : report::builtin_formats())
    known += (known.empty() ? "" : ", ") + std::string(format.extensions.front());
  throw Error(ErrorKind::usage,
              "-o " + base::printable(file) + ": which format is meant?",
              "the file's name ends with one of " + known);
}

/// Before anything is read: many runs take a while.
void check_place(const fs::path& file) {
  std::error_code code;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, code))
    throw Error(ErrorKind::storage, folder.string() + ": there is no such folder");
  if (fs::is_directory(file, code))
    throw Error(ErrorKind::storage, file.string() + ": is a folder");
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(ErrorKind::storage, folder.string() + ": is not yours to write to");
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
  std::string text = fmt::format("{}: {} run{}, {}\n",
                                 base::printable(written.file),
                                 written.runs.all,
                                 written.runs.all == 1 ? "" : "s",
                                 base::format_bytes(written.size_bytes));
  if (written.runs.all > 1) text += spec::count_text(written.runs) + "\n";
  for (const std::string& note : written.notes)
    text += "note: " + base::printable(note) + "\n";
  return text;
}

int run_report(const ReportOptions& options, Workspace& workspace) {
  const report::ReportFormat& format = format_of(options.file);
  check_place(options.file);
  SelectedRuns selected = selected_together(options.selections, workspace);
  known_names(workspace).check_across(
      "--across", options.across, selected.runs, workspace.catalog());
  analysis::ReportRequest request;
  for (const std::string& selection : options.selections)
    request.selection += (request.selection.empty() ? "" : " ") + selection;
  request.by = options.by;
  request.across = {options.across.begin(), options.across.end()};
  request.command = command_of(options);
  request.named = std::move(selected.named);
  const report::Report report =
      analysis::report_runs(selected.runs, request, workspace.catalog(), workspace.clock());
  const std::string text = format.write(report);
  base::write_file_atomically(options.file, text);
  const WrittenReport written{
      options.file, std::string(format.name), report.count, text.size(), report.notes};
  workspace.answer(workspace.options().json ? json_answer(written) : report_text(written));
  return exit_done;
}

}  // namespace

void setup_report(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "write a report of runs: HTML, Markdown, CSV or JSON");
  command->add_option("selection", options->selections, "the runs (id, @last, recipe=..., tag=...)")
      ->required();
  command
      ->add_option("-o,--output",
                   options->file,
                   "the file to write; its name says the format: .html, .md, .csv or .json")
      ->required();
  command->add_option("--by", options->by, "group the runs by this: host, seed, a parameter, ...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--across",
                   options->across,
                   "compare although this differs: recipe, data, parameters, or a parameter's name")
      ->allow_extra_args(false);
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_report(*options, workspace); };
  });
}

}  // namespace sabath::cli
