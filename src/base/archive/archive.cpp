#include "archive_reader.hpp"
#include "extraction.hpp"
#include "packed_bytes.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <cerrno>
#include <map>

#include <sys/stat.h>

namespace sabath::base {
namespace {

constexpr std::uint64_t progress_step_bytes = 8U << 20U;

/// Tells the observer how much of the packed file has been read, not more often than is of use.
class UnpackProgress {
 public:
  UnpackProgress(const std::filesystem::path& archive, std::uint64_t total, Observer& observer)
      : observer_(observer) {
    progress_.task = "unpacking " + printable(archive.filename().string());
    progress_.total = total;
  }
  void at(std::uint64_t consumed) {
    if (consumed < progress_.done + progress_step_bytes) return;
    progress_.done = consumed;
    observer_.progress(progress_);
  }
  void finish(bool complete) {
    if (complete) progress_.done = progress_.total.value_or(0);
    progress_.finished = true;
    observer_.progress(progress_);
  }

 private:
  Observer& observer_;
  Progress progress_;
};

std::uint64_t size_of_regular_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_errno(path.string(), "cannot unpack", errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::integrity, path.string() + ": cannot be unpacked: not a regular file");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

/// libarchive's name of the filter.
std::string filter_of(std::string_view kind) {
  if (kind == "gz") return "gzip";
  if (kind == "bz2") return "bzip2";
  if (kind == "xz") return "xz";
  if (kind == "zst") return "zstd";
  throw Error(ErrorKind::usage,
              "'" + std::string(kind) + "' is not a known kind of compressed file",
              "known kinds are gz, bz2, xz, zst");
}

}  // namespace

std::vector<ArchiveEntry> extract_archive(const std::filesystem::path& archive,
                                          const std::filesystem::path& destination,
                                          const ArchiveLimits& limits,
                                          Observer& observer,
                                          std::stop_token stop) {
  return extract_archive(
      archive, Directory::open(destination, Links::any), limits, observer, std::move(stop));
}

std::vector<ArchiveEntry> extract_archive(const std::filesystem::path& archive,
                                          const Directory& destination,
                                          const ArchiveLimits& limits,
                                          Observer& observer,
                                          std::stop_token stop) {
  const std::uint64_t packed_bytes = size_of_regular_file(archive);
  UnpackProgress progress(archive, packed_bytes, observer);
  Extraction extraction(archive, destination, limits, packed_bytes);
  ArchiveReader reader(archive);
  const auto check_stop = [&] {
    if (!stop.stop_requested()) return;
    throw Error(ErrorKind::interrupted, archive.string() + ": unpacking was stopped");
  };
  const auto read = [&] {
    check_stop();
    progress.at(reader.consumed_bytes());
    return reader.read();
  };
  try {
    while (const auto entry = reader.next()) {
      check_stop();
      extraction.put(*entry, read);
    }
  } catch (...) {
    progress.finish(false);
    throw;
  }
  progress.finish(true);
  if (!extraction.case_clash().empty()) {
    observer.warn(printable(archive.filename().string()) + ":" + extraction.case_clash() +
                      ": another entry has the same name but for upper and lower case",
                  "where file systems do not tell them apart, one of them would be lost");
  }
  return extraction.take_entries();
}

std::vector<ArchiveEntry> read_archive(const std::filesystem::path& archive,
                                       Observer& observer,
                                       std::stop_token stop) {
  UnpackProgress progress(archive, size_of_regular_file(archive), observer);
  ArchiveReader reader(archive);
  std::map<std::string, ArchiveEntry> entries;
  try {
    while (const auto stated = reader.next()) {
      using Kind = StatedEntry::Kind;
      if (stated->kind == Kind::folder) continue;
      ArchiveEntry& entry = entries[stated->path];
      if (stated->kind == Kind::hard_link) entry = entries[stated->link_target];
      entry.path = stated->path;
      if (stated->kind == Kind::symbolic_link) entry.link_target = stated->link_target;
      if (stated->kind != Kind::file) continue;
      Hasher hasher;
      for (ByteView bytes = reader.read(); !bytes.empty(); bytes = reader.read()) {
        if (stop.stop_requested())
          throw Error(ErrorKind::interrupted, archive.string() + ": reading was stopped");
        progress.at(reader.consumed_bytes());
        entry.size_bytes += bytes.size();
        hasher.update(bytes);
      }
      entry.digest = hasher.finish();
      entry.executable = stated->executable;
    }
  } catch (...) {
    progress.finish(false);
    throw;
  }
  progress.finish(true);
  std::vector<ArchiveEntry> sorted;
  for (auto& [path, entry] : entries)
    sorted.push_back(std::move(entry));
  return sorted;
}

void decompress_file(const std::filesystem::path& packed,
                     std::string_view kind,
                     const std::function<void(ByteView)>& write,
                     const ArchiveLimits& limits,
                     Observer& observer,
                     std::stop_token stop) {
  const std::string filter = filter_of(kind);
  const std::uint64_t packed_bytes = size_of_regular_file(packed);
  const auto refuse = [&](const std::string& cause, const std::string& hint = {}) {
    throw Error(ErrorKind::integrity, packed.string() + ": cannot be unpacked: " + cause, hint);
  };
  if (packed_bytes == 0) refuse("it is not a " + filter + " file");
  UnpackProgress progress(packed, packed_bytes, observer);
  try {
    const auto plain = PackedBytes::open(packed);
    if (plain->compression() != filter) refuse("it is not a " + filter + " file");
    std::uint64_t size = 0;
    for (ByteView bytes = plain->read(); !bytes.empty(); bytes = plain->read()) {
      if (stop.stop_requested()) {
        throw Error(ErrorKind::interrupted, packed.string() + ": unpacking was stopped");
      }
      size += bytes.size();
      const bool is_bomb = size > limits.ratio_floor_bytes &&
                           size / limits.ratio > std::max<std::uint64_t>(packed_bytes, 1);
      if (size > limits.total_bytes || is_bomb) {
        refuse("it grows from " + format_bytes(packed_bytes) + " to more than " +
                   format_bytes(size > limits.total_bytes ? limits.total_bytes
                                                          : std::max(packed_bytes * limits.ratio,
                                                                     limits.ratio_floor_bytes)) +
                   " when it is unpacked",
               limits.hint);
      }
      write(bytes);
      progress.at(plain->consumed_bytes());
    }
  } catch (...) {
    progress.finish(false);
    throw;
  }
  progress.finish(true);
}

}  // namespace sabath::base
