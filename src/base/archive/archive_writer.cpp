#include "text/utf8_names.hpp"

#include <sabath/base/archive/archive_entry.hpp>
#include <sabath/base/archive/archive_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/base/unique_fd.hpp>

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

using Archive = std::unique_ptr<archive, int (*)(archive*)>;
using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

class Writer {
 public:
  enum class Filter { gzip, zstd };
  Writer(const fs::path& to, int fd, Filter filter)
      : to_(to), archive_(::archive_write_new(), ::archive_write_free) {
    if (!archive_) throw Error(ErrorKind::storage, to_.string() + ": out of memory");
    must(::archive_write_set_format_pax_restricted(archive_.get()));
    if (filter == Filter::gzip) {
      must(::archive_write_add_filter_gzip(archive_.get()));
      must(::archive_write_set_options(archive_.get(), "gzip:!timestamp"));
    } else {
      must(::archive_write_add_filter_zstd(archive_.get()));
    }
    must(::archive_write_open_fd(archive_.get(), fd));
  }

  void add(const fs::path& root, const TreeFile& file) {
    require_acceptable(file);
    const bool is_link = !file.link_target.empty();
    const std::string content = is_link ? std::string() : read_file(root / file.path);
    const Entry entry(::archive_entry_new(), ::archive_entry_free);
    ::archive_entry_set_pathname(entry.get(), file.path.c_str());
    ::archive_entry_set_filetype(entry.get(), is_link ? AE_IFLNK : AE_IFREG);
    ::archive_entry_set_perm(entry.get(), file.executable ? 0755 : 0644);
    if (is_link) ::archive_entry_set_symlink(entry.get(), file.link_target.c_str());
    ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    must(::archive_write_header(archive_.get(), entry.get()));
    if (content.empty()) return;
    const auto written = ::archive_write_data(archive_.get(), content.data(), content.size());
    if (written != static_cast<la_ssize_t>(content.size())) fail();
  }

  /// Begins an entry of this type; its content follows in pieces.
  void begin(const std::string& path,
             unsigned type,
             unsigned mode,
             std::uint64_t size,
             const std::string& hard_link = {},
             const std::string& symbolic_link = {}) {
    const Entry entry(::archive_entry_new(), ::archive_entry_free);
    ::archive_entry_set_pathname(entry.get(), path.c_str());
    ::archive_entry_set_filetype(entry.get(), type);
    ::archive_entry_set_perm(entry.get(), mode);
    ::archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
    if (!hard_link.empty()) ::archive_entry_set_hardlink(entry.get(), hard_link.c_str());
    if (!symbolic_link.empty()) ::archive_entry_set_symlink(entry.get(), symbolic_link.c_str());
    must(::archive_write_header(archive_.get(), entry.get()));
  }
  void put(ByteView bytes) {
    const auto written = ::archive_write_data(archive_.get(), bytes.data(), bytes.size());
    if (written != static_cast<la_ssize_t>(bytes.size())) fail();
  }

  void close() { must(::archive_write_close(archive_.get())); }

 private:
  /// Refuses what extract_archive would refuse.
  static void require_acceptable(const TreeFile& file) {
    const ArchiveLimits limits;
    const auto folders =
        static_cast<std::size_t>(std::count(file.path.begin(), file.path.end(), '/'));
    const char* problem = nullptr;
    if (!is_utf8_without_controls(file.path) || !is_utf8_without_controls(file.link_target))
      problem = "a name that is not printable UTF-8";
    if (file.path.size() > limits.path_length || folders >= limits.depth)
      problem = "too long or too deep a path";
    if (!file.link_target.empty() && !link_stays_beneath(file.link_target, file.path))
      problem = "a link that leads out of the folder";
    if (problem != nullptr) throw Error(ErrorKind::usage, printable(file.path) + ": " + problem);
  }

  void must(int status) const {
    if (status != ARCHIVE_OK) fail();
  }
  [[noreturn]] void fail() const {
    const char* const text = ::archive_error_string(archive_.get());
    throw Error(ErrorKind::storage,
                to_.string() + ": cannot write: " + (text != nullptr ? text : "unknown"));
  }

  const fs::path& to_;
  Utf8Names names_{};
  Archive archive_;
};

/// Packs the entries of one directory, each directory through its descriptor.
class Packer {
 public:
  Packer(Writer& writer, const fs::path& to, Observer& observer, const std::stop_token& stop)
      : writer_(writer), stop_(stop), observer_(observer) {
    progress_.task = "packing " + printable(to.filename().string());
  }

  void add_all(const Directory& directory,
               const std::string& above,
               const std::set<std::string>& left_out) {
    for (const std::string& name : directory.names()) {
      if (above.empty() && left_out.contains(name)) continue;
      const std::string path = above + name;
      if (!is_utf8_without_controls(path)) refuse(directory, name, "its name is not printable");
      const auto status = directory.status_of(name);
      if (!status) refuse(directory, name, "it went away");
      if (S_ISDIR(status->st_mode)) {
        writer_.begin(path, AE_IFDIR, status->st_mode & 0777U, 0);
        add_all(directory.beneath(name), path + "/", left_out);
      } else if (S_ISLNK(status->st_mode)) {
        add_link(directory, name, path);
      } else if (S_ISREG(status->st_mode)) {
        add_file(directory, name, path);
      } else {
        refuse(directory, name, "it is neither a file, a folder nor a link");
      }
    }
  }
  std::vector<ArchiveEntry> take() {
    progress_.finished = true;
    observer_.progress(progress_);
    std::vector<ArchiveEntry> entries;
    for (auto& [path, entry] : entries_)
      entries.push_back(std::move(entry));
    return entries;
  }

 private:
  [[noreturn]] static void refuse(const Directory& directory,
                                  const std::string& name,
                                  const char* problem) {
    throw Error(ErrorKind::usage,
                printable((directory.path() / name).string()) + ": cannot be packed: " + problem,
                "remove or rename it");
  }

  void add_link(const Directory& directory, const std::string& name, const std::string& path) {
    std::string target(PATH_MAX, '\0');
    const ssize_t length = ::readlinkat(directory.fd(), name.c_str(), target.data(), target.size());
    if (length < 0) throw_errno((directory.path() / name).string(), "cannot read", errno);
    target.resize(static_cast<std::size_t>(length));
    if (!is_utf8_without_controls(target)) refuse(directory, name, "its target is not printable");
    writer_.begin(path, AE_IFLNK, 0777, 0, {}, target);
    ArchiveEntry& entry = entries_[path];
    entry.path = path;
    entry.link_target = target;
  }

  void add_file(const Directory& directory, const std::string& name, const std::string& path) {
    const fs::path place = directory.path() / name;
    const UniqueFd file = directory.open_file(name, O_RDONLY | O_NONBLOCK);
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0)
      throw_errno(place.string(), "cannot read", errno);
    ArchiveEntry& entry = entries_[path];
    const auto first = linked_.emplace(std::pair{status.st_dev, status.st_ino}, path);
    if (!first.second) {
      writer_.begin(path, AE_IFREG, 0644, 0, first.first->second);
      entry = entries_[first.first->second];
      entry.path = path;
      return;
    }
    const bool is_executable = (status.st_mode & S_IXUSR) != 0;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    writer_.begin(path, AE_IFREG, status.st_mode & 0777U, size);
    entry = {path, 0, {}, is_executable, {}};
    Hasher hasher;
    while (true) {
      if (stop_.stop_requested()) throw Error(ErrorKind::interrupted, "packing was stopped");
      const ssize_t got = ::read(file.get(), buffer_.data(), buffer_.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_errno(place.string(), "cannot read", errno);
      if (got == 0) break;
      const ByteView bytes = ByteView(buffer_).first(static_cast<std::size_t>(got));
      entry.size_bytes += bytes.size();
      if (entry.size_bytes > size) break;
      writer_.put(bytes);
      hasher.update(bytes);
      progress_.done += bytes.size();
      observer_.progress(progress_);
    }
    if (entry.size_bytes != size)
      throw Error(ErrorKind::storage, place.string() + ": changed while it was packed");
    entry.digest = hasher.finish();
  }

  Writer& writer_;
  const std::stop_token& stop_;
  Observer& observer_;
  Progress progress_{};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1U << 18U);
  std::map<std::pair<dev_t, ino_t>, std::string> linked_{};
  std::map<std::string, ArchiveEntry> entries_{};
};

/// Makes the file, fills it, and makes it durable. Removes it where that fails.
template <class Fill>
void write_new_archive(const fs::path& to, Writer::Filter filter, Fill&& fill) {
  const UniqueFd fd(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) throw_errno(to.string(), "cannot write", errno);
  try {
    Writer writer(to, fd.get(), filter);
    fill(writer);
    writer.close();
    if (::fsync(fd.get()) != 0) throw_errno(to.string(), "cannot make durable", errno);
  } catch (...) {
    std::error_code ignored;
    fs::remove(to, ignored);
    throw;
  }
}

}  // namespace

void write_archive(const fs::path& root, const std::vector<TreeFile>& files, const fs::path& to) {
  write_new_archive(to, Writer::Filter::gzip, [&](Writer& writer) {
    for (const TreeFile& file : files)
      writer.add(root, file);
  });
}

std::vector<ArchiveEntry> pack_directory(const Directory& directory,
                                         const std::set<std::string>& left_out,
                                         const fs::path& to,
                                         Observer& observer,
                                         std::stop_token stop) {
  std::vector<ArchiveEntry> entries;
  write_new_archive(to, Writer::Filter::zstd, [&](Writer& writer) {
    Packer packer(writer, to, observer, stop);
    packer.add_all(directory, "", left_out);
    entries = packer.take();
  });
  return entries;
}

}  // namespace sabath::base
