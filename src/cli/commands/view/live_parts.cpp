#include "commands/view/live_parts.hpp"

#include "commands/run/watching.hpp"

namespace sabath::cli {

live::ViewParts live_parts(Workspace& workspace) {
  live::ViewParts parts;
  parts.folders = workspace.folders();
  parts.catalog = [&workspace]() -> catalog::Catalog& { return workspace.catalog_now(); };
  parts.refresh = [&workspace] { workspace.refresh_catalog(); };
  parts.documents = [&workspace]() -> const home::Documents& { return workspace.documents(); };
  parts.cache = [&workspace]() -> cache::Cache& { return workspace.cache(); };
  parts.monitor_of = monitor_of(workspace);
  parts.clock = &workspace.clock();
  return parts;
}

}  // namespace sabath::cli
