#include "cache.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/assets/keep_cache.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

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
    throw base::Error(base::ErrorKind::usage,
                      "--max-size: '" + base::printable(text) + "' is not a size",
                      "such as 50G, 1.5T or 800M");
  }
  return static_cast<std::uint64_t>(
      std::ldexp(number, unit.empty() ? 0 : 10 * (static_cast<int>(power) + 1)));
}

std::string text_answer(const cache::GarbageReport& report, const GcOptions& options) {
  std::string text;
  base::TextTable table({{"on disk", base::Align::right}, {"kind"}, {"used"}, {"name"}, {"from"}});
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

/// An asset of which something is kept is kept whole: its list too, and where its files came from.
void keep_whole_assets(std::set<base::Digest>& keep, Workspace& workspace) {
  const auto inventory = workspace.keeping().inventory(workspace.observer(), workspace.stop());
  const auto assets =
      assets::digests_of_assets(workspace.documents(), workspace.cache(), inventory);
  for (const auto& [name, digests] : assets) {
    const bool is_kept = std::any_of(
        digests.begin(), digests.end(), [&](const auto& digest) { return keep.contains(digest); });
    if (is_kept) keep.insert(digests.begin(), digests.end());
  }
}

int cache_gc(const GcOptions& options, Workspace& workspace) {
  cache::GarbageOptions garbage;
  garbage.dry_run = options.dry_run;
  if (!options.max_size.empty()) garbage.max_bytes = parse_size(options.max_size);
  if (!options.older_than.empty()) {
    const auto time = base::parse_duration(options.older_than);
    if (!time) {
      throw base::Error(
          base::ErrorKind::usage,
          "--older-than: '" + base::printable(options.older_than) + "' is no duration",
          "such as 30d, 12h or 0s; at most 100 years");
    }
    garbage.unused_for = *time;
  }
  for (const auto& [digest, runs] : assets::digests_of_runs(workspace.folders().runs()))
    garbage.keep.insert(digest);
  garbage.keep.merge(assets::digests_of_environments(workspace.folders().environments()));
  keep_whole_assets(garbage.keep, workspace);
  const cache::GarbageReport report =
      workspace.keeping().collect(garbage, workspace.observer(), workspace.stop());
  workspace.answer(workspace.options().json ? json_answer(report, options.dry_run)
                                            : text_answer(report, options));
  return exit_done;
}

}  // namespace

void setup_cache_gc(CLI::App& group, Action& action) {
  auto options = std::make_shared<GcOptions>();
  CLI::App* gc = group.add_subcommand("gc", "remove what nothing refers to");
  gc->add_option("--max-size", options->max_size, "only until the cache is no larger, such as 50G");
  gc->add_option("--older-than", options->older_than, "only what was not used so long (1d)");
  gc->add_flag("--dry-run", options->dry_run, "say what would go, and remove nothing");
  gc->callback([&action, options] {
    action = [options](Workspace& workspace) { return cache_gc(*options, workspace); };
  });
}

}  // namespace sabath::cli
