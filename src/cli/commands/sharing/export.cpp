#include "commands.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/sharing/export_asset.hpp>

#include <filesystem>

namespace sabath::cli {
namespace {

struct ExportOptions {
  std::string what{};
  std::string format{};
  std::string output{};
  bool is_strict = false;
  bool forces = false;
};

/// Writes a text to a file, or as the answer.
void put_out(const std::string& text, const ExportOptions& options, Workspace& workspace) {
  if (options.output.empty() || options.output == "-") {
    workspace.answer(text);
    return;
  }
  std::error_code code;
  if (std::filesystem::exists(options.output, code) && !options.forces)
    throw usage_error("-o: '" + base::printable(options.output) + "' is there",
                      "--force replaces it");
  base::write_file_atomically(options.output, text);
}

int run_export(const ExportOptions& options, Workspace& workspace) {
  workspace.refuse_json("--as croissant and --as jsonld are JSON");
  constexpr std::string_view prefix = "asset:";
  const std::string name =
      options.what.starts_with(prefix) ? options.what.substr(prefix.size()) : options.what;
  const spec::Asset asset = workspace.documents().asset(name);
  const std::string format = options.format.empty() ? "croissant" : options.format;
  put_out(sharing::export_asset(asset, format, options.is_strict), options, workspace);
  return exit_done;
}

}  // namespace

void setup_export(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "export", "write an asset in a format of other tools", run_export);
  command.add_option("what", options.what, "an asset")->required();
  std::vector<std::string> formats;
  for (const sharing::AssetFormat& format : sharing::asset_formats())
    formats.push_back(format.name);
  command.add_option("--as", options.format, "the format: " + base::joined(formats, ", "))
      ->one_of(formats);
  command.add_option("-o,--output", options.output, "the file; else it is printed");
  command.add_flag("--strict", options.is_strict, "what is missing is an error, not a draft");
  command.add_flag("--force", options.forces, "replace the file");
}

}  // namespace sabath::cli
