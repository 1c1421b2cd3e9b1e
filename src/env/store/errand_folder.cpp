#include "errand_folder.hpp"

#include "key_folder.hpp"
#include "prefix.hpp"

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

constexpr std::string_view beginning = ".errand-";
/// No name of a layer, of which each has a folder beside it.
constexpr std::string_view owner_file = ".process";
/// For a process that cannot be seen, and for a folder that does not say whose it is.
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

/// The folder above, made, and without what is abandoned.
const fs::path& swept(const fs::path& root, base::WallTime now) {
  make_own_folder(root);
  for (const fs::path& folder : abandoned_errands(root, now))
    base::remove_own_tree(folder);  // another user's stays
  return root;
}

fs::path made(const fs::path& root) {
  const base::Directory folder = base::Beneath::anywhere().directory(root);
  int code = EEXIST;
  for (int tries = 0; tries < 16 && code == EEXIST; ++tries) {
    const std::string name = std::string(beginning) + std::to_string(std::random_device{}());
    code = folder.make(name, 0700);
    if (code == 0) return root / name;
  }
  base::throw_errno(root.string(), "cannot make a temporary folder", code);
}

}  // namespace

ErrandFolder::ErrandFolder(const fs::path& root, base::WallTime now)
    : path_(made(swept(root, now))) {
  base::Beneath::anywhere().write_atomically(
      path() / owner_file, base::ProcessIdentity::current().text(), base::Durability::ordered_only);
}

ErrandFolder::~ErrandFolder() {
  base::remove_own_tree(path_);
}

std::vector<fs::path> abandoned_errands(const fs::path& root, base::WallTime now) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator at(root, code); !code && at != fs::directory_iterator();
       at.increment(code)) {
    const std::string name = at->path().filename().string();
    std::error_code gone;
    if (!name.starts_with(beginning) || !fs::is_directory(at->symlink_status(gone))) continue;
    try {
      if (is_abandoned(at->path(), now)) found.push_back(at->path());
    } catch (const base::Error&) {
      continue;  // another user's: not to be read
    }
  }
  return found;
}

}  // namespace sabath::env
