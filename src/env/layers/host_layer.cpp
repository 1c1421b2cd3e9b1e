#include "host_layer.hpp"

#include "layer_variables.hpp"

#include <sabath/base/error.hpp>

namespace sabath::env {

std::map<std::string, std::string> HostLayer::resolve(const LayerContext& context) {
  std::map<std::string, std::string> facts;
  std::string missing;
  for (const std::string& command : context.spec.commands) {
    if (const auto tool = toolchain_.tool(command, context.variables)) {
      facts["command." + command] = tool->identity;
      // A program that was built again says the same of itself.
      facts["digest." + command] = toolchain_.digest_of(*tool);
    } else {
      missing += (missing.empty() ? "" : ", ") + command;
    }
  }
  if (missing.empty()) return facts;
  const auto path = context.variables.find("PATH");
  throw base::Error(base::ErrorKind::environment,
                    place_of(context.spec.name) + ": not found on PATH: " + missing,
                    "install what is missing or load the modules that have it; PATH is '" +
                        (path == context.variables.end() ? "" : path->second) + "'");
}

}  // namespace sabath::env
