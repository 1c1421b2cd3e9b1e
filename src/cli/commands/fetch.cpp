#include "answers.hpp"
#include "commands.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text_table.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

namespace sabath::cli {
namespace {

struct FetchCommandOptions {
  std::vector<std::string> names{};
  std::string sha256{};
  std::string output{};
  int retries = 4;
  bool refresh = false;
};

bool is_url(const std::string& name) {
  return name.find("://") != std::string::npos || name.starts_with("file:");
}

std::vector<base::Digest> wanted_digests(const FetchCommandOptions& options) {
  if (options.sha256.empty()) return {};
  if (options.names.size() != 1 || !is_url(options.names.front())) {
    throw base::Error(base::ErrorKind::usage, "--sha256: goes with exactly one URL");
  }
  const auto digest = base::parse_digest(options.sha256);
  if (!digest || digest->algorithm != base::DigestAlgorithm::sha256) {
    throw base::Error(
        base::ErrorKind::usage,
        "--sha256: '" + base::printable(options.sha256) + "' is not 64 hexadecimal digits");
  }
  return {*digest};
}

app::FetchedAsset fetch_one(const std::string& name,
                            const FetchCommandOptions& options,
                            Workspace& workspace) {
  app::FetchOptions how;
  how.refresh = options.refresh;
  how.retries.attempts = options.retries + 1;
  // Documents are read before anything is made.
  std::optional<spec::Asset> asset_of_name;
  if (!is_url(name)) asset_of_name = workspace.documents().asset(name);
  app::AssetFetcher fetcher = workspace.runner().fetcher(workspace.observer(), workspace.stop());
  if (asset_of_name) {
    return fetcher.fetch(*asset_of_name, how, workspace.observer(), workspace.stop());
  }
  const app::FetchedFile file =
      fetcher.fetch_url(name, wanted_digests(options), how, workspace.observer(), workspace.stop());
  app::FetchedAsset asset;
  asset.name = file.path;
  asset.digest = file.object.digest;
  asset.path = file.object.path;
  asset.files.push_back(file);
  return asset;
}

/// Puts the files where the user wants them and says how they came there.
void place(const app::FetchedAsset& asset, const std::string& folder, Workspace& workspace) {
  for (const app::FetchedFile& file : asset.files) {
    const std::filesystem::path destination = std::filesystem::path(folder) / file.path;
    base::make_directories(destination.parent_path());
    const cache::Placement how = workspace.cache().materialise(file.object, destination);
    workspace.observer().note(destination.string() + ": " + std::string(cache::to_string(how)));
  }
}

std::string file_line(const app::FetchedFile& file) {
  std::string line = "  " + base::printable(file.path) + "  " +
                     base::format_bytes(file.object.size_bytes) + "  " + file.object.digest.text();
  if (file.was_there) line += "  already there";
  if (!file.source.empty()) line += "  from " + base::printable(file.source);
  return line + "\n";
}

std::string text_answer(const app::FetchedAsset& asset) {
  std::string text;
  std::uint64_t there = 0;
  std::uint64_t transferred = 0;
  for (const app::FetchedFile& file : asset.files) {
    there += file.was_there ? 1 : 0;
    transferred += file.transferred;
    text += file_line(file);
  }
  std::string head =
      base::printable(asset.name) + ": " + std::to_string(asset.files.size()) + " file(s)";
  if (asset.made_by_run.empty()) {
    head += ", " + std::to_string(there) + " already there, " + base::format_bytes(transferred) +
            " downloaded";
  } else {
    head += ", made by " + asset.made_by_run + " on " + asset.made_on_host;
  }
  return head + "\n" + text + "  at " + asset.path.string() + "\n";
}

int run_fetch(const FetchCommandOptions& options, Workspace& workspace) {
  wanted_digests(options);
  std::vector<app::FetchedAsset> fetched;
  for (const std::string& name : options.names) {
    fetched.push_back(fetch_one(name, options, workspace));
    if (!options.output.empty()) place(fetched.back(), options.output, workspace);
    if (!workspace.options().json) workspace.answer(text_answer(fetched.back()));
  }
  if (workspace.options().json) workspace.answer(json_answer(fetched));
  return exit_done;
}

}  // namespace

void setup_fetch(CLI::App& app, Action& action) {
  auto options = std::make_shared<FetchCommandOptions>();
  CLI::App* command = app.add_subcommand("fetch", "bring assets or URLs into the cache, verified");
  command->add_option("names", options->names, "names of assets, or URLs (https, http, ftp, file)")
      ->required();
  command->add_option("--sha256", options->sha256, "digest that the one URL's bytes must have");
  command->add_option("-o,--output", options->output, "also put the files into this folder");
  command->add_option("--retries", options->retries, "further attempts for each source")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command->add_flag(
      "--refresh", options->refresh, "ask the source again although it was fetched before");
  command->callback([&action, options] {
    action = [options](Workspace& workspace) { return run_fetch(*options, workspace); };
  });
}

}  // namespace sabath::cli
