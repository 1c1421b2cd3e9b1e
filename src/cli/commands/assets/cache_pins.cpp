#include "cache.hpp"
#include "exit_status.hpp"
#include "workspace.hpp"

#include <sabath/assets/keep_cache.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/text_table.hpp>

#include <CLI/CLI.hpp>

#include <memory>

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
  const auto pins = workspace.keeping().pins();
  if (workspace.options().json) {
    workspace.answer(json_answer(pins));
    return exit_done;
  }
  base::TextTable table(
      {{"name"}, {"digests", base::Align::right}, {"user"}, {"made"}, {"reason"}});
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
  cache::Keeping& keeping = workspace.keeping();
  const auto inventory = keeping.inventory(workspace.observer(), workspace.stop());
  const cache::Pin pin{
      pin_name(options.name),
      options.reason,
      base::user_name(),
      base::format_rfc3339(workspace.clock().now()),
      assets::digests_called(options.name, workspace.documents(), workspace.cache(), inventory)};
  keeping.pin(pin);
  workspace.answer(workspace.options().json
                       ? json_answer(std::vector{pin})
                       : "pinned " + base::printable(pin.name) + ": " +
                             std::to_string(pin.digests.size()) + " objects and trees\n");
  return exit_done;
}

int cache_unpin(const PinOptions& options, Workspace& workspace) {
  cache::Keeping& keeping = workspace.keeping();
  const std::string name = pin_name(options.name);
  cache::Pin removed;
  for (const cache::Pin& pin : keeping.pins()) {
    if (pin.name == name || pin.name == options.name) removed = pin;
  }
  // By what was pinned, or by the name that the list of pins has.
  if (!keeping.unpin(name) && !keeping.unpin(options.name)) {
    throw base::Error(
        base::ErrorKind::not_found,
        base::printable(assets::displayed_name(options.name)) + ": you have no pin of that name",
        removed.name.empty() ? "'sabath cache pin' lists the pins"
                             : "this one is of " + base::printable(removed.user));
  }
  workspace.answer(workspace.options().json
                       ? json_answer(std::vector{removed})
                       : "no longer pinned: " + base::printable(removed.name) + "\n");
  return exit_done;
}

}  // namespace

void setup_cache_pins(CLI::App& group, Action& action) {
  auto options = std::make_shared<PinOptions>();
  CLI::App* pin =
      group.add_subcommand("pin", "keep something from the collector, or list the pins");
  pin->add_option("name", options->name, "an asset, a URL or a digest; none: list");
  pin->add_option("--reason", options->reason, "why, for whoever looks later");
  pin->callback([&action, options] {
    action = [options](Workspace& workspace) { return cache_pin(*options, workspace); };
  });
  CLI::App* unpin = group.add_subcommand("unpin", "remove a pin");
  unpin->add_option("name", options->name, "as it was pinned")->required();
  unpin->callback([&action, options] {
    action = [options](Workspace& workspace) { return cache_unpin(*options, workspace); };
  });
}

}  // namespace sabath::cli
