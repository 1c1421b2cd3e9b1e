#pragma once

#include <sabath/base/clock.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::env {

/// Who uses a layer now: "process 4711". Leases of processes that are gone are removed.
std::vector<std::string> lessees(const std::filesystem::path& key_folder, base::WallTime now);

}  // namespace sabath::env
