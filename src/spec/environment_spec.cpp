#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <algorithm>

namespace sabath::spec {

bool has_prefix(LayerKind kind) {
  return kind == LayerKind::source || kind == LayerKind::pip || kind == LayerKind::conda;
}

EnvironmentSpec EnvironmentSpec::select(const std::string& variant) const {
  if (!variant.empty() && std::find(variants.begin(), variants.end(), variant) == variants.end()) {
    std::string known;
    for (const std::string& one : variants)
      known += (known.empty() ? "" : ", ") + one;
    const std::string guess = base::nearest(variant, variants);
    throw base::Error(base::ErrorKind::usage,
                      "environment: no variant '" + base::printable(variant) + "'",
                      known.empty()   ? "the recipe has no variants"
                      : guess.empty() ? "it has " + known
                                      : "did you mean '" + guess + "'? It has " + known);
  }
  const std::string chosen = variant.empty() && !variants.empty() ? variants.front() : variant;
  EnvironmentSpec selected;
  selected.lock_folder = lock_folder;
  for (const LayerSpec& layer : layers) {
    const auto& in = layer.variants;
    if (!in.empty() && std::find(in.begin(), in.end(), chosen) == in.end()) continue;
    selected.layers.push_back(layer);
    selected.layers.back().variants.clear();
  }
  for (const std::string& of : {chosen, std::string()}) {
    const auto set = stage_variables.find(of);
    if (set != stage_variables.end())
      selected.stage_variables[""].insert(set->second.begin(), set->second.end());
  }
  return selected;
}

EnvironmentSpec EnvironmentSpec::locked_in(const std::filesystem::path& folder) const {
  EnvironmentSpec locked = *this;
  if (lock_folder.empty()) locked.lock_folder = folder;
  return locked;
}

std::vector<std::optional<base::Digest>> BuiltEnvironment::lock_files() const {
  std::vector<std::optional<base::Digest>> files;
  for (const BuiltLayer& layer : layers)
    files.push_back(layer.lock_file);
  return files;
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
    // What a container's holds is for its engine: no path leads into it.
    return layer.lock.kind != LayerKind::container && !layer.prefix.empty() &&
           (name.empty() || layer.lock.name == name);
  });
  if (found == layers.rend()) return std::nullopt;
  return found->prefix;
}

}  // namespace sabath::spec
