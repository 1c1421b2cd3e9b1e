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
#include <memory>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

using Archive = std::unique_ptr<archive, int (*)(archive*)>;
using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

class Writer {
 public:
  Writer(const fs::path& to, int fd)
      : to_(to), archive_(::archive_write_new(), ::archive_write_free) {
    if (!archive_) throw Error(ErrorKind::storage, to_.string() + ": out of memory");
    must(::archive_write_set_format_pax_restricted(archive_.get()));
    must(::archive_write_add_filter_gzip(archive_.get()));
    must(::archive_write_set_options(archive_.get(), "gzip:!timestamp"));
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

}  // namespace

void write_archive(const fs::path& root, const std::vector<TreeFile>& files, const fs::path& to) {
  const UniqueFd fd(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) throw_errno(to.string(), "cannot write", errno);
  try {
    Writer writer(to, fd.get());
    for (const TreeFile& file : files)
      writer.add(root, file);
    writer.close();
    if (::fsync(fd.get()) != 0) throw_errno(to.string(), "cannot make durable", errno);
  } catch (...) {
    std::error_code ignored;
    fs::remove(to, ignored);
    throw;
  }
}

}  // namespace sabath::base
