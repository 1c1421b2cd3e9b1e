#include "partial_tree_folder.hpp"

#include "objects/file_status.hpp"
#include "partials/attempt_folder.hpp"
#include "partials/partial_checks.hpp"
#include "tree_files.hpp"
#include "tree_store.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <utility>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using base::ArchiveEntry;
using base::Error;
using base::ErrorKind;

/// Hashes files with one thread per core. Returns nothing in the place of one that is not a regular
/// file or cannot be read. Does not follow links.
std::vector<std::optional<HashedFile>> hash_files(const std::vector<fs::path>& files) {
  std::vector<std::optional<HashedFile>> hashed(files.size());
  base::for_each_in_parallel(files.size(), [&](std::size_t i) {
    try {
      const auto status = link_status(files[i]);
      if (status && S_ISREG(status->st_mode)) hashed[i] = hash_file(files[i]);
    } catch (const Error&) {
      // As for a missing file.
    }
  });
  return hashed;
}

/// One unreadable file counts as missing. Where all are unreadable, their content is unknown.
void check_readable(const fs::path& shown,
                    const fs::path& folder,
                    const std::vector<fs::path>& paths,
                    const std::vector<std::optional<HashedFile>>& digests) {
  const auto is_read = [](const auto& digest) { return digest.has_value(); };
  if (std::ranges::any_of(digests, is_read)) return;
  for (const fs::path& path : paths) {
    if (link_status(path))
      throw Error(ErrorKind::storage,
                  (shown / path.lexically_relative(folder)).string() + ": cannot be read");
  }
}

/// Returns the files of the journal that the disk still has. Removes all others. Reads beneath the
/// open folder: others could exchange the folders above.
FinishedFiles adopted_files(const Attempt& owner) {
  const fs::path& attempt = owner.folder();
  make_writable(owner.beneath(), attempt / attempt_tree);
  const FinishedFiles noted = read_tree_journal(owner.beneath(), attempt / attempt_tree_journal);
  const base::Directory open = owner.beneath().directory(attempt);
  const fs::path tree = "/proc/self/fd/" + std::to_string(open.fd()) + "/" + attempt_tree;
  std::vector<fs::path> paths;
  for (const auto& [path, file] : noted)
    paths.push_back(tree / path);
  const auto digests = hash_files(paths);
  check_readable(attempt / attempt_tree, tree, paths, digests);
  FinishedFiles files;
  std::size_t i = 0;
  for (const auto& [path, file] : noted) {
    const auto& actual = digests[i++];
    if (actual && actual->digest == file.digest) files.emplace(path, file);
  }
  std::vector<fs::path> strangers;
  std::error_code code;
  for (fs::recursive_directory_iterator it(tree, code), end; !code && it != end;
       it.increment(code)) {
    if (it->is_directory(code) && !it->is_symlink(code)) continue;
    if (!files.contains(it->path().lexically_relative(tree).string()))
      strangers.push_back(attempt / attempt_tree / it->path().lexically_relative(tree));
  }
  for (const fs::path& stranger : strangers)
    owner.beneath().remove_tree(stranger);
  return files;
}

/// Lists what a tool wrote as a tree has it. Throws Error{integrity} for anything but regular files
/// and links that stay beneath, Error{storage}.
std::vector<ArchiveEntry> entries_beneath(const fs::path& folder) {
  std::vector<ArchiveEntry> entries;
  std::vector<fs::path> files;
  std::vector<std::size_t> places;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder)) {
    const fs::file_status status = file.symlink_status();
    if (fs::is_directory(status)) continue;
    ArchiveEntry entry;
    entry.path = file.path().lexically_relative(folder).string();
    if (fs::is_symlink(status)) {
      entry.link_target = fs::read_symlink(file.path()).string();
      if (!base::link_stays_beneath(entry.link_target, entry.path)) {
        throw Error(ErrorKind::integrity,
                    file.path().string() + ": is a link that leaves its tree: to '" +
                        base::printable(entry.link_target) + "'");
      }
    } else if (fs::is_regular_file(status)) {
      entry.executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
      files.push_back(file.path());
      places.push_back(entries.size());
    } else {
      throw Error(ErrorKind::integrity,
                  base::printable(file.path().string()) + ": is neither a file nor a link");
    }
    entries.push_back(std::move(entry));
  }
  const auto digests = hash_files(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!digests[i]) {
      throw Error(ErrorKind::storage, base::printable(files[i].string()) + ": cannot be read");
    }
    entries[places[i]].digest = digests[i]->digest;
    entries[places[i]].size_bytes = static_cast<std::uint64_t>(digests[i]->status.st_size);
  }
  return entries;
}

}  // namespace

PartialTreeFolder::PartialTreeFolder(const Layout& layout, Attempt attempt)
    : layout_(layout),
      attempt_(std::move(attempt)),
      tree_(attempt_.folder() / attempt_tree),
      single_borrowed_(attempt_.folder() / "single"),
      folder_(tree_),
      finished_(adopted_files(attempt_)),
      journal_(attempt_.beneath(),
               attempt_.folder() / attempt_tree_journal,
               tree_journal_text(finished_)),
      writer_(journal_) {
  attempt_.beneath().make_directories(folder_);
  attempt_.discard_at_end();
}

PartialTreeFolder::~PartialTreeFolder() {
  writer_.end();
  const bool is_empty = finished_.empty() && !may_have_borrowed_folders(attempt_.folder());
  open_.clear();
  if (!is_discarded_ && !is_empty) attempt_.leave();
}

std::optional<FinishedFile> PartialTreeFolder::finished(const std::string& path) const {
  const auto found = finished_.find(path);
  return found == finished_.end() ? std::nullopt : std::optional(found->second);
}

void PartialTreeFolder::check_free(const std::string& path) const {
  check_tree_path(path);
  if (finished_.contains(path) || open_.contains(path) || objects_.contains(path)) {
    throw Error(ErrorKind::usage, path + ": is a file of this tree already");
  }
}

void PartialTreeFolder::make_folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  if (parent.empty() || folders_.contains(parent.string())) return;
  attempt_.beneath().make_directories(tree_ / parent);
  folders_.insert(parent.string());
}

base::PartialFile& PartialTreeFolder::open(const std::string& path,
                                           const std::vector<base::Digest>& expected) {
  check_free(path);
  make_folder_of(path);
  OpenFile& opened = open_[path];
  opened.expected = expected;
  opened.file = std::make_unique<SmallFile>(
      attempt_.beneath(), tree_ / path, path, single_borrowed_, expected);
  return *opened.file;
}

std::unique_ptr<SmallFile> PartialTreeFolder::completed(const std::string& path,
                                                        FinishedFile& finished) {
  auto node = open_.extract(path);
  if (node.empty()) throw Error(ErrorKind::internal, path + ": is not being written");
  std::unique_ptr<SmallFile> file = std::move(node.mapped().file);
  const auto digests = file->finish();
  try {
    check_digests(path, digests, node.mapped().expected);
  } catch (const Error&) {
    attempt_.beneath().remove_tree(tree_ / path);
    throw;
  }
  finished.size_bytes = file->size_bytes();
  finished.digest = digests.front();
  return file;
}

FinishedFile PartialTreeFolder::finish(const std::string& path, const std::string& url) {
  FinishedFile finished{0, {}, url};
  const auto file = completed(path, finished);
  writer_.settle();
  file->put();
  journal_.append(finished_lines({{path, finished}}));
  finished_.emplace(path, finished);
  return finished;
}

FinishedFile PartialTreeFolder::finish_soon(const std::string& path, const std::string& url) {
  FinishedFile finished{0, {}, url};
  auto file = completed(path, finished);
  writer_.put(path, std::move(file), finished);
  finished_.emplace(path, finished);
  return finished;
}

void PartialTreeFolder::abandon(const std::string& path) {
  open_.erase(path);
  if (!finished_.contains(path)) return;
  writer_.settle();
  finished_.erase(path);
  attempt_.beneath().remove_tree(tree_ / path);
}

void PartialTreeFolder::add(const std::string& path, const Object& object) {
  check_free(path);
  objects_.emplace(path, object);
}

fs::path PartialTreeFolder::lend(std::string_view borrower) {
  folder_ = borrowed_folder(attempt_.folder(), borrower);
  attempt_.beneath().make_directories(folder_);
  make_writable(attempt_.beneath(), folder_);
  is_borrowed_ = true;
  return folder_;
}

std::vector<ArchiveEntry> PartialTreeFolder::seal() {
  writer_.settle();
  if (is_borrowed_) return entries_beneath(folder_);
  if (!open_.empty()) {
    throw Error(ErrorKind::integrity, open_.begin()->first + ": is still being written");
  }
  std::map<std::string, Object> all = objects_;
  for (const auto& [path, file] : finished_)
    all.emplace(path, Object{file.digest, file.size_bytes, tree_ / path});
  auto entries = entries_of(all);
  fill_tree(layout_, attempt_.beneath(), folder_, layout_.trees() / "new", objects_);
  return entries;
}

}  // namespace sabath::cache
