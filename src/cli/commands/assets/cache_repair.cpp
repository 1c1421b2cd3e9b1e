#include "cache.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/assets/keep_cache.hpp>
#include <sabath/assets/repair_cache.hpp>
#include <sabath/base/text/text_table.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

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
  const assets::CacheRepairer repairer({workspace.cache(),
                                        workspace.keeping(),
                                        workspace.fetchers(),
                                        workspace.documents(),
                                        workspace.clock(),
                                        workspace.observer(),
                                        workspace.login_lookup()});
  const auto repaired = repairer.repair(name, workspace.stop());
  workspace.answer(workspace.options().json ? json_answer(repaired) : text_answer(repaired));
  const bool good = std::all_of(
      repaired.begin(), repaired.end(), [](const assets::Repaired& one) { return one.ok; });
  return good ? exit_done : exit_no;
}

}  // namespace

void setup_cache_repair(CLI::App& group, Action& action) {
  auto name = std::make_shared<std::string>();
  CLI::App* repair = group.add_subcommand("repair", "bring back what is damaged");
  repair->add_option("name", *name, "an asset, a URL or a digest; none: all that is damaged");
  repair->callback([&action, name] {
    action = [name](Workspace& workspace) { return cache_repair(*name, workspace); };
  });
}

}  // namespace sabath::cli
