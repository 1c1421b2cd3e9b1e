#include "errand_folder.hpp"
#include "key_folder.hpp"
#include "layers/layer_builder.hpp"
#include "layers/layer_key.hpp"
#include "layers/layer_variables.hpp"
#include "layers/locked_layer.hpp"
#include "layers/package_files.hpp"
#include "layers/package_install.hpp"
#include "lease.hpp"
#include "prefix.hpp"
#include "prefix_checks.hpp"
#include "tools/conda_install.hpp"
#include "tools/platform.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include <sys/stat.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// How the prefix of a layer comes about; nothing ends the walk.
using PrefixOf = std::function<std::optional<std::string>(const ResolvedLayer&)>;

/// What is done for a layer that is not built.
using Errand = std::function<void(EnvironmentLayer&, const LayerErrand&)>;

/// A later layer of Python packages is made of the Python that this one brings.
bool may_bring_python(const spec::EnvironmentSpec& spec, const spec::LayerSpec& layer) {
  return layer.kind == spec::LayerKind::conda &&
         std::any_of(spec.layers.begin(), spec.layers.end(), [](const spec::LayerSpec& other) {
           return other.kind == spec::LayerKind::pip;
         });
}

/// A lock that was the answer to the same request, on another machine, stays valid there.
void add_other_platforms(spec::PackageLayerLock& lock, const spec::PackageLayerLock& before) {
  if (lock.request != before.request) return;
  for (const spec::PlatformPackages& one : before.platforms) {
    if (lock.find(one.platform, one.python) == nullptr) lock.platforms.push_back(one);
  }
  std::sort(lock.platforms.begin(), lock.platforms.end(), [](const auto& a, const auto& b) {
    return std::tie(a.platform, a.python) < std::tie(b.platform, b.python);
  });
}

/// The lock that answers the same request as `other`.
spec::PackageLayerLock* answer_to(spec::PackageLock& lock, const spec::PackageLayerLock& other) {
  const auto found = std::find_if(lock.layers.begin(), lock.layers.end(), [&](const auto& one) {
    return one.name == other.name && one.request == other.request;
  });
  return found == lock.layers.end() ? nullptr : &*found;
}

/// What was locked before for the layers of a variant.
void keep_known(spec::PackageLock& lock,
                const spec::PackageLock& known,
                const spec::EnvironmentSpec& variant) {
  for (const spec::PackageLayerLock& before : known.layers) {
    const bool belongs = std::any_of(variant.layers.begin(),
                                     variant.layers.end(),
                                     [&](const auto& layer) { return layer.name == before.name; });
    if (belongs && answer_to(lock, before) == nullptr) lock.layers.push_back(before);
  }
}

spec::LayerLock resolve(const LayerContext& context, EnvironmentLayer& layer) {
  spec::LayerLock lock{layer.kind(), context.spec.name, layer.resolve(context), {}};
  lock.facts.merge(platform_facts());
  for (const auto& [name, value] : context.spec.variables)
    lock.facts["variable." + name] = value;
  if (!context.before.empty()) lock.facts["before"] = context.before.back().lock.key.text();
  lock.key = layer_key(lock.kind, lock.facts);
  return lock;
}

/// Of a variant that was selected.
std::map<std::string, std::string> set_by_stages(const spec::EnvironmentSpec& spec) {
  const auto found = spec.stage_variables.find("");
  return found == spec.stage_variables.end() ? std::map<std::string, std::string>() : found->second;
}

/// Packages that the layer certainly has once it is resolved. One for some platforms only need not
/// be in the lock of this.
bool has_required_packages(const spec::LayerSpec& wanted, const spec::LayerLock& layer) {
  const auto& requirements = wanted.packages.requirements;
  return std::all_of(requirements.begin(), requirements.end(), [&](const std::string& one) {
    const auto name = spec::required_package(one);
    return !name || one.find(';') != std::string::npos || layer.facts.contains("package." + *name);
  });
}

/// Why a prefix was never what somebody expected of it; nothing where it was once, or nobody
/// looked.
std::optional<std::string> never_met(const FoundAttempt& ready, const StoreOptions& options) {
  std::optional<std::string> problem;
  for (const CheckRecord& check : PrefixChecks(ready.folder, options.state_directory).all()) {
    if (check.has_passed()) return std::nullopt;
    problem = check.problem;
  }
  return problem;
}

/// False only where resolving cannot lead to the layer.
bool may_be(const spec::LayerLock& layer, const spec::LayerSpec& wanted, bool is_first) {
  if (wanted.kind != layer.kind || is_first == layer.facts.contains("before")) return false;
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : wanted.variables)
    variables["variable." + name] = value;
  const auto from = layer.facts.lower_bound("variable.");
  const auto to = layer.facts.lower_bound("variable/");  // '/' comes after '.'
  if (!std::equal(from, to, variables.begin(), variables.end())) return false;
  return wanted.kind != spec::LayerKind::pip || has_required_packages(wanted, layer);
}

}  // namespace

namespace {

/// Prefixes know their path: the root is the one without links. One that is a link itself must be
/// the user's own.
fs::path settled(const fs::path& root) {
  const fs::path named = fs::absolute(root).lexically_normal();
  const fs::path whole = named.has_filename() ? named : named.parent_path();
  fs::path canonical = fs::weakly_canonical(whole);
  std::error_code code;
  if (!fs::is_directory(whole, code)) return canonical;
  const base::Beneath above(whole.parent_path());
  const struct stat trusted = above.directory(whole).status();
  struct stat found {};
  if (::stat(canonical.c_str(), &found) == 0 && found.st_dev == trusted.st_dev &&
      found.st_ino == trusted.st_ino)
    return canonical;
  throw base::Error(base::ErrorKind::storage,
                    whole.string() + ": has been exchanged meanwhile",
                    "run the command again");
}

}  // namespace

struct EnvironmentStore::State {
  fs::path root;
  std::vector<std::unique_ptr<EnvironmentLayer>> layers;
  const base::Clock& clock;
  StoreOptions options;

  LayerBuilder builder() const { return {root, clock, options}; }
  EnvironmentLayer& layer_of(spec::LayerKind kind) const;
  /// Resolves one layer after another, each with what those before set.
  std::optional<spec::BuiltEnvironment> walk(const spec::EnvironmentSpec& spec,
                                             const fs::path& recipe_directory,
                                             const PrefixOf& prefix_of) const;
  /// Does something for one layer after another, each with what those before set as far as they
  /// are built.
  void run_errands(const spec::EnvironmentSpec& spec,
                   const fs::path& recipe_directory,
                   base::Observer& observer,
                   const std::stop_token& stop,
                   const Errand& errand,
                   const spec::PackageLock* locked = nullptr) const;
  /// Where errands work: in the cache, since gigabytes may pass through it. What they bring is
  /// executed, so that where others could exchange it this is a folder of the user's own.
  fs::path errands() const;
  /// A layer may execute what the one before it has: its programs are asked what they are.
  void trust_what_comes_before(const std::vector<spec::BuiltLayer>& before) const;
  /// A layer with what is known of it: of one that is not locked yet no more than its name.
  spec::BuiltLayer as_it_is(const LayerContext& context, EnvironmentLayer& layer) const;
  /// The folders of all keys beneath `place`, `root` or that of a lower cache, sorted.
  std::vector<KeyFolder> folders(const fs::path& place) const;
  std::optional<EnvironmentEntry> entry_of(const KeyFolder& folder) const;
  /// Those beneath `place` whose key begins so.
  std::vector<std::pair<KeyFolder, EnvironmentEntry>> matching(const fs::path& place,
                                                               std::string_view key_prefix) const;
  std::pair<KeyFolder, EnvironmentEntry> pick(std::string_view key_prefix,
                                              bool lower_too = false) const;
};

EnvironmentLayer& EnvironmentStore::State::layer_of(spec::LayerKind kind) const {
  for (const auto& layer : layers) {
    if (layer->kind() == kind) return *layer;
  }
  throw base::Error(base::ErrorKind::usage,
                    "environment: layers of kind '" + std::string(spec::to_string(kind)) +
                        "' cannot be built here");
}

std::optional<spec::BuiltEnvironment> EnvironmentStore::State::walk(
    const spec::EnvironmentSpec& spec,
    const fs::path& recipe_directory,
    const PrefixOf& prefix_of) const {
  spec::BuiltEnvironment built;
  base::Environment variables = clean_environment(options.environment);
  // Large, and every layer needs it more than once.
  std::optional<spec::PackageLock> lock;
  for (const spec::LayerSpec& wanted : spec.layers) {
    trust_what_comes_before(built.layers);
    EnvironmentLayer& kind = layer_of(wanted.kind);
    if (!lock && kind.is_locked(wanted)) lock = read_lock_file(recipe_directory);
    ResolvedLayer layer{
        {wanted, recipe_directory, built.layers, variables, lock ? &*lock : nullptr}, kind};
    // What is loaded comes before the layer's own variables, which may refer to it.
    if (wanted.kind != spec::LayerKind::modules)
      set_own_variables(layer.context.variables, wanted.variables, wanted.name);
    layer.context.left_out =
        leave_out_python_paths(layer.context.variables, wanted.kind, wanted.variables);
    layer.context.stage_variables = set_by_stages(spec);
    layer.lock = resolve(layer.context, layer.layer);
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

void EnvironmentStore::State::run_errands(const spec::EnvironmentSpec& spec,
                                          const fs::path& recipe_directory,
                                          base::Observer& observer,
                                          const std::stop_token& stop,
                                          const Errand& errand,
                                          const spec::PackageLock* locked) const {
  const ErrandFolder work(errands(), clock.now());
  std::vector<spec::BuiltLayer> before;
  base::Environment variables = clean_environment(options.environment);
  for (const spec::LayerSpec& wanted : spec.layers) {
    trust_what_comes_before(before);
    EnvironmentLayer& layer = layer_of(wanted.kind);
    LayerContext context{wanted, recipe_directory, before, variables, locked};
    // As in `walk`.
    if (wanted.kind != spec::LayerKind::modules)
      set_own_variables(context.variables, wanted.variables, wanted.name);
    context.left_out = leave_out_python_paths(context.variables, wanted.kind, wanted.variables);
    context.stage_variables = set_by_stages(spec);
    const fs::path own = work.path() / wanted.name;
    make_new_folder(own);
    errand(layer, {context, own, observer, stop, options.bring, options.limits});
    spec::BuiltLayer built = as_it_is(context, layer);
    const bool is_resolved = !built.lock.key.hex.empty();
    if (is_resolved && built.prefix.empty() && may_bring_python(spec, wanted)) {
      built.prefix =
          builder().build({context, layer, built.lock}, observer, stop, AfterFailure::refuse);
      layer.describe(context, built);
    }
    before.push_back(std::move(built));
    add_layer(variables, before.back());
  }
}

fs::path EnvironmentStore::State::errands() const {
  make_own_folder(root);
  const auto reason = base::why_untrusted(root, options.trust);
  if (!reason) return root;
  if (options.state_directory.empty()) refuse_untrusted(*reason, "");
  return fs::absolute(options.state_directory) / "errands";
}

void EnvironmentStore::State::trust_what_comes_before(
    const std::vector<spec::BuiltLayer>& before) const {
  if (before.empty() || before.back().prefix.empty()) return;
  require_trusted(before.back().prefix, options.trust, before.back().lock.name);
}

spec::BuiltLayer EnvironmentStore::State::as_it_is(const LayerContext& context,
                                                   EnvironmentLayer& layer) const {
  spec::BuiltLayer built{.lock = {layer.kind(), context.spec.name, {}, {}},
                         .variables = context.spec.variables};
  try {
    built.lock = resolve(context, layer);
  } catch (const base::Error&) {
    if (layer.is_locked(context.spec)) return built;
    throw;
  }
  if (layer.has_prefix()) built.prefix = builder().find(built.lock).value_or("");
  layer.describe(context, built);
  return built;
}

std::vector<KeyFolder> EnvironmentStore::State::folders(const fs::path& place) const {
  std::vector<fs::path> paths;
  for (const auto& layer : layers) {
    std::error_code code;
    fs::directory_iterator at(place / spec::to_string(layer->kind()), code);
    for (; !code && at != fs::directory_iterator(); at.increment(code))
      paths.push_back(at->path());
  }
  std::sort(paths.begin(), paths.end());
  return {paths.begin(), paths.end()};
}

std::optional<EnvironmentEntry> EnvironmentStore::State::entry_of(const KeyFolder& folder) const {
  auto found = folder.ready();
  if (!found) {
    const auto attempts = folder.attempts();
    if (attempts.empty()) return std::nullopt;
    found = attempts.back();
  }
  AttemptRecord& record = found->record;
  EnvironmentEntry entry{.lock = record.layer.lock,
                         .state = record.state,
                         .prefix = found->folder.prefix(),
                         .log = found->folder.log(),
                         .built = record.started,
                         .build_s = record.build_s,
                         .size = record.size,
                         .problem = record.problem,
                         .present = record.present,
                         .users = lessees(folder.path(), clock.now())};
  if (record.layer.packages && record.state == "ready") {
    record.layer.packages = record.layer.lock.kind == spec::LayerKind::conda
                                ? conda_packages_in(entry.prefix)
                                : packages_in(entry.prefix);
    entry.drift = record.layer.drift();
    if (record.layer.lock.kind == spec::LayerKind::pip) {
      const auto changed = changed_packages(entry.prefix, found->folder.record());
      entry.drift.insert(entry.drift.end(), changed.begin(), changed.end());
    }
  }
  if (record.state == "building" && base::liveness_of(record.builder) == base::Liveness::gone) {
    entry.state = "failed";
    entry.problem = "the process that built it ended without a word";
  } else if (const auto library = missing_library(record.present);
             record.state == "ready" && library) {
    entry.state = "failed";
    entry.problem =
        "it needs " + *library + ", which is gone or not for you to use; it will be built again";
  } else if (const auto unmet = never_met(*found, options); record.state == "ready" && unmet) {
    entry.state = "failed";
    entry.problem = *unmet;
  } else if (record.state == "ready") {
    if (auto reason = why_prefix_untrusted(entry.prefix, options.trust)) {
      entry.state = "untrusted";
      entry.problem = *reason;
    }
  }
  return entry;
}

std::vector<std::pair<KeyFolder, EnvironmentEntry>> EnvironmentStore::State::matching(
    const fs::path& place, std::string_view key_prefix) const {
  std::vector<std::pair<KeyFolder, EnvironmentEntry>> found;
  for (const KeyFolder& folder : folders(place)) {
    const std::string name = folder.path().filename().string();
    if (key_prefix.empty() || !name.starts_with(key_prefix.substr(0, name.size()))) continue;
    auto entry = entry_of(folder);
    if (entry && entry->lock.key.hex.starts_with(key_prefix)) found.emplace_back(folder, *entry);
  }
  return found;
}

std::pair<KeyFolder, EnvironmentEntry> EnvironmentStore::State::pick(std::string_view key_prefix,
                                                                     bool lower_too) const {
  auto found = matching(root, key_prefix);
  for (std::size_t i = 0; lower_too && found.empty() && i < options.lower.size(); ++i)
    found = matching(options.lower[i], key_prefix);
  if (found.size() == 1) return found.front();
  const std::string place = "environment '" + std::string(key_prefix) + "': ";
  if (found.empty()) {
    throw base::Error(base::ErrorKind::not_found,
                      place + "no layer has such a key",
                      "'sabath env list' shows what there is");
  }
  std::string keys;
  for (const auto& [folder, entry] : found)
    keys += (keys.empty() ? "" : ", ") + entry.lock.key.hex.substr(0, 16);
  throw base::Error(
      base::ErrorKind::usage, place + "the key is ambiguous: " + keys, "give more of the key");
}

EnvironmentStore::EnvironmentStore(const fs::path& root,
                                   base::ProcessRunner& processes,
                                   const base::Clock& clock,
                                   StoreOptions options)
    // Prefixes know their path: one cache must not have two.
    : state_(
          new State{settled(root),
                    builtin_layers(processes, clock, options.state_directory, options.environment),
                    clock,
                    std::move(options)}) {
  for (fs::path& lower : state_->options.lower)
    lower = fs::weakly_canonical(fs::absolute(lower));
}

EnvironmentStore::~EnvironmentStore() = default;

spec::EnvironmentLock EnvironmentStore::lock(const spec::EnvironmentSpec& spec,
                                             const fs::path& recipe_directory) {
  const LayerBuilder builder = state_->builder();
  return state_
      ->walk(spec,
             recipe_directory,
             [&](const ResolvedLayer& layer) { return builder.find(layer.lock).value_or(""); })
      ->lock();
}

bool EnvironmentStore::resolves_to(const spec::LayerLock& layer,
                                   const spec::EnvironmentSpec& spec,
                                   const fs::path& recipe_directory) {
  const spec::LayerSpec* const first = spec.layers.data();
  if (std::none_of(spec.layers.begin(), spec.layers.end(), [&](const spec::LayerSpec& one) {
        return may_be(layer, one, &one == first);
      })) {
    return false;
  }
  try {
    const spec::EnvironmentLock resolved = lock(spec, recipe_directory);
    return std::any_of(resolved.layers.begin(), resolved.layers.end(), [&](const auto& one) {
      return one.key == layer.key;
    });
  } catch (const base::Error&) {
    return false;
  }
}

spec::BuiltEnvironment EnvironmentStore::build(const spec::EnvironmentSpec& spec,
                                               const fs::path& recipe_directory,
                                               base::Observer& observer,
                                               std::stop_token stop,
                                               AfterFailure after) {
  const LayerBuilder builder = state_->builder();
  return *state_->walk(spec, recipe_directory, [&](const ResolvedLayer& layer) {
    return builder.build(layer, observer, stop, after);
  });
}

std::optional<spec::PackageLock> EnvironmentStore::lock_packages(
    const spec::EnvironmentSpec& spec,
    const fs::path& recipe_directory,
    const std::optional<spec::PackageLock>& known,
    const LockTarget& target,
    base::Observer& observer,
    std::stop_token stop) {
  spec::PackageLock lock;
  const Errand errand = [&](EnvironmentLayer& layer, const LayerErrand& wanted) {
    if (!layer.is_locked(wanted.context.spec)) return;
    spec::PackageLayerLock resolved = layer.lock(wanted, target);
    if (spec::PackageLayerLock* const same = answer_to(lock, resolved)) {
      add_other_platforms(resolved, *same);  // of another variant
      *same = std::move(resolved);
      return;
    }
    const auto* const before = known ? known->find(resolved.name, resolved.request) : nullptr;
    if (before != nullptr) add_other_platforms(resolved, *before);
    lock.layers.push_back(std::move(resolved));
  };
  std::vector<std::string> variants = spec.variants;
  if (variants.empty()) variants.emplace_back();
  std::size_t failures = 0;
  for (const std::string& variant : variants) {
    try {
      state_->run_errands(spec.select(variant), recipe_directory, observer, stop, errand, &lock);
    } catch (const base::Error& error) {
      // What another machine has (a module, a compiler) cannot be locked here.
      if (error.kind() != base::ErrorKind::environment || ++failures == variants.size()) throw;
      observer.warn("variant '" + variant + "' is not locked here: " + error.what(), error.hint());
      if (known) keep_known(lock, *known, spec.select(variant));
    }
  }
  if (lock.layers.empty()) return std::nullopt;
  return lock;
}

std::vector<PinnedFile> EnvironmentStore::fetch(const spec::EnvironmentSpec& spec,
                                                const fs::path& recipe_directory,
                                                base::Observer& observer,
                                                std::stop_token stop) {
  std::vector<PinnedFile> files;
  state_->run_errands(spec,
                      recipe_directory,
                      observer,
                      stop,
                      [&](EnvironmentLayer& layer, const LayerErrand& errand) {
                        for (PinnedFile& file : layer.fetch(errand, state_->options.bring))
                          files.push_back(std::move(file));
                      });
  return files;
}

std::optional<spec::BuiltEnvironment> EnvironmentStore::find(const spec::EnvironmentSpec& spec,
                                                             const fs::path& recipe_directory) {
  const LayerBuilder builder = state_->builder();
  return state_->walk(spec, recipe_directory, [&](const ResolvedLayer& layer) {
    return builder.find_checked(layer);
  });
}

void EnvironmentStore::check_trusted(const spec::BuiltEnvironment& environment,
                                     const std::vector<LocalPrefix>& copies) const {
  env::check_trusted(environment, copies, state_->options.trust);
}

std::vector<EnvironmentEntry> EnvironmentStore::list() const {
  std::vector<EnvironmentEntry> entries;
  for (const KeyFolder& folder : state_->folders(state_->root)) {
    if (auto entry = state_->entry_of(folder)) entries.push_back(std::move(*entry));
  }
  return entries;
}

EnvironmentEntry EnvironmentStore::show(std::string_view key_prefix) const {
  return state_->pick(key_prefix, true).second;
}

void EnvironmentStore::remove(std::string_view key_prefix) {
  const auto [folder, entry] = state_->pick(key_prefix);
  if (entry.state == "building") {
    throw base::Error(base::ErrorKind::environment,
                      "environment '" + entry.lock.key.hex.substr(0, 16) + "': it is being built",
                      "end that build first");
  }
  const auto users = lessees(folder.path(), state_->clock.now());
  if (!users.empty()) {
    throw base::Error(
        base::ErrorKind::environment,
        "environment '" + entry.lock.key.hex.substr(0, 16) + "': " + users.front() + " uses it",
        "wait for its end, or end it");
  }
  folder.remove();
}

std::vector<EnvironmentEntry> EnvironmentStore::garbage(const std::set<std::string>& used,
                                                        base::WallTime cut) const {
  std::map<std::string, EnvironmentEntry> free;
  std::set<std::string> kept = used;
  for (const KeyFolder& folder : state_->folders(state_->root)) {
    auto entry = state_->entry_of(folder);
    if (!entry) continue;
    const auto begun = base::parse_rfc3339(entry->built);
    const bool is_young = !begun || *begun >= cut;
    if (is_young || entry->state == "building" ||
        !lessees(folder.path(), state_->clock.now()).empty()) {
      kept.insert(entry->lock.key.hex);
    }
    free.emplace(entry->lock.key.hex, std::move(*entry));
  }
  // What a kept layer stands on is kept, too.
  std::vector<std::string> todo(kept.begin(), kept.end());
  while (!todo.empty()) {
    const auto found = free.find(todo.back());
    todo.pop_back();
    if (found == free.end()) continue;
    const auto before = found->second.lock.facts.find("before");
    if (before != found->second.lock.facts.end()) {
      todo.push_back(before->second.substr(before->second.find(':') + 1));
    }
    free.erase(found);
  }
  std::vector<EnvironmentEntry> garbage;
  for (auto& [key, entry] : free)
    garbage.push_back(std::move(entry));
  return garbage;
}

std::vector<fs::path> EnvironmentStore::leftovers() const {
  const base::WallTime now = state_->clock.now();
  std::vector<fs::path> found = abandoned_errands(state_->root, now);
  for (const KeyFolder& folder : state_->folders(state_->root)) {
    for (fs::path& remains : folder.nameless_remains(now))
      found.push_back(std::move(remains));
  }
  return found;
}

}  // namespace sabath::env
