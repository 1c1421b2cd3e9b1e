#include "host_facts.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/probe/host_probe.hpp>

#include <algorithm>

namespace sabath::execution {

std::vector<spec::MountFacts> mounts_of(const spec::RunPlan& plan,
                                        const home::RunFiles& files,
                                        const std::filesystem::path& root) {
  std::vector<probe::UsedPath> paths;
  for (const spec::PlannedInput& input : plan.inputs)
    paths.push_back({"input." + input.role, input.copy.empty() ? input.path : input.copy});
  paths.push_back({"run", files.directory()});
  paths.push_back({"cache", plan.cache_directory});
  for (const spec::BuiltLayer& layer : plan.environment.layers) {
    if (!layer.prefix.empty()) paths.push_back({"environment." + layer.lock.name, layer.prefix});
  }
  return probe::look_at_mounts(paths, root);
}

std::vector<std::filesystem::path> json_files_in(const std::filesystem::path& folder,
                                                 std::string_view head) {
  std::vector<std::filesystem::path> files;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(head) && name.ends_with(".json")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<spec::HostFacts> hosts_in(const std::filesystem::path& attempt) {
  std::vector<spec::HostFacts> hosts;
  for (const auto& file : json_files_in(attempt, "host-")) {
    try {
      hosts.push_back(spec::parse_host_facts(base::read_file(file), file.string()));
    } catch (const base::Error&) {
      continue;  // cut off
    }
  }
  return hosts;
}

}  // namespace sabath::execution
