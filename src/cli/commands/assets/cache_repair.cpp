#include "cache.hpp"

#include <sabath/assets/repair_cache.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>

namespace sabath::cli {
namespace {

std::string text_answer(const std::vector<assets::Repaired>& repaired) {
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
  workspace.answer(workspace.json() ? json_answer(repaired) : text_answer(repaired));
  const bool good =
      std::ranges::all_of(repaired, [](const assets::Repaired& one) { return one.ok; });
  return good ? exit_done : exit_no;
}

}  // namespace

void setup_cache_repair(OptionParser& group, Action& action) {
  auto [repair, name] =
      add_command(group, action, "repair", "bring back what is damaged", cache_repair);
  repair.add_option("name", name, "an asset, a URL or a digest; none: all that is damaged");
}

}  // namespace sabath::cli
