#include "cache.hpp"

#include "commands.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>

namespace sabath::cli {
namespace {

using cache::Stored;

struct LsOptions {
  std::string name{};
  std::string sort = "used";
  int limit = 0;
};

std::string day_of(base::WallTime time) {
  return base::format_rfc3339(time).substr(0, 10);
}

/// What keeps it from the collector, in one word or two.
std::string holders_of(const Stored& stored, const CacheNames& names) {
  std::string text;
  const auto add = [&](std::size_t count, const std::string& one, const std::string& many) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + (count == 1 ? one : std::to_string(count) + " " + many);
  };
  const auto runs = names.runs.find(stored.digest);
  add(stored.pins.size(), "pin", "pins");
  add(runs == names.runs.end() ? 0 : runs->second.size(), "1 run", "runs");
  add(stored.stages.size(), "cached stage", "cached stages");
  add(stored.trees, "1 tree", "trees");
  return text;
}

void sort_stored(std::vector<const Stored*>& stored, const std::string& key) {
  std::ranges::stable_sort(stored, [&](const Stored* a, const Stored* b) {
    if (key == "size") return a->size_bytes > b->size_bytes;
    if (key == "digest") return a->digest.hex < b->digest.hex;
    return a->last_used > b->last_used;
  });
}

int cache_ls(const LsOptions& options, Workspace& workspace) {
  const cache::Inventory inventory =
      workspace.maintenance().inventory(workspace.observer(), workspace.stop());
  const CacheNames names = names_in(inventory, workspace);
  std::vector<const Stored*> stored;
  std::vector<base::Digest> wanted;
  if (!options.name.empty()) {
    wanted =
        assets::digests_called(options.name, workspace.documents(), workspace.cache(), inventory);
  }
  for (const Stored& one : inventory.stored) {
    const bool is_wanted = wanted.empty() || std::ranges::find(wanted, one.digest) != wanted.end();
    if (is_wanted) stored.push_back(&one);
  }
  sort_stored(stored, options.sort);
  const std::size_t count = stored.size();
  if (options.limit > 0) stored.resize(std::min(count, static_cast<std::size_t>(options.limit)));
  if (workspace.json()) {
    workspace.answer(json_answer(stored, names));
    return exit_done;
  }
  base::TextTable table({"digest", "kind", ">size", "used", "held by", "from"});
  for (const Stored* const one : stored) {
    std::string from = names.origin_of(*one);
    if (one->root != workspace.maintenance_root()) from += " (" + one->root.string() + ")";
    table.add({one->digest.hex.substr(0, 16),
               std::string(to_string(one->kind)),
               base::format_bytes(one->size_bytes),
               day_of(one->last_used),
               holders_of(*one, names),
               from});
  }
  workspace.answer(count == 0 ? "nothing is in the cache yet; 'sabath fetch NAME' brings it\n"
                              : table.text());
  if (stored.size() < count) {
    workspace.observer().note("... and " + std::to_string(count - stored.size()) + " more");
  }
  return exit_done;
}

/// By asset or source; what comes from neither under "tree" and "object".
std::vector<UsageRow> usage_of(const cache::Inventory& inventory, const CacheNames& names) {
  std::map<std::string, UsageRow> rows;
  const auto add = [&](const std::string& root,
                       const std::string& what,
                       const std::string& name,
                       std::uint64_t files,
                       std::uint64_t disk_bytes) {
    UsageRow& row = rows[root + "\n" + what + "\n" + name];
    row.cache = root;
    row.what = what;
    row.name = name;
    row.files += files;
    row.disk_bytes += disk_bytes;
  };
  for (const Stored& one : inventory.stored) {
    const std::string name = names.origin_of(one);
    const std::string what = names.assets.contains(one.digest) ? "asset"
                             : name.empty()                    ? std::string(to_string(one.kind))
                                                               : "source";
    add(one.root.string(), what, name, one.files, one.disk_bytes);
  }
  for (const cache::Place& place : inventory.places) {
    const bool is_named = place.kind == "environment";
    add(place.root.string(), place.kind, is_named ? place.name : "", place.files, place.disk_bytes);
  }
  std::vector<UsageRow> sorted;
  for (auto& [key, row] : rows)
    sorted.push_back(std::move(row));
  std::ranges::stable_sort(
      sorted, [](const UsageRow& a, const UsageRow& b) { return a.disk_bytes > b.disk_bytes; });
  return sorted;
}

int cache_du(Workspace& workspace) {
  const cache::Inventory inventory =
      workspace.maintenance().inventory(workspace.observer(), workspace.stop());
  const std::vector<UsageRow> rows = usage_of(inventory, names_in(inventory, workspace));
  std::map<std::string, std::uint64_t> totals{{workspace.maintenance_root().string(), 0}};
  for (const UsageRow& row : rows)
    totals[row.cache] += row.disk_bytes;
  if (workspace.json()) {
    workspace.answer(json_answer(rows, totals));
    return exit_done;
  }
  std::string text;
  for (const auto& [root, total] : totals) {
    base::TextTable table({">on disk", ">files", "what", "name"});
    for (const UsageRow& row : rows) {
      if (row.cache != root) continue;
      table.add(
          {base::format_bytes(row.disk_bytes), std::to_string(row.files), row.what, row.name});
    }
    text += (table.empty() ? "" : table.text()) + base::printable(root) + ": " +
            base::format_bytes(total) + " on disk, what is shared counted once\n";
  }
  workspace.answer(text);
  return exit_done;
}

}  // namespace

std::string CacheNames::origin_of(const Stored& stored) const {
  if (const auto found = assets.find(stored.digest); found != assets.end()) {
    return found->second.front();
  }
  return stored.sources.empty() ? std::string() : stored.sources.front();
}

CacheNames names_in(const cache::Inventory& inventory, Workspace& workspace) {
  CacheNames names;
  names.runs = assets::digests_of_runs(workspace.folders().runs());
  for (const auto& [name, digests] :
       assets::digests_of_assets(workspace.documents(), workspace.cache(), inventory)) {
    for (const base::Digest& digest : digests)
      names.assets[digest].push_back(name);
  }
  return names;
}

void setup_cache(OptionParser& app, Action& action) {
  OptionParser* group = app.add_subcommand("cache", "show and clean the cache");
  group->require_subcommand(1);
  auto [ls, options] = add_command(*group, action, "ls", "list objects and trees", cache_ls);
  ls.add_option("name", options.name, "only what this asset, URL or digest stands for");
  ls.add_option("--sort", options.sort, "used (newest first), size or digest")
      ->one_of({"used", "size", "digest"})
      ->capture_default_str();
  ls.add_option("--limit", options.limit, "at most so many")->check(why_no_count);
  group->add_subcommand("du", "what takes how much space on disk")->callback([&action] {
    action = cache_du;
  });
  setup_cache_pins(*group, action);
  setup_cache_gc(*group, action);
  setup_cache_repair(*group, action);
}

}  // namespace sabath::cli
