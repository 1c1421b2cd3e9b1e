#pragma once

#include <map>
#include <string>
#include <vector>

namespace sabath::spec {

/// In words what makes the environments of two runs, A and B, differ, of the items of their facets:
/// packages that were added, removed or changed, other facts, variables, and layers that only one
/// has. Keys, which follow from these, are not told, unless nothing else differs; and of variables
/// only what does not follow from a key. Empty where nothing differs.
std::vector<std::string> environment_differences(const std::map<std::string, std::string>& a,
                                                 const std::map<std::string, std::string>& b);

/// What BuiltLayer::drift tells, as facts of the layer: "drift.numpy" -> "1.0 was locked, 2.0 is
/// present".
std::map<std::string, std::string> drift_facts(const std::vector<std::string>& drift);

}  // namespace sabath::spec
