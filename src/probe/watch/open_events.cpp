#include "open_events.hpp"

#include "mount_table.hpp"

#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string_view>

#include <fcntl.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

/// Each report installs a descriptor when it is read.
constexpr std::size_t most_events = 64;
constexpr std::size_t buffer_bytes = most_events * sizeof(fanotify_event_metadata);

/// Reading a report opens the file: ignores special files after their first report.
void ignore_if_special(int events, int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return;
  ::fanotify_mark(events,
                  FAN_MARK_ADD | FAN_MARK_IGNORED_MASK | FAN_MARK_IGNORED_SURV_MODIFY,
                  FAN_OPEN,
                  fd,
                  nullptr);
}

/// File systems of the kernel, whose files are not inputs.
bool is_of_kernel(std::string_view type) {
  constexpr auto types = std::to_array<std::string_view>(
      {"autofs",     "binfmt_misc", "bpf",      "cgroup",   "cgroup2", "configfs",
       "debugfs",    "devpts",      "devtmpfs", "efivarfs", "fusectl", "hugetlbfs",
       "mqueue",     "nsfs",        "nfsd",     "proc",     "pstore",  "rpc_pipefs",
       "securityfs", "selinuxfs",   "sysfs",    "tracefs"});
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// Resolving a path on one of these may wait for a missing server.
bool is_of_network(std::string_view type) {
  constexpr auto types = std::to_array<std::string_view>({"9p",
                                                          "afs",
                                                          "beegfs",
                                                          "ceph",
                                                          "cifs",
                                                          "gpfs",
                                                          "lustre",
                                                          "ncpfs",
                                                          "nfs",
                                                          "nfs4",
                                                          "ocfs2",
                                                          "orangefs",
                                                          "panfs",
                                                          "smb3",
                                                          "virtiofs"});
  return type.starts_with("fuse") || std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

std::optional<OpenEvents> OpenEvents::ask(const std::filesystem::path& proc) {
  constexpr unsigned flags = FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK;
  constexpr unsigned open_flags = O_RDONLY | O_CLOEXEC | O_LARGEFILE | O_NONBLOCK | O_NOATIME;
  OpenEvents events{base::UniqueFd(::fanotify_init(flags, open_flags))};
  if (!events.fd_) return std::nullopt;
  bool has_root = false;
  std::set<std::string> seen;
  for (const Mount& mount : read_mount_table(proc.parent_path())) {
    if (is_of_kernel(mount.type)) continue;
    const std::string point = mount.point.string();
    if (point == "/dev" && mount.type == "tmpfs") continue;  // devices alone, as in devtmpfs
    // Each file system is watched once; those in memory share one name.
    const bool is_in_memory = mount.type == "tmpfs" || mount.type == "overlay";
    if (!seen.insert(is_in_memory ? point : mount.type + " " + mount.source).second) continue;
    const bool is_asked =
        !is_of_network(mount.type) && ::fanotify_mark(events.fd_.get(),
                                                      FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
                                                      FAN_OPEN,
                                                      AT_FDCWD,
                                                      point.c_str()) == 0;
    has_root = has_root || (is_asked && point == "/");
    if (!is_asked) events.left_out_.push_back(mount.type + " at " + base::printable(point));
  }
  if (!has_root) return std::nullopt;
  return events;
}

OpenEvents::Taken OpenEvents::read(const std::function<void(int pid, int fd)>& take) {
  alignas(fanotify_event_metadata) std::array<char, buffer_bytes> buffer{};
  Taken taken;
  const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
  if (got < 0) {
    // The report of a file that may not be opened is lost; the next one can be read.
    const int problem = errno;
    taken.has_more = problem != EAGAIN && problem != EINVAL && problem != EBADF;
    taken.has_lost = taken.has_more && problem != EINTR;
    return taken;
  }
  auto left = static_cast<long>(got);
  const auto* event = reinterpret_cast<const fanotify_event_metadata*>(buffer.data());
  for (; FAN_EVENT_OK(event, left); event = FAN_EVENT_NEXT(event, left)) {
    if (event->vers != FANOTIFY_METADATA_VERSION) break;
    if ((event->mask & FAN_Q_OVERFLOW) != 0) taken.has_lost = true;
    const base::UniqueFd file(event->fd);
    if (file) ignore_if_special(fd_.get(), file.get());
    if (file && event->pid != ::getpid()) take(event->pid, file.get());
  }
  taken.has_more = got > 0;
  return taken;
}

void OpenEvents::forget() {
  for (const unsigned kind : {FAN_MARK_FILESYSTEM, FAN_MARK_MOUNT})
    ::fanotify_mark(fd_.get(), FAN_MARK_FLUSH | kind, 0, AT_FDCWD, nullptr);
}

}  // namespace sabath::probe
