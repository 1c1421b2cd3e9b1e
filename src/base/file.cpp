#include "file_content.hpp"
#include "removal.hpp"

#include <sabath/base/directory.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

/// To open a pipe without O_NONBLOCK would wait for somebody who writes into it.
constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// A name that nobody can foresee. Not made of the target's name, which may be as long as names can
/// be.
std::string temporary_name() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ012345";
  thread_local std::mt19937_64 numbers(std::random_device{}());
  thread_local pid_t owner = ::getpid();
  if (owner != ::getpid()) {  // a child would find the names of its parent
    owner = ::getpid();
    numbers.seed(std::random_device{}());
  }
  std::uniform_int_distribution<std::size_t> pick(0, letters.size() - 1);
  std::string name = ".sabath-";
  for (int i = 0; i < 12; ++i)
    name += letters[pick(numbers)];
  return name;
}

[[noreturn]] void throw_too_large(const fs::path& path, std::uint64_t limit_bytes) {
  throw Error(
      ErrorKind::storage,
      path.string() + ": cannot read: larger than " + std::to_string(limit_bytes) + " bytes");
}

}  // namespace

std::string read_descriptor(int fd, const fs::path& path, std::uint64_t limit_bytes) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw_errno(path.string(), "cannot read", errno);
  if (S_ISDIR(status.st_mode)) throw_errno(path.string(), "cannot read", EISDIR);
  if (S_ISFIFO(status.st_mode)) {
    throw Error(ErrorKind::storage, path.string() + ": cannot read: is a pipe, not a file");
  }
  const bool is_device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
  const auto size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
  if (size > limit_bytes) throw_too_large(path, limit_bytes);
  std::string content;
  content.resize(static_cast<std::size_t>(size) + 1);
  std::size_t filled = 0;
  while (true) {
    if (filled == content.size()) content.resize(content.size() * 2);
    const ssize_t got = ::read(fd, content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(path.string(), "cannot read", errno);
    if (got == 0) break;
    // /dev/null is an empty file.
    if (is_device) {
      throw Error(ErrorKind::storage, path.string() + ": cannot read: is a device, not a file");
    }
    filled += static_cast<std::size_t>(got);
    if (filled > limit_bytes) throw_too_large(path, limit_bytes);
  }
  content.resize(filled);
  return content;
}

int write_new_file(int folder,
                   const fs::path& place,
                   const NewContent& what,
                   const std::function<int(const std::string& name)>& rename) {
  const std::string target = what.target.string();
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  constexpr int most_tries = 16;
  std::string name;
  UniqueFd fd;
  for (int tries = 0; tries < most_tries && !fd; ++tries) {
    name = (place / temporary_name()).string();
    fd.reset(::openat(folder, name.c_str(), flags, 0600));
    if (!fd && errno != EEXIST) break;
  }
  if (!fd && errno == ENOENT) {  // not the absence of something that was to be read
    throw Error(ErrorKind::storage,
                target + ": cannot write: the folder does not exist",
                "make the folder, or choose another place");
  }
  if (!fd) throw_errno(target, "cannot write", errno);
  try {
    ::fchmod(fd.get(), what.mode);
    write_all(fd.get(), as_bytes(what.content), what.target);
    const bool is_durable = what.durability == Durability::durable;
    if (is_durable && ::fsync(fd.get()) != 0) throw_errno(target, "cannot write", errno);
    if (::close(fd.release()) != 0) throw_errno(target, "cannot write", errno);
    const int code = rename(name);
    if (code != 0) ::unlinkat(folder, name.c_str(), 0);
    return code;
  } catch (...) {
    ::unlinkat(folder, name.c_str(), 0);
    throw;
  }
}

void UniqueFd::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

std::string read_file(const fs::path& path, std::uint64_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), read_flags));
  if (!fd) throw_errno(path.string(), "cannot read", errno);
  return read_descriptor(fd.get(), path, limit_bytes);
}

std::optional<std::string> read_file_if_exists(const fs::path& path, std::uint64_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), read_flags));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (!fd) throw_errno(path.string(), "cannot read", errno);
  return read_descriptor(fd.get(), path, limit_bytes);
}

void write_all(int fd, ByteView bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw_errno(path.string(), "cannot write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void write_file_atomically(const fs::path& path,
                           std::string_view content,
                           Durability durability,
                           unsigned mode) {
  const NewContent what{path, content, durability, mode};
  const int code = write_new_file(AT_FDCWD, folder_of(path), what, [&](const std::string& name) {
    return ::rename(name.c_str(), path.c_str()) == 0 ? 0 : errno;
  });
  if (code != 0) throw_errno(path.string(), "cannot replace", code);
  if (durability == Durability::durable) sync_directory(folder_of(path));
}

bool write_file_once(const fs::path& path, std::string_view content, unsigned mode) {
  const NewContent what{path, content, Durability::durable, mode};
  const int code = write_new_file(AT_FDCWD, folder_of(path), what, [&](const std::string& name) {
    return rename_no_replace(name, path) ? 0 : EEXIST;
  });
  if (code != 0) return false;
  sync_directory(folder_of(path));
  return true;
}

void append_lines(const fs::path& path, std::string lines) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd) throw_errno(path.string(), "cannot write", errno);
  char last = '\n';
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size > 0 && ::pread(fd.get(), &last, 1, size - 1) == 1 && last != '\n') lines.insert(0, "\n");
  write_all(fd.get(), as_bytes(lines), path);
  if (::fdatasync(fd.get()) != 0) throw_errno(path.string(), "cannot write", errno);
  if (size == 0) sync_directory(path.parent_path());
}

void make_directories(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) return;
  if (path.has_parent_path() && path.parent_path() != path) make_directories(path.parent_path());
  // Not for the group, whatever the umask: what others can write is not trusted later.
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    const int problem = errno == ENOENT ? ENOTDIR : errno;
    throw_errno(path.string(), "cannot make the folder", problem);
  }
  if (!fs::is_directory(path, code)) {
    throw_errno(path.string(), "cannot make the folder", ENOTDIR);
  }
}

void sync_directory(const fs::path& path) {
  Directory::open(path, Links::any).sync();
}

void sync_file_system(const fs::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::syncfs(fd.get()) != 0) throw_errno(folder.string(), "cannot make durable", errno);
}

bool rename_no_replace(const fs::path& from, const fs::path& to) {
  const int code = rename_no_replace_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str());
  if (code == EEXIST) return false;
  if (code != 0) throw_errno(to.string(), "cannot rename to it", code);
  return true;
}

TempDir::TempDir(const fs::path& parent, std::string_view prefix) {
  std::string name = (parent / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw_errno(parent.string(), "cannot make a temporary folder", errno);
  }
  path_ = name;
}

TempDir::~TempDir() {
  if (!path_.empty()) remove_tree(path_);
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::move(other.path_)) {
  other.path_.clear();
}

fs::path TempDir::release() noexcept {
  fs::path kept = std::move(path_);
  path_.clear();
  return kept;
}

bool remove_tree(const fs::path& path) noexcept {
  try {
    // Of "folder/" the name is "folder".
    const fs::path named = path.has_filename() ? path : path.parent_path();
    const std::string name = named.filename().string();
    if (name.empty() || name == "." || name == "..") return false;
    const UniqueFd folder(::open(folder_of(named).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return errno == ENOENT || errno == ENOTDIR;
    return remove_tree_at(folder.get(), name);
  } catch (...) {
    return false;
  }
}

bool is_beneath(const fs::path& path, const fs::path& folder) {
  if (folder.empty()) return false;
  const fs::path inner = path.lexically_normal();
  fs::path outer = folder.lexically_normal();
  if (!outer.has_filename()) outer = outer.parent_path();  // it ended with a slash
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

bool is_safe_relative_path(std::string_view text) {
  if (text.empty() || text.size() > 4000 || text.front() == '/') return false;
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) return false;
  const fs::path path(text);
  return std::none_of(path.begin(), path.end(), [](const fs::path& part) {
    return part == ".." || part == "." || part.empty();
  });
}

bool is_safe_name(std::string_view text) {
  if (text.empty() || text.size() > 64) return false;
  const auto is_start = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto is_rest = [&](char c) { return is_start(c) || c == '.' || c == '_' || c == '-'; };
  return is_start(text.front()) && std::all_of(text.begin() + 1, text.end(), is_rest) &&
         text.find("..") == std::string_view::npos;
}

}  // namespace sabath::base
