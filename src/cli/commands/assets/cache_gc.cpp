#include "cache.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/base/text/text_table.hpp>

#include <charconv>
#include <cmath>

namespace sabath::cli {
namespace {

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
  unit.erase(
      0,
      unit.find_first_not_of(' ') == std::string::npos ? unit.size() : unit.find_first_not_of(' '));
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

std::string text_answer(const cache::GarbageReport& report, const GcOptions& options) {
  std::string text;
  base::TextTable table({">on disk", "kind", "used", "name", "from"});
  for (const cache::RemovedItem& item : report.removed) {
    table.add({base::format_bytes(item.disk_bytes),
               item.kind,
               item.last_used == base::WallTime{}
                   ? ""
                   : base::format_rfc3339(item.last_used).substr(0, 10),
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
  const auto inventory = workspace.maintenance().inventory(workspace.observer(), workspace.stop());
  garbage.keep = assets::digests_in_use(
      workspace.folders(), workspace.documents(), workspace.cache(), inventory);
  const cache::GarbageReport report =
      workspace.maintenance().collect(garbage, workspace.observer(), workspace.stop());
  workspace.answer(workspace.json() ? json_answer(report, options.dry_run)
                                    : text_answer(report, options));
  return exit_done;
}

}  // namespace

void setup_cache_gc(OptionParser& group, Action& action) {
  auto [gc, options] = add_command(group, action, "gc", "remove what nothing refers to", cache_gc);
  gc.add_option(
      "--max-size", options.max_size, "only until the cache has at most this size, such as 50G");
  gc.add_option("--older-than", options.older_than, "only what was not used for this time (1d)");
  gc.add_flag("--dry-run", options.dry_run, "show what would be removed, and remove nothing");
}

}  // namespace sabath::cli
