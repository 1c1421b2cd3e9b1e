#include "copied_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <functional>
#include <system_error>
#include <utility>
#include <vector>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Content of a directory's copy. Links are followed, since a copy needs nothing else. The
/// exception are links to a directory that is copied anyway.
class CopyList {
 public:
  struct Entry {
    enum class Kind { folder, file, link };
    Kind kind = Kind::file;
    fs::path from{};  ///< what a link of the copy leads to
    fs::path to{};
  };
  using Visit = std::function<void(const Entry&)>;

  CopyList(const fs::path& source, const fs::path& copy, const Visit& visit) : visit_(visit) {
    if (fs::is_regular_file(source)) {
      visit_({Entry::Kind::file, source, copy});
    } else {
      roots_.emplace_back(fs::canonical(source), copy);
      add_folder(source, copy);
    }
  }

 private:
  void add_folder(const fs::path& from, const fs::path& to) {
    visit_({Entry::Kind::folder, from, to});
    for (const auto& entry : fs::directory_iterator(from)) {
      std::error_code code;
      const fs::file_status status = entry.status(code);
      // A link that leads nowhere, or to itself, leads nowhere in the copy either.
      const bool is_nothing = status.type() == fs::file_type::not_found ||
                              code == std::errc::too_many_symbolic_link_levels;
      if (is_nothing) continue;
      if (code) throw fs::filesystem_error("cannot be looked at", entry.path(), code);
      const fs::path own = to / entry.path().filename();
      if (fs::is_regular_file(status)) visit_({Entry::Kind::file, entry.path(), own});
      if (!fs::is_directory(status)) continue;
      if (entry.is_symlink()) {
        follow(entry.path(), own);
      } else {
        add_folder(entry.path(), own);
      }
    }
  }

  void follow(const fs::path& link, const fs::path& own) {
    const fs::path target = fs::canonical(link);
    for (const auto& [root, copy] : roots_) {
      if (!base::is_beneath(target, root)) continue;
      const fs::path inside = target.lexically_relative(root);
      const fs::path there = inside == "." ? copy : copy / inside;
      return visit_({Entry::Kind::link, there.lexically_relative(own.parent_path()), own});
    }
    roots_.emplace_back(target, own);
    add_folder(link, own);
  }

  const Visit& visit_;
  std::vector<std::pair<fs::path, fs::path>> roots_{};  ///< without links -> its copy
};

void copy_one(const fs::path& source, const fs::path& copy) {
  fs::copy_file(source, copy);
  if (fs::file_size(source) == fs::file_size(copy)) return;
  throw Error(ErrorKind::storage, copy.string() + ": is not as long as " + source.string());
}

/// Other processes share the copy: it must not be written to.
void make_read_only(const fs::path& path) {
  constexpr auto all_read = static_cast<fs::perms>(0444);
  constexpr auto all_enter = static_cast<fs::perms>(0555);
  const auto close = [&](const fs::path& file) {
    const fs::file_status status = fs::symlink_status(file);
    if (fs::is_symlink(status)) return;
    const bool is_entered = fs::is_directory(status) ||
                            (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
    fs::permissions(file, is_entered ? all_enter : all_read);
  };
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator(path))
      close(entry.path());
  }
  close(path);
}

}  // namespace

std::uint64_t copied_bytes(const fs::path& source) {
  std::uint64_t bytes = 0;
  const CopyList list(source, "/", [&](const CopyList::Entry& entry) {
    if (entry.kind == CopyList::Entry::Kind::file) bytes += fs::file_size(entry.from);
  });
  return bytes;
}

void copy_files(const fs::path& source, const fs::path& copy, const std::stop_token& stop) {
  const CopyList list(source, copy, [&](const CopyList::Entry& entry) {
    if (stop.stop_requested())
      throw Error(ErrorKind::interrupted, "interrupted while inputs were copied to the node");
    using Kind = CopyList::Entry::Kind;
    if (entry.kind == Kind::folder) fs::create_directories(entry.to);
    if (entry.kind == Kind::file) copy_one(entry.from, entry.to);
    if (entry.kind == Kind::link) fs::create_directory_symlink(entry.from, entry.to);
  });
  make_read_only(copy);
}

}  // namespace sabath::execution
