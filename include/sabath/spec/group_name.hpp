#pragma once

#include <string>
#include <vector>

namespace sabath::spec {

/// "dropout 0, lr 0.25": a group of runs by the keys that it is made by. The sides of two
/// selections are "A" and "B"; without keys it is "all runs".
std::string group_name(const std::vector<std::string>& by, const std::vector<std::string>& levels);

}  // namespace sabath::spec
