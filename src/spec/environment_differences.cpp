#include <sabath/spec/environment_spec.hpp>

#include <algorithm>
#include <set>

namespace sabath::spec {
namespace {

constexpr std::string_view package_label = "package.";

/// A fact of a package is its version, a blank and the digest of its file.
std::string version_of(const std::string& fact) {
  return fact.substr(0, fact.find(' '));
}

std::string package_difference(const std::string& name,
                               const std::string& one,
                               const std::string& other) {
  if (other.empty()) return name + " " + version_of(one) + " is only in the first";
  if (one.empty()) return name + " " + version_of(other) + " is only in the second";
  if (version_of(one) == version_of(other)) {
    return name + " " + version_of(one) + " comes from two different files";
  }
  return name + " is " + version_of(one) + " in the first, " + version_of(other) + " in the second";
}

std::string fact_difference(const std::string& name,
                            const std::string& one,
                            const std::string& other) {
  if (name.starts_with(package_label)) {
    return package_difference(name.substr(package_label.size()), one, other);
  }
  if (other.empty()) return name + " ('" + one + "') is only in the first";
  if (one.empty()) return name + " ('" + other + "') is only in the second";
  return name + " is '" + one + "' in the first, '" + other + "' in the second";
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
    // "before" is the key of the layer before, whose own differences are told.
    if (name == "before" || fact_of(one, name) == fact_of(other, name)) continue;
    found.push_back(fact_difference(name, fact_of(one, name), fact_of(other, name)));
  }
  return found;
}

}  // namespace

std::vector<std::string> differences(const EnvironmentLock& one, const EnvironmentLock& other) {
  std::vector<std::string> found;
  const std::size_t layers = std::max(one.layers.size(), other.layers.size());
  for (std::size_t i = 0; i < layers; ++i) {
    if (i >= one.layers.size() || i >= other.layers.size()) {
      const bool first = i < one.layers.size();
      const LayerLock& extra = first ? one.layers[i] : other.layers[i];
      found.push_back("layer '" + extra.name + "' is only in the " + (first ? "first" : "second"));
      continue;
    }
    for (const std::string& text : layer_differences(one.layers[i], other.layers[i]))
      found.push_back("layer '" + one.layers[i].name + "': " + text);
  }
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
