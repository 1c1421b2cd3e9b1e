#include "commands/view/live_parts.hpp"

#include "commands/run/watching.hpp"

#include <sabath/app/index_runs.hpp>
#include <sabath/base/file_stamp.hpp>

#include <memory>

namespace sabath::cli {
namespace {

/// The catalog of the view, opened again where its file was replaced or removed.
struct ViewCatalog {
  app::InboxReader inbox;
  std::unique_ptr<catalog::Catalog> catalog{};
  std::optional<base::FileStamp> opened{};  ///< only the inode counts
};

}  // namespace

live::ViewParts live_parts(Workspace& workspace) {
  live::ViewParts parts;
  parts.folders = workspace.folders();
  const auto own =
      std::make_shared<ViewCatalog>(ViewCatalog{app::InboxReader(parts.folders.runs())});
  parts.catalog = [&workspace, own]() -> catalog::Catalog& {
    const std::filesystem::path file = workspace.folders().catalog();
    const auto now = base::stamp_of(file);
    const bool is_same = now && own->opened && now->inode == own->opened->inode;
    if (own->catalog && is_same) return *own->catalog;
    own->catalog.reset();
    base::make_directories(workspace.folders().home);
    const auto update = [&](catalog::Catalog& catalog) {
      own->inbox.read(catalog, workspace.clock(), workspace.observer());
    };
    own->catalog = app::open_catalog(
        file, workspace.folders().runs(), workspace.clock(), workspace.observer(), {}, update);
    own->opened = base::stamp_of(file);
    return *own->catalog;
  };
  parts.refresh = [&workspace, own] {
    own->inbox.read(*own->catalog, workspace.clock(), workspace.observer());
  };
  parts.documents = [&workspace]() -> const home::Documents& { return workspace.documents(); };
  parts.cache = [&workspace]() -> cache::Cache& { return workspace.cache(); };
  parts.monitor_of = monitor_of(workspace);
  parts.clock = &workspace.clock();
  return parts;
}

}  // namespace sabath::cli
