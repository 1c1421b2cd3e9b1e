#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/app/check_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/program.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/baseline_uses.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/study_files.hpp>
#include <sabath/sharing/export_asset.hpp>
#include <sabath/sharing/export_run.hpp>
#include <sabath/sharing/group_crate.hpp>
#include <sabath/spec/check_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace sabath::cli {
namespace {

struct ExportOptions {
  std::string what{};
  std::string format{};
  std::string output{};
  std::string outputs{};
  std::string profile{};
  bool is_strict = false;
  bool forces = false;
  bool with_code = false;
  bool without_code = false;
  sharing::CrateRequest crate{};
};

void refuse_existing(const ExportOptions& options) {
  std::error_code code;
  if (std::filesystem::exists(options.output, code) && !options.forces)
    throw usage_error("-o: '" + base::printable(options.output) + "' is there",
                      "--force replaces it");
}

int write_asset(const std::string& name, const ExportOptions& options, Workspace& workspace) {
  workspace.refuse_json("a document of an asset is JSON itself");
  const spec::Asset asset = workspace.documents().asset(name);
  const std::string format = options.format.empty() ? "croissant" : options.format;
  const std::string text = sharing::export_asset(asset, format, options.is_strict);
  if (options.output.empty() || options.output == "-") {
    workspace.answer(text);
    return exit_done;
  }
  refuse_existing(options);
  base::write_file_atomically(options.output, text);
  return exit_done;
}

/// "256MiB", "2 GB", "1000": bytes. Nothing for any other text.
std::optional<std::uint64_t> size_of(const std::string& text) {
  constexpr std::string_view prefixes = "kmgt";
  const auto number = base::leading_number<std::uint64_t>(text);
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string unit = base::lower_case(base::trimmed(std::string_view(text).substr(end)));
  if (unit.ends_with('b')) unit.pop_back();
  const bool is_binary = unit.ends_with('i');
  if (is_binary) unit.pop_back();
  const auto power = unit.empty() ? 0 : prefixes.find(unit) + 1;
  if (!number || unit.size() > 1 || power > prefixes.size()) return std::nullopt;
  std::uint64_t bytes = *number;
  const std::uint64_t factor = is_binary ? 1024 : 1000;
  for (std::size_t i = 0; i < power; ++i) {
    if (bytes > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    bytes *= factor;
  }
  return bytes;
}

/// "all", "none", or the size of the largest output that goes in; nothing for "none".
std::optional<std::uint64_t> largest_output(const std::string& text) {
  if (text == "all") return std::numeric_limits<std::uint64_t>::max();
  if (text == "none") return std::nullopt;
  const auto size = size_of(text);
  if (!size)
    throw usage_error("--outputs: '" + base::printable(text) + "' is not all, none or a size",
                      "such as 256MiB");
  return *size;
}

/// The first of them, and how many others there are.
std::string names(const std::vector<std::string>& items) {
  constexpr std::size_t shown = 12;
  if (items.empty()) return "none";
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), shown));
  std::string text =
      base::printable(base::joined(std::vector<std::string>(items.begin(), end), ", "));
  if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

std::string crate_text(const sharing::CrateReport& report) {
  const std::string what =
      report.runs.empty() ? "run " + report.run_id : base::counted(report.runs.size(), "run");
  std::string text = fmt::format("{} in {}: {}, {}\n",
                                 what,
                                 base::printable(report.path.string()),
                                 base::counted(report.members, "member"),
                                 base::format_bytes(report.bytes));
  text += "  users " + names(report.users) + "; hosts " + names(report.hosts) + "\n  paths " +
          names(report.paths) + "\n";
  if (!report.left_out.empty())
    text += "  left out " + names(report.left_out) +
            ": a repetition of them can only be judged to the bit\n";
  if (!report.not_scanned.empty())
    text += "  not scanned for secrets: " + names(report.not_scanned) + "\n";
  return text + "  " + report.digest + "\n";
}

sharing::CrateTools crate_tools(Workspace& workspace) {
  return {workspace.documents(),
          workspace.folders().recipes.back(),
          workspace.processes(),
          home::known_secrets(base::current_environment(), workspace.known_secrets()),
          workspace.observer(),
          workspace.stop()};
}

void add_study(const std::string& id, sharing::GroupRequest& request, Workspace& workspace) {
  const auto study = home::find_study(workspace.folders().studies(), id).directory();
  if (const auto text = base::read_file_if_exists(study / "study.json"))
    request.documents["study.json"] = *text;
}

/// Baselines of this home that name one of the runs.
void add_baselines(const std::vector<catalog::RunRow>& rows,
                   sharing::GroupRequest& request,
                   Workspace& workspace) {
  const auto uses = home::runs_of_baselines(workspace.folders().home);
  for (const catalog::RunRow& row : rows) {
    const auto found = uses.find(row.id);
    if (found == uses.end()) continue;
    for (const std::filesystem::path file : found->second)
      if (const auto text = base::read_file_if_exists(file))
        request.documents["baselines/" + file.filename().string()] = *text;
  }
}

/// How the runs are judged among each other.
std::string verdict_of(const std::vector<catalog::RunRow>& rows,
                       const std::string& what,
                       Workspace& workspace) {
  app::CheckRequest request;
  request.what = what;
  request.now = workspace.clock().now();
  return json_answer(app::check_runs(rows, request, workspace.catalog()));
}

int write_group(const ExportOptions& options,
                const sharing::CrateRequest& each,
                const std::vector<catalog::RunRow>& rows,
                Workspace& workspace) {
  sharing::GroupRequest request;
  request.name = options.what;
  request.each = each;
  request.output = options.output;
  for (const catalog::RunRow& row : rows)
    request.runs.emplace_back(row.directory);
  if (!each.is_anonymous) {
    const auto studies = home::study_ids(workspace.folders().studies());
    if (std::ranges::find(studies, options.what) != studies.end())
      add_study(options.what, request, workspace);
    add_baselines(rows, request, workspace);
    request.documents["verdict.json"] = verdict_of(rows, options.what, workspace);
  }
  const auto report = sharing::export_group(request, crate_tools(workspace));
  return answer_with(report, crate_text(report), workspace);
}

/// The runs of a selection, or of a study that is called so.
std::vector<catalog::RunRow> runs_of(const std::string& what, Workspace& workspace) {
  const auto studies = home::study_ids(workspace.folders().studies());
  const bool is_study = std::ranges::find(studies, what) != studies.end();
  return selected_runs(is_study ? "study=" + what : what, workspace);
}

int write_crate(const ExportOptions& options, Workspace& workspace) {
  if (options.output.empty()) throw usage_error("a run is exported to a file", "-o RUN.crate.zip");
  if (!options.format.empty() && options.format != "crate")
    throw usage_error("--as: '" + options.format +
                      "' is a format of assets; a run is exported as crate");
  if (options.with_code && options.without_code)
    throw usage_error("--with-code and --without-code exclude each other");
  refuse_existing(options);
  sharing::CrateRequest request = options.crate;
  request.output = options.output;
  request.is_provenance = options.profile == "provenance";
  if (!options.outputs.empty()) request.largest_output = largest_output(options.outputs);
  if (options.with_code || options.without_code) request.with_code = options.with_code;
  const auto rows = runs_of(options.what, workspace);
  if (rows.size() > 1) return write_group(options, request, rows, workspace);
  request.run = rows.front().directory;
  const sharing::CrateReport report = sharing::export_run(request, crate_tools(workspace));
  return answer_with(report, crate_text(report), workspace);
}

int run_export(const ExportOptions& options, Workspace& workspace) {
  constexpr std::string_view prefix = "asset:";
  if (options.what.starts_with(prefix))
    return write_asset(options.what.substr(prefix.size()), options, workspace);
  const bool is_asset_format = !options.format.empty() && options.format != "crate";
  if (is_asset_format || !names_a_run(options.what)) {
    try {
      return write_asset(options.what, options, workspace);
    } catch (const base::Error& error) {
      if (is_asset_format || error.kind() != base::ErrorKind::not_found) throw;
    }
  }
  return write_crate(options, workspace);
}

}  // namespace

void setup_export(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "export", "write runs as one file, or an asset for other tools", run_export);
  command.add_option("what", options.what, "a run, a study, a selection, or an asset")->required();
  std::vector<std::string> formats{"crate"};
  for (const sharing::AssetFormat& format : sharing::asset_formats())
    formats.push_back(format.name);
  command.add_option("--as", options.format, "the format: " + base::joined(formats, ", "))
      ->one_of(formats);
  command.add_option(
      "-o,--output", options.output, "the file; a document of an asset is printed without it");
  command.add_flag("--force", options.forces, "replace the file");
  command.add_flag(
      "--strict", options.is_strict, "of an asset: what is missing is an error, not a draft");
  command.add_option("--license",
                     options.crate.license,
                     "of a run: what the recipe does not state, such as CC-BY-4.0");
  command.add_option(
      "--outputs", options.outputs, "of a run: all, none, or the size of the largest (256MiB)");
  command.add_option("--profile", options.profile, "of a run: process, provenance")
      ->one_of({"process", "provenance"});
  command.add_flag("--inputs", options.crate.has_inputs, "of a run: with the files of its inputs");
  command.add_flag("--anonymous",
                   options.crate.is_anonymous,
                   "of a run: with an id of its own, without users, hosts and paths");
  command.add_flag("--logs", options.crate.has_logs, "of a run: with logs and samples");
  command.add_flag("--with-code", options.with_code, "with files that no repository knows");
  command.add_flag(
      "--without-code", options.without_code, "without the code: a repetition needs its commit");
}

}  // namespace sabath::cli
