#include "cache.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/text_table.hpp>

namespace sabath::cli {
namespace {

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
  if (workspace.json()) {
    workspace.answer(json_answer(pins));
    return exit_done;
  }
  base::TextTable table({"name", ">digests", "user", "made", "reason"});
  for (const cache::Pin& pin : pins) {
    table.add({pin.name,
               std::to_string(pin.digests.size()),
               pin.user,
               pin.made.substr(0, 10),
               pin.reason});
  }
  workspace.answer(pins.empty() ? "nothing is pinned; 'sabath cache pin NAME' pins\n"
                                : table.text());
  return exit_done;
}

int cache_pin(const PinOptions& options, Workspace& workspace) {
  if (options.name.empty()) return list_pins(workspace);
  cache::CacheMaintenance& maintenance = workspace.maintenance();
  const auto inventory = maintenance.inventory(workspace.observer(), workspace.stop());
  const cache::Pin pin{
      pin_name(options.name),
      options.reason,
      base::user_name(),
      base::format_rfc3339(workspace.clock().now()),
      assets::digests_called(options.name, workspace.documents(), workspace.cache(), inventory)};
  maintenance.pin(pin);
  workspace.answer(workspace.json()
                       ? json_answer(std::vector{pin})
                       : "pinned " + base::printable(pin.name) + ": " +
                             std::to_string(pin.digests.size()) + " objects and trees\n");
  return exit_done;
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
  workspace.answer(workspace.json() ? json_answer(std::vector{removed})
                                    : "no longer pinned: " + base::printable(removed.name) + "\n");
  return exit_done;
}

}  // namespace

void setup_cache_pins(OptionParser& group, Action& action) {
  auto [pin, options] = add_command(
      group, action, "pin", "keep something from the collector, or list the pins", cache_pin);
  pin.add_option("name", options.name, "an asset, a URL or a digest; none: list");
  pin.add_option("--reason", options.reason, "why, for people who look later");
  auto [unpin, pinned] = add_command(group, action, "unpin", "remove a pin", cache_unpin);
  unpin.add_option("name", pinned, "as it was pinned")->required();
}

}  // namespace sabath::cli
