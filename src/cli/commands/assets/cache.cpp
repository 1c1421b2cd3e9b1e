#include "commands.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/assets/repair_cache.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

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

/// Which assets and runs know what is in the cache.
CacheNames names_in(const cache::Inventory& inventory, Workspace& workspace) {
  CacheNames names;
  names.runs = assets::digests_of_runs(workspace.folders());
  for (const auto& [name, digests] :
       assets::digests_of_assets(workspace.documents(), workspace.cache(), inventory)) {
    for (const base::Digest& digest : digests)
      names.assets[digest].push_back(name);
  }
  return names;
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
  const cache::Inventory inventory = workspace.inventory();
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
  base::TextTable table({"digest", "kind", ">size", "used", "held by", "from"});
  for (const Stored* const one : stored) {
    std::string from = names.origin_of(*one);
    if (one->root != workspace.cache().root()) from += " (" + one->root.string() + ")";
    table.add({one->digest.hex.substr(0, 16),
               std::string(to_string(one->kind)),
               base::format_bytes(one->size_bytes),
               day_of(one->last_used),
               holders_of(*one, names),
               from});
  }
  workspace.answer(workspace.json() ? json_answer(stored, names)
                   : count == 0     ? "nothing is in the cache yet; 'sabath fetch NAME' brings it\n"
                                    : table.text());
  if (stored.size() < count && !workspace.json()) {
    workspace.observer().note("... and " + std::to_string(count - stored.size()) + " more");
  }
  return exit_done;
}

/// By asset or source; what comes from neither under "tree" and "object".
std::vector<UsageRow> usage_of(const cache::Inventory& inventory, const CacheNames& names) {
  std::map<std::string, UsageRow> rows;
  const auto add = [&](UsageRow row) {
    UsageRow& known = rows[row.cache + "\n" + row.what + "\n" + row.name];
    row.files += known.files;
    row.disk_bytes += known.disk_bytes;
    known = std::move(row);
  };
  for (const Stored& one : inventory.stored) {
    const std::string name = names.origin_of(one);
    const std::string what = names.assets.contains(one.digest) ? "asset"
                             : name.empty()                    ? std::string(to_string(one.kind))
                                                               : "source";
    add({one.root.string(), what, name, one.files, one.disk_bytes});
  }
  for (const cache::Place& place : inventory.places) {
    const std::string name = place.kind == "environment" ? place.name : "";
    add({place.root.string(), place.kind, name, place.files, place.disk_bytes});
  }
  std::vector<UsageRow> sorted;
  for (auto& [key, row] : rows)
    sorted.push_back(std::move(row));
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &UsageRow::disk_bytes);
  return sorted;
}

int cache_du(Workspace& workspace) {
  const cache::Inventory inventory = workspace.inventory();
  const std::vector<UsageRow> rows = usage_of(inventory, names_in(inventory, workspace));
  std::map<std::string, std::uint64_t> totals{{workspace.cache().root().string(), 0}};
  for (const UsageRow& row : rows)
    totals[row.cache] += row.disk_bytes;
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
  workspace.answer(workspace.json() ? json_answer(rows, totals) : text);
  return exit_done;
}

struct PinOptions {
  std::string name{};
  std::string reason{};
};

/// Without the secrets that a URL may have, and yet another one for each URL.
std::string pin_name(const std::string& name) {
  const std::string displayed = assets::displayed_name(name);
  if (displayed == name) return name;
  return displayed + "#" + base::sha256_of(name).hex.substr(0, 8);
}

int list_pins(Workspace& workspace) {
  const auto pins = workspace.maintenance().pins();
  base::TextTable table({"name", ">digests", "user", "made", "reason"});
  for (const cache::Pin& pin : pins) {
    table.add({pin.name,
               std::to_string(pin.digests.size()),
               pin.user,
               pin.made.substr(0, 10),
               pin.reason});
  }
  return answer_with(
      pins,
      pins.empty() ? "nothing is pinned; 'sabath cache pin NAME' pins\n" : table.text(),
      workspace);
}

int cache_pin(const PinOptions& options, Workspace& workspace) {
  if (options.name.empty()) return list_pins(workspace);
  const cache::Inventory inventory = workspace.inventory();
  const cache::Pin pin{
      pin_name(options.name),
      options.reason,
      base::user_name(),
      base::format_rfc3339(workspace.clock().now()),
      assets::digests_called(options.name, workspace.documents(), workspace.cache(), inventory)};
  workspace.maintenance().pin(pin);
  return answer_with(std::vector{pin},
                     "pinned " + base::printable(pin.name) + ": " +
                         std::to_string(pin.digests.size()) + " objects and trees\n",
                     workspace);
}

int cache_unpin(const std::string& pinned, Workspace& workspace) {
  cache::CacheMaintenance& maintenance = workspace.maintenance();
  const std::string name = pin_name(pinned);
  cache::Pin removed;
  for (const cache::Pin& pin : maintenance.pins()) {
    if (pin.name == name || pin.name == pinned) removed = pin;
  }
  // By what was pinned, or by the name that the list of pins has.
  if (!maintenance.unpin(name) && !maintenance.unpin(pinned)) {
    throw base::Error(
        base::ErrorKind::not_found,
        base::printable(assets::displayed_name(pinned)) + ": you have no pin of that name",
        removed.name.empty() ? "'sabath cache pin' lists the pins"
                             : "this one is of " + base::printable(removed.user));
  }
  return answer_with(
      std::vector{removed}, "no longer pinned: " + base::printable(removed.name) + "\n", workspace);
}

struct GcOptions {
  std::string max_size{};
  std::string older_than{};
  bool dry_run = false;
};

/// "50G", "1.5 TiB", "4096": powers of 1024, as sizes are shown.
std::uint64_t parse_size(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  std::string unit(rest, end);
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  for (const char* const suffix : {"iB", "B"}) {
    if (unit.ends_with(suffix)) unit.resize(unit.size() - std::string_view(suffix).size());
  }
  constexpr std::string_view units = "KMGTP";
  const auto power = unit.size() == 1 ? units.find(static_cast<char>(unit[0] & ~0x20)) : 0;
  const bool is_good = code == std::errc{} && std::isfinite(number) && number >= 0 &&
                       number < 1e15 && unit.size() <= 1 && power != std::string_view::npos;
  if (!is_good) {
    throw usage_error("--max-size: '" + base::printable(text) + "' is not a size",
                      "such as 50G, 1.5T or 800M");
  }
  return static_cast<std::uint64_t>(
      std::ldexp(number, unit.empty() ? 0 : 10 * (static_cast<int>(power) + 1)));
}

std::string garbage_text(const cache::GarbageReport& report,
                         const std::vector<home::ClearedRemoval>& cleared,
                         const GcOptions& options) {
  std::string text;
  for (const home::ClearedRemoval& one : cleared) {
    text += std::string(options.dry_run ? "would clear" : "cleared") +
            " from the trash: " + base::counted(one.removal.runs.size(), "run") + ", removed " +
            base::printable(one.removal.at.substr(0, 10)) + ", " +
            base::format_bytes(one.use.freed_bytes) + " freed\n";
  }
  base::TextTable table({">on disk", "kind", "used", "name", "from"});
  for (const cache::RemovedItem& item : report.removed) {
    table.add({base::format_bytes(item.disk_bytes),
               item.kind,
               item.last_used == base::WallTime{} ? "" : day_of(item.last_used),
               item.name.substr(0, 23),
               item.sources.empty() ? "" : item.sources.front()});
  }
  if (!table.empty()) text += table.text();
  text += std::string(options.dry_run ? "would remove " : "removed ") +
          std::to_string(report.removed.size()) + ", " + base::format_bytes(report.freed_bytes) +
          " of " + base::format_bytes(report.before_bytes) + "\n";
  for (const auto& [reason, sum] : report.kept) {
    text += "kept " + std::to_string(sum.count) + ", " + base::format_bytes(sum.disk_bytes) + ": " +
            reason + "\n";
  }
  return text;
}

int cache_gc(const GcOptions& options, Workspace& workspace) {
  cache::GarbageOptions garbage;
  garbage.dry_run = options.dry_run;
  if (!options.max_size.empty()) garbage.max_bytes = parse_size(options.max_size);
  if (!options.older_than.empty())
    garbage.unused_for = duration_of("--older-than", options.older_than, "30d, 12h or 0s");
  // First: what these runs alone held is garbage then.
  const auto cleared = home::clear_trash(
      workspace.folders(), workspace.clock().now(), options.dry_run, workspace.observer());
  garbage.keep = assets::digests_in_use(
      workspace.folders(), workspace.documents(), workspace.cache(), workspace.inventory());
  const cache::GarbageReport report =
      workspace.maintenance().collect(garbage, workspace.observer(), workspace.stop());
  workspace.answer(workspace.json() ? json_answer(report, cleared, options.dry_run)
                                    : garbage_text(report, cleared, options));
  return exit_done;
}

std::string repaired_text(const std::vector<assets::Repaired>& repaired) {
  if (repaired.empty()) return "nothing is damaged\n";
  std::string text;
  for (const assets::Repaired& one : repaired) {
    text += std::string(one.ok ? "ok   " : "bad  ") + std::string(to_string(one.kind)) + " " +
            one.digest.text() + ": ";
    if (one.ok && !one.source.empty()) {
      text += base::format_bytes(one.transferred) + " of " + base::format_bytes(one.size_bytes) +
              " fetched from " + base::printable(one.source) + "\n";
    } else {
      text += one.ok ? "made again\n" : base::printable(one.problem) + "\n";
    }
  }
  return text;
}

int cache_repair(const std::string& name, Workspace& workspace) {
  const assets::RepairTools tools{workspace.cache(),
                                  workspace.maintenance(),
                                  workspace.fetching().fetchers(),
                                  workspace.documents(),
                                  workspace.clock(),
                                  workspace.observer(),
                                  workspace.fetching().login_lookup()};
  std::vector<assets::Repaired> repaired;
  try {
    repaired = assets::repair_cache(tools, name, workspace.stop());
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::interrupted) throw;
    // The part that met the signal would name another command, 'verify'.
    throw base::Error(error.kind(), "cache repair: interrupted", error.hint());
  }
  workspace.answer(workspace.json() ? json_answer(repaired) : repaired_text(repaired));
  const bool good = std::ranges::all_of(repaired, &assets::Repaired::ok);
  return good ? exit_done : exit_no;
}

}  // namespace

std::string CacheNames::origin_of(const Stored& stored) const {
  if (const auto found = assets.find(stored.digest); found != assets.end()) {
    return found->second.front();
  }
  return stored.sources.empty() ? std::string() : stored.sources.front();
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
  auto [pin, pinning] = add_command(
      *group, action, "pin", "keep something from the collector, or list the pins", cache_pin);
  pin.add_option("name", pinning.name, "an asset, a URL or a digest; none: list");
  pin.add_option("--reason", pinning.reason, "why, for people who look later");
  auto [unpin, pinned] = add_command(*group, action, "unpin", "remove a pin", cache_unpin);
  unpin.add_option("name", pinned, "as it was pinned")->required();
  auto [gc, garbage] = add_command(*group, action, "gc", "remove what nothing refers to", cache_gc);
  gc.add_option(
      "--max-size", garbage.max_size, "only until the cache has at most this size, such as 50G");
  gc.add_option("--older-than", garbage.older_than, "only what was not used for this time (1d)");
  gc.add_flag("--dry-run", garbage.dry_run, "show what would be removed, and remove nothing");
  auto [repair, damaged] =
      add_command(*group, action, "repair", "bring back what is damaged", cache_repair);
  repair.add_option("name", damaged, "an asset, a URL or a digest; none: all that is damaged");
}

}  // namespace sabath::cli
