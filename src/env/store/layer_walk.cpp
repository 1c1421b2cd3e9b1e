#include "layer_walk.hpp"

#include "layers/layer_variables.hpp"
#include "layers/locked_layer.hpp"
#include "prefix_files.hpp"
#include "request_folder.hpp"
#include "tools/platform.hpp"

#include <sabath/base/error.hpp>
#include <sabath/env/prefix.hpp>

#include <algorithm>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Returns true where a later layer of Python packages may use the Python of this layer.
bool may_bring_python(const spec::EnvironmentSpec& spec, const spec::LayerSpec& layer) {
  return layer.kind == spec::LayerKind::conda &&
         std::ranges::any_of(spec.layers, [](const spec::LayerSpec& other) {
           return other.kind == spec::LayerKind::pip;
         });
}

spec::LayerLock resolve_layer(const LayerContext& context, EnvironmentLayer& layer) {
  spec::LayerLock lock{layer.kind(), context.spec.name, layer.resolve(context), {}};
  lock.facts.merge(platform_facts());
  for (const auto& [name, value] : context.spec.variables)
    lock.facts["variable." + name] = value;
  if (!context.before.empty()) lock.facts["before"] = context.before.back().lock.key.text();
  lock.key = layer_key(lock.kind, lock.facts);
  return lock;
}

/// Returns the context of a layer, with its own variables set.
LayerContext context_of(const spec::EnvironmentSpec& spec,
                        const spec::LayerSpec& wanted,
                        const fs::path& recipe_directory,
                        const std::vector<spec::BuiltLayer>& before,
                        const base::Environment& variables,
                        const spec::PackageLock* locked) {
  LayerContext context{wanted, recipe_directory, before, variables, locked};
  // The own variables of a layer of modules may refer to what the modules set: they come later.
  if (wanted.kind != spec::LayerKind::modules)
    set_own_variables(context.variables, wanted.variables, wanted.name);
  context.left_out = leave_out_python_paths(context.variables, wanted.kind, wanted.variables);
  // The variant is selected: its variables stand under no name.
  if (const auto found = spec.stage_variables.find(""); found != spec.stage_variables.end())
    context.stage_variables = found->second;
  return context;
}

}  // namespace

EnvironmentLayer& LayerWalk::layer_of(spec::LayerKind kind) const {
  for (const auto& layer : store_.layers) {
    if (layer->kind() == kind) return *layer;
  }
  throw base::Error(base::ErrorKind::usage,
                    "environment: layers of kind '" + std::string(spec::to_string(kind)) +
                        "' cannot be built here");
}

std::optional<spec::BuiltEnvironment> LayerWalk::resolve(const spec::EnvironmentSpec& spec,
                                                         const fs::path& recipe_directory,
                                                         const PrefixOf& prefix_of) const {
  spec::BuiltEnvironment built;
  base::Environment variables = clean_environment(store_.options.environment);
  // Read once: the file is large, and every layer needs it more than once.
  std::optional<spec::PackageLock> lock;
  const fs::path& lock_folder = spec.lock_folder.empty() ? recipe_directory : spec.lock_folder;
  for (const spec::LayerSpec& wanted : spec.layers) {
    require_trusted_before(built.layers);
    EnvironmentLayer& kind = layer_of(wanted.kind);
    if (!lock && kind.is_locked(wanted)) lock = read_lock_file(lock_folder);
    ResolvedLayer layer{
        context_of(
            spec, wanted, recipe_directory, built.layers, variables, lock ? &*lock : nullptr),
        kind};
    layer.lock = resolve_layer(layer.context, layer.layer);
    std::string prefix;
    if (layer.layer.has_prefix()) {
      const auto found = prefix_of(layer);
      if (!found) return std::nullopt;
      prefix = *found;
    }
    built.layers.push_back({.lock = layer.lock, .prefix = prefix, .variables = wanted.variables});
    layer.layer.describe(layer.context, built.layers.back());
    add_layer(variables, built.layers.back());
  }
  return built;
}

void LayerWalk::run(const spec::EnvironmentSpec& spec,
                    const fs::path& recipe_directory,
                    base::Observer& observer,
                    const std::stop_token& stop,
                    const Task& task,
                    const spec::PackageLock* locked) const {
  const RequestFolder work(requests_folder(), store_.clock.now());
  std::vector<spec::BuiltLayer> before;
  base::Environment variables = clean_environment(store_.options.environment);
  for (const spec::LayerSpec& wanted : spec.layers) {
    require_trusted_before(before);
    EnvironmentLayer& layer = layer_of(wanted.kind);
    const LayerContext context =
        context_of(spec, wanted, recipe_directory, before, variables, locked);
    const fs::path own = work.path() / wanted.name;
    make_new_folder(own);
    task(layer, {context, own, observer, stop, store_.options.bring, store_.options.limits});
    spec::BuiltLayer built = known_layer(context, layer);
    const bool is_resolved = !built.lock.key.hex.empty();
    if (is_resolved && built.prefix.empty() && may_bring_python(spec, wanted)) {
      built.prefix = store_.builder().build(
          {context, layer, built.lock}, observer, stop, AfterFailure::refuse);
      layer.describe(context, built);
    }
    before.push_back(std::move(built));
    add_layer(variables, before.back());
  }
}

fs::path LayerWalk::requests_folder() const {
  make_own_folder(store_.root);
  const auto reason = base::why_untrusted(store_.root, store_.options.trust);
  if (!reason) return store_.root;
  if (store_.options.state_directory.empty()) refuse_untrusted(*reason, "");
  return fs::absolute(store_.options.state_directory) / "requests";
}

void LayerWalk::require_trusted_before(const std::vector<spec::BuiltLayer>& before) const {
  if (before.empty() || before.back().prefix.empty()) return;
  require_trusted(before.back().prefix, store_.options.trust, before.back().lock.name);
}

spec::BuiltLayer LayerWalk::known_layer(const LayerContext& context,
                                        EnvironmentLayer& layer) const {
  spec::BuiltLayer built{.lock = {layer.kind(), context.spec.name, {}, {}},
                         .variables = context.spec.variables};
  try {
    built.lock = resolve_layer(context, layer);
  } catch (const base::Error&) {
    if (layer.is_locked(context.spec)) return built;
    throw;
  }
  if (layer.has_prefix()) built.prefix = store_.builder().find(built.lock).value_or("");
  layer.describe(context, built);
  return built;
}

}  // namespace sabath::env
