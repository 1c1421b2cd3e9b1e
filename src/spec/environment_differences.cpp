#include <sabath/spec/environment_spec.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace sabath::spec {
namespace {

constexpr std::string_view package_label = "package.";
constexpr std::string_view drift_label = "drift.";

/// A fact of a package is its version, a blank and the digest of its file.
std::string version_of(const std::string& fact) {
  return fact.substr(0, fact.find(' '));
}

/// What the two that are held against one another are called.
struct Names {
  std::string one{};
  std::string other{};
};

const Names first_and_second{"the first", "the second"};
const Names a_and_b{"A", "B"};

std::string package_difference(const std::string& name,
                               const std::string& one,
                               const std::string& other,
                               const Names& names) {
  if (other.empty()) return name + " " + version_of(one) + " is only in " + names.one;
  if (one.empty()) return name + " " + version_of(other) + " is only in " + names.other;
  if (version_of(one) == version_of(other)) {
    return name + " " + version_of(one) + " comes from two different files";
  }
  return name + " is " + version_of(one) + " in " + names.one + ", " + version_of(other) + " in " +
         names.other;
}

std::string fact_difference(const std::string& name,
                            const std::string& one,
                            const std::string& other,
                            const Names& names) {
  if (name.starts_with(package_label)) {
    return package_difference(name.substr(package_label.size()), one, other, names);
  }
  if (name.starts_with(drift_label)) {
    std::string text = name.substr(drift_label.size()) + ": ";
    if (!one.empty()) text += one + " in " + names.one + (other.empty() ? "" : ", ");
    return other.empty() ? text : text + other + " in " + names.other;
  }
  if (other.empty()) return name + " ('" + one + "') is only in " + names.one;
  if (one.empty()) return name + " ('" + other + "') is only in " + names.other;
  return name + " is '" + one + "' in " + names.one + ", '" + other + "' in " + names.other;
}

std::string fact_of(const LayerLock& lock, const std::string& name) {
  const auto found = lock.facts.find(name);
  return found == lock.facts.end() ? std::string() : found->second;
}

std::vector<std::string> layer_differences(const LayerLock& one, const LayerLock& other) {
  if (one.kind != other.kind) {
    return {"is of kind " + std::string(to_string(one.kind)) + " in the first, " +
            std::string(to_string(other.kind)) + " in the second"};
  }
  std::set<std::string> names;
  for (const LayerLock* lock : {&one, &other}) {
    for (const auto& [name, value] : lock->facts)
      names.insert(name);
  }
  std::vector<std::string> found;
  for (const std::string& name : names) {
    // "before" is the key of the layer before, whose own differences are listed.
    if (name == "before" || fact_of(one, name) == fact_of(other, name)) continue;
    found.push_back(
        fact_difference(name, fact_of(one, name), fact_of(other, name), first_and_second));
  }
  return found;
}

// ---- of runs, whose facets have the facts of all layers in one map

using Items = std::map<std::string, std::string>;

constexpr std::string_view key_label = ".key";

/// Layers by name, with the key of each.
Items keys_of(const Items& items) {
  constexpr std::size_t digits = 64;
  Items keys;
  for (const auto& [name, value] : items) {
    const bool is_key = name.ends_with(key_label) && value.size() == digits &&
                        value.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (is_key) keys[name.substr(0, name.size() - key_label.size())] = value;
  }
  return keys;
}

/// The layer that an item is of, the longest that fits; empty: of none.
std::string layer_of(const std::string& item, const std::set<std::string>& layers) {
  std::string longest;
  for (const std::string& layer : layers) {
    if (layer.size() > longest.size() && item.starts_with(layer + ".")) longest = layer;
  }
  return longest;
}

/// Folders of layers are called by the beginnings of their keys.
std::string without_keys(std::string value, const Items& keys) {
  constexpr std::size_t in_folders = 32;
  for (const auto& [layer, key] : keys) {
    const std::string beginning = key.substr(0, in_folders);
    for (std::size_t at = value.find(beginning); at != std::string::npos;
         at = value.find(beginning, at + 1))
      value.replace(at, beginning.size(), "<" + layer + ">");
  }
  return value;
}

std::string item_difference(const std::string& name,
                            const std::string& one,
                            const std::string& other) {
  if (!name.starts_with(package_label)) return fact_difference(name, one, other, a_and_b);
  const char* const what = other.empty() ? "package removed: "
                           : one.empty() ? "package added: "
                                         : "package changed: ";
  return what + fact_difference(name, one, other, a_and_b);
}

/// Of one item of a layer; empty where it follows from something else.
std::string text_of(const std::string& name,
                    const std::string& layer,
                    const std::string& one,
                    const std::string& other) {
  if (layer.empty()) return fact_difference(name, one, other, a_and_b);
  const std::string fact = name.substr(layer.size() + 1);
  if (fact == "key" || fact == "before") return {};
  return "layer '" + layer + "': " + item_difference(fact, one, other);
}

/// Layers of two environments whose facts are compared one by one.
struct Pairing {
  std::vector<std::optional<std::size_t>> of_first{};  ///< the index in the second
  std::vector<bool> is_taken{};                        ///< of the second's
};

/// A layer that was put in between must not make all after it look like others. So layers of the
/// same name and kind belong together, then those of the same name, then those of the same kind.
Pairing pair_layers(const std::vector<LayerLock>& one, const std::vector<LayerLock>& other) {
  Pairing pairing{std::vector<std::optional<std::size_t>>(one.size()),
                  std::vector<bool>(other.size(), false)};
  const auto pair_where = [&](const auto& belong) {
    for (std::size_t i = 0; i < one.size(); ++i) {
      for (std::size_t j = 0; j < other.size() && !pairing.of_first[i]; ++j) {
        if (pairing.is_taken[j] || !belong(one[i], other[j])) continue;
        pairing.of_first[i] = j;
        pairing.is_taken[j] = true;
      }
    }
  };
  using Layer = const LayerLock&;
  pair_where([](Layer a, Layer b) { return a.name == b.name && a.kind == b.kind; });
  pair_where([](Layer a, Layer b) { return a.name == b.name; });
  pair_where([](Layer a, Layer b) { return a.kind == b.kind; });
  return pairing;
}

std::string names_in_order(const std::vector<LayerLock>& layers) {
  std::string names;
  for (const LayerLock& layer : layers)
    names += (names.empty() ? "" : ", ") + layer.name;
  return names;
}

/// Later layers see the earlier ones, so that their order tells in their keys.
std::optional<std::string> order_difference(const std::vector<LayerLock>& one,
                                            const std::vector<LayerLock>& other,
                                            const Pairing& pairing) {
  std::vector<std::size_t> order;
  for (const auto& index : pairing.of_first)
    if (index) order.push_back(*index);
  if (std::is_sorted(order.begin(), order.end())) return std::nullopt;
  return "the order of the layers is " + names_in_order(one) + " in the first, " +
         names_in_order(other) + " in the second";
}

}  // namespace

std::vector<std::string> environment_differences(const Items& a, const Items& b) {
  if (a == b) return {};
  const Items keys_a = keys_of(a);
  const Items keys_b = keys_of(b);
  std::set<std::string> layers;
  std::set<std::string> names;
  std::vector<std::string> found;
  for (const auto& [of, keys] : {std::pair(&a, &keys_a), std::pair(&b, &keys_b)}) {
    for (const auto& [layer, key] : *keys)
      layers.insert(layer);
    for (const auto& [name, value] : *of)
      names.insert(name);
  }
  for (const std::string& layer : layers) {
    if (keys_a.contains(layer) && keys_b.contains(layer)) continue;
    found.push_back("layer '" + layer + "' is only in " + (keys_a.contains(layer) ? "A" : "B"));
  }
  const auto value_of = [](const Items& items, const std::string& name, const Items& keys) {
    const auto item = items.find(name);
    return item == items.end() ? std::string() : without_keys(item->second, keys);
  };
  for (const std::string& name : names) {
    const std::string layer = layer_of(name, layers);
    if (!layer.empty() && !(keys_a.contains(layer) && keys_b.contains(layer))) continue;
    const std::string one = value_of(a, name, keys_a);
    const std::string other = value_of(b, name, keys_b);
    if (one == other) continue;
    if (std::string text = text_of(name, layer, one, other); !text.empty())
      found.push_back(std::move(text));
  }
  if (found.empty()) found.emplace_back("only the keys of its layers differ");
  return found;
}

std::map<std::string, std::string> drift_facts(const std::vector<std::string>& drift) {
  constexpr std::string_view between = ": ";
  std::map<std::string, std::string> facts;
  for (const std::string& text : drift) {
    const auto at = text.find(between);
    if (at == std::string::npos) continue;
    facts.emplace(std::string(drift_label) + text.substr(0, at), text.substr(at + between.size()));
  }
  return facts;
}

std::vector<std::string> differences(const EnvironmentLock& one, const EnvironmentLock& other) {
  const Pairing pairing = pair_layers(one.layers, other.layers);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < one.layers.size(); ++i) {
    const LayerLock& layer = one.layers[i];
    if (!pairing.of_first[i]) {
      found.push_back("layer '" + layer.name + "' is only in the first");
      continue;
    }
    const LayerLock& its = other.layers[*pairing.of_first[i]];
    std::string name = "layer '" + layer.name + "'";
    if (its.name != layer.name) name += " ('" + its.name + "' in the second)";
    for (const std::string& text : layer_differences(layer, its))
      found.push_back(name + ": " + text);
  }
  for (std::size_t i = 0; i < other.layers.size(); ++i) {
    if (!pairing.is_taken[i])
      found.push_back("layer '" + other.layers[i].name + "' is only in the second");
  }
  if (const auto order = order_difference(one.layers, other.layers, pairing))
    found.push_back(*order);
  return found;
}

std::vector<std::string> BuiltLayer::drift() const {
  if (!packages) return {};
  std::vector<std::string> found;
  std::set<std::string> locked;
  for (const auto& [name, fact] : lock.facts) {
    if (!name.starts_with(package_label)) continue;
    const std::string package = name.substr(package_label.size());
    locked.insert(package);
    const auto present = packages->find(package);
    if (present == packages->end()) {
      found.push_back(package + ": " + version_of(fact) + " was locked, none is present");
    } else if (present->second != version_of(fact)) {
      found.push_back(package + ": " + version_of(fact) + " was locked, " + present->second +
                      " is present");
    }
  }
  for (const auto& [package, version] : *packages) {
    if (!locked.contains(package)) {
      found.push_back(package + ": " + version + " is present and was not locked");
    }
  }
  return found;
}

}  // namespace sabath::spec
