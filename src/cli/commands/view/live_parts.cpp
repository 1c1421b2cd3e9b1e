#include "commands/view/live_parts.hpp"

#include "commands/run/watching.hpp"

#include <sabath/base/file_stamp.hpp>

#include <cstdint>
#include <memory>

namespace sabath::cli {
namespace {

/// Returns 0 for a missing file.
std::uint64_t inode_of(const std::filesystem::path& file) {
  const auto stamp = base::stamp_of(file);
  return stamp ? stamp->inode : 0;
}

}  // namespace

live::ViewParts live_parts(Workspace& workspace) {
  live::ViewParts parts;
  parts.folders = workspace.folders();
  const auto opened = std::make_shared<std::uint64_t>(0);
  parts.catalog = [&workspace, opened]() -> catalog::Catalog& {
    const std::uint64_t file = inode_of(workspace.folders().catalog());
    if (file == 0 || file != *opened) workspace.close_catalog();
    catalog::Catalog& catalog = workspace.catalog();
    *opened = inode_of(workspace.folders().catalog());
    return catalog;
  };
  parts.refresh = [&workspace] { workspace.refresh_catalog(); };
  parts.documents = [&workspace]() -> const home::Documents& { return workspace.documents(); };
  parts.cache = [&workspace]() -> cache::Cache& { return workspace.cache(); };
  parts.monitor_of = monitor_of(workspace);
  parts.clock = &workspace.clock();
  return parts;
}

}  // namespace sabath::cli
