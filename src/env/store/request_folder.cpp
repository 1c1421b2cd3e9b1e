#include "request_folder.hpp"

#include "key_folder.hpp"
#include "prefix_files.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/process/process_identity.hpp>

#include <cerrno>
#include <random>
#include <string>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view beginning = ".request-";
/// Not a name of a layer: each layer has a folder beside this file.
constexpr std::string_view owner_file = ".process";
/// For a process that cannot be seen, and for a folder without this file.
constexpr auto abandoned_after = std::chrono::hours(24 * 7);
constexpr auto patience_with_nameless = std::chrono::hours(24);

bool is_abandoned(const fs::path& folder, base::WallTime now) {
  const fs::path file = folder / owner_file;
  const auto text = base::read_file_if_exists(file);
  const auto process = base::ProcessIdentity::parse(text.value_or(""));
  if (!process) return is_older(folder, now - patience_with_nameless);
  const auto liveness = base::liveness_of(*process);
  if (liveness != base::Liveness::unknown) return liveness == base::Liveness::gone;
  return is_older(file, now - abandoned_after);
}

/// Makes the folder above and removes abandoned folders in it.
const fs::path& swept(const fs::path& root, base::WallTime now) {
  make_own_folder(root);
  for (const fs::path& folder : abandoned_request_folders(root, now))
    base::remove_own_tree(folder);  // folders of other users stay
  return root;
}

fs::path made(const fs::path& root) {
  const base::Directory folder = base::Beneath::anywhere().directory(root);
  int code = EEXIST;
  for (int tries = 0; tries < 16 && code == EEXIST; ++tries) {
    const std::string name = std::string(beginning) + std::to_string(std::random_device{}());
    code = base::make_marked(folder, name, 0700);
    if (code == 0) return root / name;
  }
  base::throw_errno(root.string(), "cannot make a temporary folder", code);
}

}  // namespace

RequestFolder::RequestFolder(const fs::path& root, base::WallTime now)
    : path_(made(swept(root, now))) {
  base::Beneath::anywhere().write_atomically(
      path() / owner_file, base::ProcessIdentity::current().text(), base::Durability::ordered_only);
}

RequestFolder::~RequestFolder() {
  base::remove_own_tree(path_);
}

std::vector<fs::path> abandoned_request_folders(const fs::path& root, base::WallTime now) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : entries_in(root)) {
    const std::string name = entry.path().filename().string();
    std::error_code gone;
    // Older versions gave them another name.
    const bool is_request = name.starts_with(beginning) ||
                            (name.starts_with('.') && fs::exists(entry.path() / owner_file, gone));
    if (!is_request || !fs::is_directory(entry.symlink_status(gone))) continue;
    try {
      if (is_abandoned(entry.path(), now)) found.push_back(entry.path());
    } catch (const base::Error&) {
      continue;  // another user's folder: not readable
    }
  }
  return found;
}

}  // namespace sabath::env
