#include "key_folder.hpp"
#include "layer_walk.hpp"
#include "layers/layer_variables.hpp"
#include "layers/package_check.hpp"
#include "prefix_checks.hpp"
#include "prefix_files.hpp"
#include "request_folder.hpp"
#include "tools/conda_engine.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/env/environment.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include <sys/stat.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Returns why a prefix failed all its checks; nothing where one passed or none was made.
std::optional<std::string> never_met(const FoundAttempt& ready, const StoreOptions& options) {
  std::optional<std::string> problem;
  for (const CheckRecord& check : PrefixChecks(ready.folder, options.state_directory).all()) {
    if (check.has_passed()) return std::nullopt;
    problem = check.problem;
  }
  return problem;
}

/// Adds the platforms of an earlier lock of the same request: it stays valid on those machines.
void add_other_platforms(spec::PackageLayerLock& lock, const spec::PackageLayerLock& before) {
  if (lock.request != before.request) return;
  for (const spec::PlatformPackages& one : before.platforms) {
    if (lock.find(one.platform, one.python) == nullptr) lock.platforms.push_back(one);
  }
  std::ranges::sort(lock.platforms, [](const auto& a, const auto& b) {
    return std::tie(a.platform, a.python) < std::tie(b.platform, b.python);
  });
}

/// Returns the lock of the same request as `other`, or null.
spec::PackageLayerLock* answer_to(spec::PackageLock& lock, const spec::PackageLayerLock& other) {
  const auto found = std::ranges::find_if(lock.layers, [&](const auto& one) {
    return one.name == other.name && one.request == other.request;
  });
  return found == lock.layers.end() ? nullptr : &*found;
}

/// Keeps the earlier locks of the layers of a variant.
void keep_known(spec::PackageLock& lock,
                const spec::PackageLock& known,
                const spec::EnvironmentSpec& variant) {
  for (const spec::PackageLayerLock& before : known.layers) {
    const bool belongs = std::ranges::any_of(
        variant.layers, [&](const auto& layer) { return layer.name == before.name; });
    if (belongs && answer_to(lock, before) == nullptr) lock.layers.push_back(before);
  }
}

/// Returns false where a required package is missing. A package for some platforms only need not be
/// in this lock.
bool has_required_packages(const spec::LayerSpec& wanted, const spec::LayerLock& layer) {
  const auto& requirements = wanted.packages.requirements;
  return std::ranges::all_of(requirements, [&](const std::string& one) {
    const auto name = spec::required_package(one);
    return !name || one.find(';') != std::string::npos || layer.facts.contains("package." + *name);
  });
}

/// Returns false only where resolving cannot lead to the layer.
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

/// Returns the root without links: prefixes know their path, so one cache must not have two. A root
/// that is a link itself must be the user's own.
fs::path real_root(const fs::path& root) {
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

/// Removes the user's variables that would change the locked packages. Keeps Python from writing
/// beside them or beside the recipe's code, whose digest identifies a run.
void shield_packages(base::Environment& variables) {
  std::erase_if(variables, [](const auto& item) {
    return item.first.starts_with("PYTHON") || item.first.starts_with("PIP_") ||
           item.first.starts_with("UV_") || item.first.starts_with("CONDA_") ||
           item.first.starts_with("MAMBA_") || item.first == "VIRTUAL_ENV" ||
           item.first == "__PYVENV_LAUNCHER__";
  });
  set_python_bounds(variables);
}

}  // namespace

struct EnvironmentStore::State : StoreParts {
  using Found = std::pair<KeyFolder, EnvironmentEntry>;

  LayerWalk walk() const { return LayerWalk(*this); }

  /// Returns the folders of all keys in this cache, sorted.
  std::vector<KeyFolder> folders() const { return folders(root); }
  /// Returns the only layer whose key begins with `key_prefix`. Throws Error{not_found|usage}.
  Found pick(std::string_view key_prefix, bool lower_too = false) const {
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
    const std::string keys = base::joined(
        found, ", ", [](const Found& one) { return one.second.lock.key.hex.substr(0, 16); });
    throw base::Error(
        base::ErrorKind::usage, place + "the key is ambiguous: " + keys, "give more of the key");
  }

  /// `place` is the root of this cache or of a lower one.
  std::vector<KeyFolder> folders(const fs::path& place) const {
    std::vector<fs::path> paths;
    for (const auto& layer : layers) {
      for (const fs::directory_entry& entry : entries_in(place / spec::to_string(layer->kind())))
        paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    return {paths.begin(), paths.end()};
  }

  std::vector<Found> matching(const fs::path& place, std::string_view key_prefix) const {
    std::vector<Found> found;
    for (const KeyFolder& folder : folders(place)) {
      const std::string name = folder.path().filename().string();
      if (key_prefix.empty() || !name.starts_with(key_prefix.substr(0, name.size()))) continue;
      auto entry = entry_of(folder);
      if (entry && entry->lock.key.hex.starts_with(key_prefix)) found.emplace_back(folder, *entry);
    }
    return found;
  }

  std::optional<EnvironmentEntry> entry_of(const KeyFolder& folder) const {
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
      entry.problem = "the process that built it ended without a record";
    } else if (record.state == "ready" && record.layer.prefix != entry.prefix.string()) {
      entry.state = "failed";
      entry.problem = "it was built as " + record.layer.prefix +
                      ", and cannot be used at another place; it will be built again";
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
};

EnvironmentStore::EnvironmentStore(const fs::path& root,
                                   base::ProcessRunner& processes,
                                   const base::Clock& clock,
                                   StoreOptions options)
    : state_(
          new State{{real_root(root),
                     builtin_layers(processes, clock, options.state_directory, options.environment),
                     clock,
                     std::move(options)}}) {
  for (fs::path& lower : state_->options.lower)
    lower = fs::weakly_canonical(fs::absolute(lower));
}

EnvironmentStore::~EnvironmentStore() = default;

spec::EnvironmentLock EnvironmentStore::lock(const spec::EnvironmentSpec& spec,
                                             const fs::path& recipe_directory) {
  const LayerBuilder builder = state_->builder();
  return state_->walk()
      .resolve(spec,
               recipe_directory,
               [&](const ResolvedLayer& layer) { return builder.find(layer.lock).value_or(""); })
      ->lock();
}

bool EnvironmentStore::resolves_to(const spec::LayerLock& layer,
                                   const spec::EnvironmentSpec& spec,
                                   const fs::path& recipe_directory) {
  const spec::LayerSpec* const first = spec.layers.data();
  if (std::ranges::none_of(spec.layers, [&](const spec::LayerSpec& one) {
        return may_be(layer, one, &one == first);
      })) {
    return false;
  }
  try {
    const spec::EnvironmentLock resolved = lock(spec, recipe_directory);
    return std::ranges::any_of(resolved.layers,
                               [&](const auto& one) { return one.key == layer.key; });
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
  return *state_->walk().resolve(spec, recipe_directory, [&](const ResolvedLayer& layer) {
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
  const LayerWalk::Task lock_layer = [&](EnvironmentLayer& layer, const LockRequest& wanted) {
    if (!layer.is_locked(wanted.context.spec)) return;
    spec::PackageLayerLock resolved = layer.lock(wanted, target);
    if (spec::PackageLayerLock* const same = answer_to(lock, resolved)) {
      add_other_platforms(resolved, *same);  // from another variant
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
      state_->walk().run(spec.select(variant), recipe_directory, observer, stop, lock_layer, &lock);
    } catch (const base::Error& error) {
      // A module or compiler of another machine cannot be locked here.
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
  state_->walk().run(spec,
                     recipe_directory,
                     observer,
                     stop,
                     [&](EnvironmentLayer& layer, const LockRequest& request) {
                       for (PinnedFile& file : layer.fetch(request))
                         files.push_back(std::move(file));
                     });
  return files;
}

std::optional<spec::BuiltEnvironment> EnvironmentStore::find(const spec::EnvironmentSpec& spec,
                                                             const fs::path& recipe_directory) {
  const LayerBuilder builder = state_->builder();
  return state_->walk().resolve(spec, recipe_directory, [&](const ResolvedLayer& layer) {
    return builder.find_checked(layer);
  });
}

void EnvironmentStore::check_trusted(const spec::BuiltEnvironment& environment,
                                     const std::vector<LocalPrefix>& copies) const {
  env::check_trusted(environment, copies, state_->options.trust);
}

std::vector<EnvironmentEntry> EnvironmentStore::list() const {
  std::vector<EnvironmentEntry> entries;
  for (const KeyFolder& folder : state_->folders()) {
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
    throw_environment("environment '" + entry.lock.key.hex.substr(0, 16) + "': it is being built",
                      "end that build first");
  }
  const auto users = lessees(folder.path(), state_->clock.now());
  if (!users.empty()) {
    throw_environment(
        "environment '" + entry.lock.key.hex.substr(0, 16) + "': " + users.front() + " uses it",
        "wait for its end, or end it");
  }
  folder.remove();
}

std::vector<EnvironmentEntry> EnvironmentStore::garbage(const std::set<std::string>& used,
                                                        base::WallTime cut) const {
  std::map<std::string, EnvironmentEntry> free;
  std::set<std::string> kept = used;
  for (const KeyFolder& folder : state_->folders()) {
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
  // Layers beneath a kept layer are kept, too.
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
  std::vector<fs::path> found = abandoned_request_folders(state_->root, now);
  for (const KeyFolder& folder : state_->folders()) {
    for (fs::path& remains : folder.nameless_remains(now))
      found.push_back(std::move(remains));
  }
  return found;
}

base::Environment run_variables(const spec::BuiltEnvironment& environment,
                                const base::Environment& base) {
  base::Environment variables = base;
  const bool has_packages = std::ranges::any_of(
      environment.layers, [](const auto& layer) { return has_locked_packages(layer.lock.kind); });
  if (has_packages) shield_packages(variables);
  for (const spec::BuiltLayer& layer : environment.layers)
    add_layer(variables, layer);
  return variables;
}

}  // namespace sabath::env
