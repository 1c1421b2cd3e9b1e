#include "commands.hpp"
#include "commands/run/run.hpp"

#include <sabath/app/apply_script.hpp>
#include <sabath/assets/cache_references.hpp>
#include <sabath/assets/fetch_results.hpp>
#include <sabath/base/directory.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

namespace sabath::cli {
namespace {

struct FetchCommandOptions {
  std::vector<std::string> names{};
  std::string sha256{};
  std::string output{};
  std::string path{};
  std::string fetcher{};
  std::uint64_t limit = 0;
  unsigned connections = 0;
  int retries = 4;
  assets::FetchOptions how{};  ///< without what the options above say
  app::ScriptCall call{};      ///< without its arguments; without a script none is applied
  std::vector<std::string> arguments{};
};

std::vector<base::Digest> wanted_digests(const FetchCommandOptions& options) {
  if (options.sha256.empty()) return {};
  if (options.names.size() != 1 || !assets::is_url(options.names.front())) {
    throw usage_error("--sha256: needs exactly one URL");
  }
  const auto digest = base::parse_digest(options.sha256);
  if (!digest || digest->algorithm != base::DigestAlgorithm::sha256) {
    throw usage_error("--sha256: '" + base::printable(options.sha256) +
                      "' is not 64 hexadecimal digits");
  }
  return {*digest};
}

void check_options(const FetchCommandOptions& options) {
  wanted_digests(options);
  const auto complain = [](const std::string& problem) { throw usage_error(problem); };
  for (const std::string& name : options.names) {
    if (name.starts_with("sha256:"))
      complain(name + ": a digest does not say where the bytes are; name an asset or a URL");
  }
  if (!options.path.empty() && options.names.size() != 1)
    complain("--path: needs exactly one name");
  if (options.how.link && options.path.empty()) {
    complain("--link: needs --path, which says where the data are");
  }
  if (options.call.script.empty()) {
    if (!options.arguments.empty()) complain("--arg: needs --apply, whose script takes it");
    if (options.call.fresh) complain("--fresh: needs --apply; --refresh asks the source again");
    if (!options.call.variant.empty()) complain("--variant: needs --apply, whose script uses it");
  } else if (options.names.size() != 1 || assets::is_url(options.names.front())) {
    complain("--apply: needs the name of exactly one asset, which has the script");
  }
  if (options.how.offline && options.how.refresh)
    complain("--refresh: needs the network, which --offline forbids");
}

app::ScriptCall call_of(const FetchCommandOptions& options) {
  app::ScriptCall call = options.call;
  call.arguments = assignments("--arg", options.arguments);
  call.offline = options.how.offline;
  return call;
}

assets::FetchedAsset fetch_one(const std::string& name,
                               const FetchCommandOptions& options,
                               Workspace& workspace,
                               base::Observer& observer) {
  assets::FetchOptions how = options.how;
  how.retries.attempts = options.retries + 1;
  how.local = options.path;
  if (options.limit > 0) how.limit = options.limit;
  how.has_login = workspace.fetching().login_lookup();
  // Documents are read before anything is made.
  std::optional<spec::Asset> asset;
  if (!assets::is_url(name)) asset = workspace.documents().asset(name);
  if (asset && !options.call.script.empty()) app::check_call(*asset, call_of(options));
  assets::AssetFetcher fetcher = workspace.runner().preparer().fetcher(observer, workspace.stop());
  if (asset) return fetcher.fetch(*asset, how, observer, workspace.stop());
  return fetcher.fetch_url(name, wanted_digests(options), how, observer, workspace.stop());
}

/// What the asset is made of, for people: the one file that a URL names, or all that its tree has.
std::vector<base::ArchiveEntry> parts_of(const assets::FetchedAsset& asset,
                                         const cache::Cache& cache) {
  if (std::filesystem::is_directory(asset.path)) {
    return cache.entries({asset.digest, 0, 0, asset.path});
  }
  const assets::FetchedFile& only = asset.files.front();
  return {{only.path, only.object.size_bytes, only.object.digest}};
}

std::string put(const base::ArchiveEntry& part,
                const std::filesystem::path& from,
                const std::filesystem::path& to,
                cache::Cache& cache) {
  const auto folder = base::Directory::open_or_make(to.parent_path(), base::Links::own);
  if (!part.link_target.empty()) {
    const int code = folder.make_link(part.link_target, to.filename());
    std::error_code none;
    const bool is_there =
        code == EEXIST && std::filesystem::read_symlink(to, none) == part.link_target;
    if (code != 0 && !is_there) base::throw_errno(to.string(), "cannot make the link", code);
    return is_there ? std::string(cache::to_string(cache::Placement::there)) : "link";
  }
  // A file of a tree may be a link to its object.
  const cache::Object object{part.digest, part.size_bytes, std::filesystem::canonical(from)};
  const cache::Placement how = cache.place(object, to);
  if (part.executable && !std::filesystem::is_symlink(to)) {
    if (const int code = folder.set_mode(to.filename(), 0555); code != 0)
      base::throw_errno(to.string(), "cannot be made executable", code);
  }
  return std::string(cache::to_string(how));
}

/// Puts the files where the user wants them and says how they came there.
void place(const assets::FetchedAsset& asset,
           const std::string& folder,
           Workspace& workspace,
           base::Observer& observer) {
  std::set<std::string> ways;
  const bool is_tree = std::filesystem::is_directory(asset.path);
  const std::vector<base::ArchiveEntry> parts = parts_of(asset, workspace.cache());
  for (const base::ArchiveEntry& part : parts) {
    const std::filesystem::path to = std::filesystem::path(folder) / part.path;
    const std::string how =
        put(part, is_tree ? asset.path / part.path : asset.path, to, workspace.cache());
    ways.insert(how);
    if (parts.size() == 1) observer.note(to.string() + ": " + how);
  }
  if (parts.size() < 2) return;
  observer.note(fmt::format("{}: {} files: {}", folder, parts.size(), fmt::join(ways, ", ")));
}

std::string file_line(const assets::FetchedFile& file) {
  std::string line = "  " + base::printable(file.path) + "  " +
                     base::format_bytes(file.object.size_bytes) + "  " + file.object.digest.text();
  if (file.was_there) line += file.linked ? "  linked" : "  already there";
  if (!file.source.empty()) {
    line += (file.linked ? "  linked to " : "  from ") + base::printable(file.source);
  }
  return line + "\n";
}

/// "portal.nersc.gov" of a URL, this machine's path unchanged.
std::string place_of(const std::string& source) {
  const auto begin = source.find("://");
  if (begin == std::string::npos || source.starts_with("file:")) return source;
  return source.substr(begin + 3, source.find_first_of("/?#", begin + 3) - begin - 3);
}

std::string how_it_came(const assets::FetchedAsset& asset, std::chrono::nanoseconds took) {
  if (!asset.made_by_run.empty()) {
    return "made by " + asset.made_by_run + " on " + asset.made_on_host;
  }
  std::uint64_t there = 0;
  std::uint64_t transferred = 0;
  std::set<std::string> places;
  for (const assets::FetchedFile& file : asset.files) {
    there += file.was_there ? 1 : 0;
    transferred += file.transferred;
    if (!file.source.empty()) places.insert(place_of(file.source));
  }
  std::string text =
      std::to_string(there) + " already there, " + base::format_bytes(transferred) + " downloaded";
  const double seconds = std::chrono::duration<double>(took).count();
  if (transferred > 0 && seconds > 0) {
    const double rate = static_cast<double>(transferred) / seconds;
    text += " in " + base::format_duration(took) + " (" +
            base::format_bytes(static_cast<std::uint64_t>(rate)) + "/s)";
  }
  constexpr std::size_t told_places = 3;
  std::size_t count = 0;
  for (const std::string& place : places) {
    if (++count > told_places) break;
    text += (count == 1 ? " from " : ", ") + base::printable(place);
  }
  if (count > told_places) text += " and others";
  return text;
}

std::string text_answer(const assets::FetchedAsset& asset, std::chrono::nanoseconds took) {
  constexpr std::size_t told_files = 20;
  const std::size_t count = asset.files.size();
  std::string text = base::printable(asset.name) + ": " + std::to_string(count) +
                     (count == 1 ? " file, " : " files, ") + how_it_came(asset, took) + "\n";
  for (std::size_t i = 0; i < std::min(count, told_files); ++i)
    text += file_line(asset.files[i]);
  if (count > told_files) text += "  and " + std::to_string(count - told_files) + " more\n";
  return text + "  at " + base::printable(asset.path.native()) + "\n";
}

struct FetchedNames {
  std::vector<assets::FetchedAsset> fetched{};
  std::vector<FailedFetch> failed{};
};

/// One that cannot be had does not stop the others, unless they would meet the same.
FetchedNames fetch_all(const FetchCommandOptions& options,
                       Workspace& workspace,
                       base::Observer& observer) {
  FetchedNames all;
  for (const std::string& name : options.names) {
    try {
      const base::SteadyTime began = workspace.clock().steady();
      assets::FetchedAsset asset = fetch_one(name, options, workspace, observer);
      const auto took = workspace.clock().steady() - began;
      if (!options.output.empty()) place(asset, options.output, workspace, observer);
      if (!workspace.json()) workspace.answer(text_answer(asset, took));
      all.fetched.push_back(std::move(asset));
    } catch (const base::Error& error) {
      all.failed.push_back({assets::displayed_name(name), error});
      if (assets::ends_everything(error.kind())) break;
    }
  }
  return all;
}

/// One error for all that failed, if any did.
void check(const std::vector<FailedFetch>& failed, std::size_t names) {
  if (failed.empty()) return;
  const base::Error& last = failed.back().error;
  if (names == 1) throw base::Error(last);
  std::vector<base::Error> errors;
  std::string text =
      std::to_string(failed.size()) + " of " + std::to_string(names) + " could not be fetched";
  std::string hints;
  for (const auto& [name, error] : failed) {
    errors.push_back(error);
    text += std::string("\n") + error.what();
    if (hints.find(error.hint()) == std::string::npos)
      hints += (hints.empty() ? "" : "\n") + error.hint();
  }
  const bool is_end = assets::ends_everything(last.kind());
  throw base::Error(is_end ? last.kind() : assets::kind_of_all(errors), text, hints);
}

/// Runs the script on what was fetched, as a run like others.
execution::RunOutcome apply_script(const assets::FetchedAsset& fetched,
                                   const FetchCommandOptions& options,
                                   Workspace& workspace,
                                   base::Observer& observer) {
  const spec::Asset asset = workspace.documents().asset(options.names.front());
  planning::RunRequest request =
      app::script_request(asset, fetched, call_of(options), workspace.folders());
  if (options.limit > 0)
    request.again.insert(request.again.end(), {"--limit", std::to_string(options.limit)});
  if (options.how.offline) workspace.stay_offline();
  execution::RunOutcome outcome = workspace.runner().run(request, observer, workspace.stop());
  workspace.index_runs();
  return outcome;
}

/// Where the outputs of the script itself lie, and what they are.
std::string outputs_answer(const execution::RunOutcome& outcome, const std::string& script) {
  if (outcome.state != spec::RunState::ok) return {};
  const home::RunFiles files(outcome.directory);
  std::string text = "outputs in " + base::printable(files.outputs(script).native()) + "\n";
  const auto record = files.read_record();
  for (const spec::OutputRecord& output : record->outputs) {
    if (output.stage != script) continue;
    text += "  " + base::printable(output.path) + "  " + base::format_bytes(output.size_bytes) +
            "  " + output.digest.text() + "\n";
  }
  return text;
}

int run_fetch(const FetchCommandOptions& options, Workspace& workspace) {
  check_options(options);
  workspace.fetching().choose(options.fetcher, options.connections);
  const bool json = workspace.json();
  const auto events =
      event_lines([&](std::string_view line) { workspace.answer(line); }, workspace.clock());
  base::Observer& observer = json ? *events : workspace.observer();
  const auto [fetched, failed] = fetch_all(options, workspace, observer);
  const bool applies = !options.call.script.empty();
  if (json && !applies && !fetched.empty()) workspace.answer(json_result_line(fetched, failed));
  check(failed, options.names.size());
  if (!applies) return exit_done;
  const execution::RunOutcome outcome = apply_script(fetched.front(), options, workspace, observer);
  workspace.answer(json ? json_result_line(fetched, failed, outcome)
                        : outcome_answer(outcome) + outputs_answer(outcome, options.call.script));
  return exit_status(outcome.state);
}

}  // namespace

void setup_fetch(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "fetch", "bring assets or URLs into the cache, verified", run_fetch);
  command.add_option("names", options.names, "names of assets, or URLs")->required();
  command.add_option("--sha256", options.sha256, "digest that the one URL's bytes must have");
  command.add_option("--apply", options.call.script, "then run this script of the asset, recorded")
      ->type_name("SCRIPT");
  command.add_option("--arg", options.arguments, "NAME=VALUE: an argument of the script")
      ->one_each()
      ->type_name("NAME=VALUE");
  command.add_flag(
      "--fresh", options.call.fresh, "with --apply: run it again, even if it was run before");
  command
      .add_option("--variant",
                  options.call.variant,
                  "with --apply: the environment's variant; else the site's, else the first")
      ->type_name("NAME");
  command.add_option("-o,--output", options.output, "also put the files into this folder");
  command.add_option("--path", options.path, "take them from this file or folder instead")
      ->type_name("FILE|FOLDER");
  command.add_flag("--link", options.how.link, "with --path: refer to them there, copy nothing");
  command.add_flag(
      "--refresh", options.how.refresh, "ask the source whether it still has what it gave before");
  command.add_flag("--offline", options.how.offline, "never touch the network");
  command.add_option("--limit", options.limit, "only the first N files of a list")
      ->check(why_no_count)
      ->type_name("N");
  command.add_option("-j,--connections", options.connections, "connections to a host, at most")
      ->range(1, 256)
      ->type_name("N");
  command.add_option("--fetcher", options.fetcher, "only the fetcher of this name")
      ->type_name("NAME");
  command.add_option("--retries", options.retries, "further attempts for each source")
      ->range(0, 100)
      ->capture_default_str();
}

}  // namespace sabath::cli
