#pragma once

#include "support/errors.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/archive/archive.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <random>

namespace sabath::test {

/// Writes an archive entry by entry, hostile ones too.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(const std::filesystem::path& path,
                         int filter = ARCHIVE_FILTER_NONE,
                         bool zip = false)
      : archive_(archive_write_new(), archive_write_free) {
    if (zip) {
      archive_write_set_format_zip(archive_.get());
    } else {
      archive_write_set_format_pax_restricted(archive_.get());
    }
    archive_write_add_filter(archive_.get(), filter);
    REQUIRE(archive_write_open_filename(archive_.get(), path.c_str()) == ARCHIVE_OK);
  }
  void file(const std::string& path, const std::string& content, unsigned mode = 0644) {
    put(path, AE_IFREG, mode, content);
  }
  void folder(const std::string& path, unsigned mode = 0755) { put(path, AE_IFDIR, mode); }
  void symbolic_link(const std::string& path, const std::string& target) {
    put(path, AE_IFLNK, 0777, {}, [&](archive_entry* entry) {
      archive_entry_set_symlink(entry, target.c_str());
    });
  }
  void hard_link(const std::string& path, const std::string& target) {
    put(path, AE_IFREG, 0644, {}, [&](archive_entry* entry) {
      archive_entry_set_hardlink(entry, target.c_str());
    });
  }
  void special(const std::string& path, unsigned type) { put(path, type, 0666); }
  void close() { REQUIRE(archive_write_close(archive_.get()) == ARCHIVE_OK); }

 private:
  void put(
      const std::string& path,
      unsigned type,
      unsigned mode,
      const std::string& content = {},
      const std::function<void(archive_entry*)>& more = [](archive_entry*) {}) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), path.c_str());
    archive_entry_set_filetype(entry.get(), type);
    archive_entry_set_perm(entry.get(), mode);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    more(entry.get());
    REQUIRE(archive_write_header(archive_.get(), entry.get()) == ARCHIVE_OK);
    REQUIRE(archive_write_data(archive_.get(), content.data(), content.size()) ==
            static_cast<la_ssize_t>(content.size()));
  }

  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

/// A home with an archive's path and an empty folder beside which nothing may ever appear.
struct ArchivePlace {
  ArchivePlace() { std::filesystem::create_directory(destination); }
  std::vector<base::ArchiveEntry> extract(const base::ArchiveLimits& limits = {}) {
    return base::extract_archive(archive, destination, limits, observer);
  }
  base::Error refused(const base::ArchiveLimits& limits = {}) {
    const base::Error error = error_of([&] { extract(limits); });
    CHECK(error.kind() == base::ErrorKind::integrity);
    CHECK(contains(error.what(), archive.string()));
    return error;
  }
  TempHome home;
  std::filesystem::path archive = home / "some archive";
  std::filesystem::path destination = home / "destination";
  RecordingObserver observer;
};

inline std::string noise(std::size_t size) {
  std::mt19937 random(1);
  std::string text(size, '\0');
  for (char& c : text)
    c = static_cast<char>(random() & 0xFFU);
  return text;
}

}  // namespace sabath::test
