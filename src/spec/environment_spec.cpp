#include <sabath/spec/environment_spec.hpp>

#include <algorithm>

namespace sabath::spec {

std::string_view to_string(LayerKind kind) {
  switch (kind) {
    case LayerKind::host:
      return "host";
    case LayerKind::modules:
      return "modules";
    case LayerKind::source:
      return "source";
    case LayerKind::pip:
      return "pip";
  }
  return "";
}

EnvironmentLock BuiltEnvironment::lock() const {
  EnvironmentLock lock;
  for (const BuiltLayer& layer : layers)
    lock.layers.push_back(layer.lock);
  return lock;
}

base::Digest BuiltEnvironment::key() const {
  return layers.empty() ? base::Digest{} : layers.back().lock.key;
}

std::optional<std::string> BuiltEnvironment::prefix(std::string_view name) const {
  const auto found = std::find_if(layers.rbegin(), layers.rend(), [&](const BuiltLayer& layer) {
    return !layer.prefix.empty() && (name.empty() || layer.lock.name == name);
  });
  if (found == layers.rend()) return std::nullopt;
  return found->prefix;
}

}  // namespace sabath::spec
