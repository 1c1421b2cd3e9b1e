#pragma once

#include <map>
#include <string>
#include <vector>

namespace sabath::spec {

/// Says in words how the environments of two runs, A and B, differ. Reads the items of their
/// facets. Names packages that were added, removed or changed, other facts, variables, and layers
/// that only one has. Keys follow from these, so they are listed only where nothing else differs.
/// Of variables only those that do not follow from a key are listed. Empty where nothing differs.
std::vector<std::string> environment_differences(const std::map<std::string, std::string>& a,
                                                 const std::map<std::string, std::string>& b);

/// What BuiltLayer::drift tells, as facts of the layer: "drift.numpy" -> "1.0 was locked, 2.0 is
/// present".
std::map<std::string, std::string> drift_facts(const std::vector<std::string>& drift);

}  // namespace sabath::spec
