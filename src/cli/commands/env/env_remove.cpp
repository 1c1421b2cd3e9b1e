#include "env.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/run_files.hpp>

namespace sabath::cli {
namespace {

/// A run that was planned and is not over yet needs its environment, wherever it waits.
void refuse_needed(const env::EnvironmentEntry& entry, Workspace& workspace) {
  const auto named = assets::digests_of_runs(workspace.folders().runs());
  const auto runs = named.find(entry.lock.key);
  if (runs == named.end()) return;
  workspace.catalog();  // closes runs that are gone
  for (const std::string& run : runs->second) {
    if (spec::is_final(home::RunFiles(workspace.folders().runs() / run).read_status().state))
      continue;
    throw base::Error(base::ErrorKind::environment,
                      "environment '" + entry.lock.key.hex.substr(0, 16) + "': run " + run +
                          " has not ended and needs it",
                      "wait for its end, or end it");
  }
}

int env_remove(const std::string& key, Workspace& workspace) {
  const env::EnvironmentEntry entry = workspace.environments().show(key);
  refuse_needed(entry, workspace);
  workspace.environments().remove(key);
  return answer_with(std::vector{entry}, "removed " + entry.lock.key.hex + "\n", workspace);
}

int env_gc(const EnvOptions& options, Workspace& workspace) {
  const std::chrono::seconds age =
      duration_of("--older-than", options.older_than, "30d, 12h or 0s");
  std::set<std::string> used;
  for (const auto& [digest, runs] : assets::digests_of_runs(workspace.folders().runs()))
    used.insert(digest.hex);
  const auto garbage = workspace.environments().garbage(used, workspace.clock().now() - age);
  base::TextTable table({"key", "kind", "name", "state", ">on disk"});
  std::uint64_t freed_bytes = 0;
  for (const env::EnvironmentEntry& entry : garbage) {
    const env::PrefixSize size = env::measure_prefix(entry.prefix.parent_path());
    freed_bytes += size.disk_bytes;
    if (!options.dry_run) workspace.environments().remove(entry.lock.key.hex);
    table.add({entry.lock.key.hex.substr(0, 16),
               std::string(spec::to_string(entry.lock.kind)),
               entry.lock.name,
               entry.state,
               base::format_bytes(size.disk_bytes)});
  }
  for (const std::filesystem::path& left : workspace.environments().leftovers()) {
    const env::PrefixSize size = env::measure_prefix(left);
    if (const auto why = base::why_kept(base::Beneath::anywhere(), left)) {
      workspace.observer().warn(left.string() + ": is left alone: " + *why,
                                "where it is yours and not needed, remove it");
      continue;
    }
    if (!options.dry_run && !base::remove_own_tree(left)) {
      workspace.observer().warn(left.string() + ": cannot be removed");
      continue;
    }
    freed_bytes += size.disk_bytes;
    workspace.observer().note(left.string() + ": " + base::format_bytes(size.disk_bytes) +
                              " that a killed command left");
  }
  const std::string sum = std::string(options.dry_run ? "would remove " : "removed ") +
                          std::to_string(garbage.size()) + ", " + base::format_bytes(freed_bytes) +
                          "\n";
  return answer_with(garbage, (table.empty() ? "" : table.text()) + sum, workspace);
}

}  // namespace

void setup_env_remove(OptionParser& group, Action& action) {
  auto [remove, key] = add_command(group, action, "rm", "remove a layer", env_remove);
  remove.add_option("name", key, "the beginning of its key")->required();
  auto [gc, options] =
      add_command(group, action, "gc", "remove layers that no run refers to", env_gc);
  gc.add_option(
      "--older-than", options.older_than, "only what was built longer ago than this (1d)");
  gc.add_flag("--dry-run", options.dry_run, "show what would be removed, and remove nothing");
}

}  // namespace sabath::cli
