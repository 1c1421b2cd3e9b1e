#include "extraction.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> components;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    if (!component.empty() && component != ".") components.push_back(component);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return components;
}

/// Passes over a block of zeros, which becomes a hole. False for anything else.
bool is_hole(int file, ByteView bytes) {
  constexpr std::size_t least = 4096;
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  return bytes.size() >= least && std::ranges::all_of(bytes, is_zero) &&
         ::lseek(file, static_cast<off_t>(bytes.size()), SEEK_CUR) >= 0;
}

std::size_t depth_of(std::string_view path) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

}  // namespace

ArchiveLimits own_archive_limits() {
  ArchiveLimits limits;
  limits.entries = std::numeric_limits<std::uint64_t>::max();
  limits.total_bytes = std::numeric_limits<std::uint64_t>::max();
  limits.ratio = std::numeric_limits<std::uint64_t>::max();
  limits.path_length = 1U << 16U;
  limits.depth = 1U << 12U;
  limits.is_own = true;
  return limits;
}

bool link_stays_beneath(std::string_view target, std::string_view path) {
  if (target.empty() || target.front() == '/') return false;
  std::size_t up = 0;
  bool named = false;
  for (const std::string_view component : components_of(target)) {
    if (component != "..") {
      named = true;
    } else if (named || ++up > depth_of(path)) {
      return false;
    }
  }
  return true;
}

Extraction::Extraction(const fs::path& archive,
                       const Directory& destination,
                       const ArchiveLimits& limits,
                       std::uint64_t packed_bytes)
    : archive_(archive),
      destination_(destination.path()),
      limits_(limits),
      packed_bytes_(packed_bytes),
      root_(::openat(destination.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!root_) throw_errno(destination_.string(), "cannot open", errno);
}

void Extraction::put(const StatedEntry& stated, const std::function<ByteView()>& read) {
  if (++seen_ > limits_.entries) {
    refuse(stated, "the archive has more than " + std::to_string(limits_.entries) + " entries");
  }
  const std::string path = safe_path(stated, stated.path);
  if (stated.kind == StatedEntry::Kind::folder) {
    open_folder(stated, path);
    if (limits_.is_own && !path.empty()) own_folders_.emplace_back(path, stated.mode);
    return;
  }
  if (path.empty()) refuse(stated, "it has no name");
  note_case(path);
  switch (stated.kind) {
    case StatedEntry::Kind::file:
      return put_file(stated, path, read);
    case StatedEntry::Kind::symbolic_link:
      return put_symbolic_link(stated, path);
    case StatedEntry::Kind::hard_link:
      return put_hard_link(stated, path);
    case StatedEntry::Kind::folder:
    case StatedEntry::Kind::other:
      refuse(stated, "it is neither a file, a folder nor a link");
  }
}

std::string Extraction::safe_path(const StatedEntry& stated, const std::string& path) const {
  if (path.starts_with('/')) refuse(stated, "the path is absolute");
  // Paths go into manifests, which are JSON.
  if (!is_utf8_without_controls(path)) refuse(stated, "the path is not printable UTF-8");
  if (path.size() > limits_.path_length) {
    refuse(stated, "the path is longer than " + std::to_string(limits_.path_length) + " bytes");
  }
  const auto components = components_of(path);
  if (components.size() > limits_.depth) {
    refuse(stated, "the path is deeper than " + std::to_string(limits_.depth) + " folders");
  }
  std::string safe;
  for (const std::string_view component : components) {
    if (component == "..") refuse(stated, "the path leads out of its folder");
    if (!safe.empty()) safe += '/';
    safe += component;
  }
  return safe;
}

Extraction::Place Extraction::place_of(const StatedEntry& stated, const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {root_.get(), path};
  open_folder(stated, path.substr(0, slash));
  return {folder_.get(), path.substr(slash + 1)};
}

void Extraction::open_folder(const StatedEntry& stated, const std::string& path) {
  if (path.empty() || (folder_ && path == folder_path_)) return;
  UniqueFd folder;
  for (const std::string_view component : components_of(path)) {
    folder = make_or_open(stated, folder ? folder.get() : root_.get(), std::string(component));
  }
  folder_ = std::move(folder);
  folder_path_ = path;
}

UniqueFd Extraction::make_or_open(const StatedEntry& stated,
                                  int parent,
                                  const std::string& name) const {
  const bool made = ::mkdirat(parent, name.c_str(), 0755) == 0;
  if (!made && errno != EEXIST) fail(stated, errno);
  UniqueFd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && (errno == ENOTDIR || errno == ELOOP)) {
    refuse(stated, "it would be written through '" + name + "', which is a link or a file");
  }
  if (!folder || (made && ::fchmod(folder.get(), 0755) != 0)) fail(stated, errno);
  return folder;
}

void Extraction::put_file(const StatedEntry& stated,
                          const std::string& path,
                          const std::function<ByteView()>& read) {
  count_bytes(stated, stated.size.value_or(0));
  const Place place = place_of(stated, path);
  UniqueFd file(::openat(place.folder,
                         place.name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         0644));
  if (!file) fail(stated, errno);
  if (::fchmod(file.get(), stated.executable ? 0755 : 0644) != 0) fail(stated, errno);
  Hasher hasher;
  std::uint64_t size = 0;
  for (ByteView bytes = read(); !bytes.empty(); bytes = read()) {
    size += bytes.size();
    count_bytes(stated, size);
    if (!limits_.is_own || !is_hole(file.get(), bytes))
      write_all(file.get(), bytes, destination_ / path);
    hasher.update(bytes);
  }
  if (limits_.is_own) finish_own(stated, file.get(), size);
  if (stated.size && size != *stated.size) {
    refuse(stated,
           "it has " + std::to_string(size) + " bytes, not " + std::to_string(*stated.size));
  }
  if (::close(file.release()) != 0) fail(stated, errno);
  written_bytes_ += size;
  entries_[path] = {path, size, hasher.finish(), stated.executable, {}};
}

void Extraction::finish_own(const StatedEntry& stated, int file, std::uint64_t size) const {
  const bool is_done =
      ::ftruncate(file, static_cast<off_t>(size)) == 0 && ::fchmod(file, stated.mode) == 0;
  if (!is_done) fail(stated, errno);
}

void Extraction::put_symbolic_link(const StatedEntry& stated, const std::string& path) {
  const std::string& target = stated.link_target;
  if (!limits_.is_own && !link_stays_beneath(target, path)) {
    refuse(stated, "it is a link to '" + target + "', which may lead out of the folder");
  }
  if (!is_utf8_without_controls(target)) refuse(stated, "its target is not printable UTF-8");
  const Place place = place_of(stated, path);
  if (::symlinkat(target.c_str(), place.folder, place.name.c_str()) != 0) fail(stated, errno);
  ArchiveEntry entry;
  entry.path = path;
  entry.link_target = target;
  entries_[path] = entry;
}

void Extraction::put_hard_link(const StatedEntry& stated, const std::string& path) {
  const std::string target = safe_path(stated, stated.link_target);
  const auto found = entries_.find(target);
  if (found == entries_.end() || !found->second.link_target.empty()) {
    refuse(stated,
           "it is a hard link to '" + target + "', which is not an earlier file of the archive");
  }
  ArchiveEntry entry = found->second;
  entry.path = path;
  // Both places are needed at once, and `place_of` keeps only one folder open.
  const Place from = place_of(stated, target);
  const UniqueFd from_folder(::fcntl(from.folder, F_DUPFD_CLOEXEC, 0));
  const Place to = place_of(stated, path);
  if (::linkat(from_folder.get(), from.name.c_str(), to.folder, to.name.c_str(), 0) != 0) {
    fail(stated, errno);
  }
  entries_[path] = entry;
}

/// Letters beyond ASCII are left as they are: what is the same there depends on the file system.
void Extraction::note_case(const std::string& path) {
  std::string folded = path;
  std::transform(folded.begin(), folded.end(), folded.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (folded_.insert(std::hash<std::string>()(folded)).second || !case_clash_.empty()) return;
  case_clash_ = path;
}

void Extraction::count_bytes(const StatedEntry& stated, std::uint64_t size_bytes) const {
  const std::uint64_t left = limits_.total_bytes - std::min(limits_.total_bytes, written_bytes_);
  if (size_bytes > left) {
    refuse(
        stated, "the archive holds more than " + format_bytes(limits_.total_bytes), limits_.hint);
  }
  const std::uint64_t total = written_bytes_ + size_bytes;
  if (total > limits_.ratio_floor_bytes &&
      total / limits_.ratio > std::max<std::uint64_t>(packed_bytes_, 1)) {
    refuse(stated,
           "the archive grows to more than " + std::to_string(limits_.ratio) + " times its size (" +
               format_bytes(packed_bytes_) + ") when it is unpacked",
           limits_.hint);
  }
}

std::vector<ArchiveEntry> Extraction::take_entries() {
  // Last: into a folder that is write-protected nothing can be unpacked.
  for (auto folder = own_folders_.rbegin(); folder != own_folders_.rend(); ++folder) {
    if (::fchmodat(root_.get(), folder->first.c_str(), folder->second, 0) != 0)
      throw_errno((destination_ / folder->first).string(), "cannot set its mode", errno);
  }
  std::vector<ArchiveEntry> entries;
  entries.reserve(entries_.size());
  for (auto& [path, entry] : entries_)
    entries.push_back(std::move(entry));
  entries_.clear();
  return entries;
}

void Extraction::refuse(const StatedEntry& stated,
                        const std::string& cause,
                        const std::string& hint) const {
  throw Error(ErrorKind::integrity,
              printable(archive_.string() + ":" + stated.path + ": cannot be unpacked: " + cause),
              hint);
}

void Extraction::fail(const StatedEntry& stated, int code) const {
  if (code == EEXIST) refuse(stated, "the archive holds it twice");
  if (code == ENAMETOOLONG) refuse(stated, "a name in it is too long");
  throw_errno((destination_ / fs::path(printable(stated.path)).relative_path()).string(),
              "cannot write",
              code);
}

}  // namespace sabath::base
