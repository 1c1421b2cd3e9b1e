#include "fact_file.hpp"
#include "open_events.hpp"
#include "thread_cpu.hpp"

#include <sabath/base/process/process_table.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/open_watch.hpp>
#include <sabath/spec/session_variables.hpp>

#include <fmt/format.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int fork_buffer_bytes = 1 << 20;
constexpr std::size_t message_bytes = 4096;
/// PROC_EVENT_FORK, which stands in another scope in later versions of the header.
constexpr unsigned fork_event = 1;

/// The kernel sends reports only to listeners in the initial namespaces.
bool is_in_first_namespaces() {
  return link_text("/proc/self/ns/pid") == "pid:[4026531836]" &&
         link_text("/proc/self/ns/user") == "user:[4026531837]";
}

bool notify_kernel(int fd, proc_cn_mcast_op wish) noexcept {
  cn_msg body{};
  body.id = {CN_IDX_PROC, CN_VAL_PROC};
  body.len = sizeof wish;
  nlmsghdr head{};
  head.nlmsg_len = NLMSG_LENGTH(sizeof body + sizeof wish);
  head.nlmsg_type = NLMSG_DONE;
  std::array<char, NLMSG_SPACE(sizeof(cn_msg) + sizeof(proc_cn_mcast_op))> message{};
  std::memcpy(message.data(), &head, sizeof head);
  std::memcpy(message.data() + NLMSG_HDRLEN, &body, sizeof body);
  std::memcpy(message.data() + NLMSG_HDRLEN + sizeof body, &wish, sizeof wish);
  return ::send(fd, message.data(), head.nlmsg_len, 0) >= 0;
}

/// The kernel's reports of forks (connector, CN_IDX_PROC). They give the parents of processes that
/// ended early.
class ForkEvents {
 public:
  /// Starts the reports. Returns nothing where the kernel does not allow it: it needs CAP_NET_ADMIN
  /// and the initial namespaces of processes, users and networks.
  static std::optional<ForkEvents> ask() {
    if (!is_in_first_namespaces()) return std::nullopt;
    base::UniqueFd fd(
        ::socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
    if (!fd) return std::nullopt;
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = CN_IDX_PROC;
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return std::nullopt;
    ::setsockopt(
        fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &fork_buffer_bytes, sizeof fork_buffer_bytes);
    if (!notify_kernel(fd.get(), PROC_CN_MCAST_LISTEN)) return std::nullopt;
    return ForkEvents(std::move(fd));
  }

  /// Unregisters from the kernel: before 6.6 it counts a merely closed socket as a listener for
  /// ever.
  ~ForkEvents() {
    if (fd_) notify_kernel(fd_.get(), PROC_CN_MCAST_IGNORE);
  }

  ForkEvents(ForkEvents&& other) noexcept = default;
  ForkEvents& operator=(ForkEvents&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ForkEvents(const ForkEvents&) = delete;
  ForkEvents& operator=(const ForkEvents&) = delete;

  /// Reads all waiting reports. Does not call `take` for threads. Returns false where reports were
  /// lost.
  bool read(const std::function<void(int parent, int child)>& take) {
    std::array<char, message_bytes> message{};
    bool has_all = true;
    while (true) {
      const ssize_t got = ::recv(fd_.get(), message.data(), message.size(), 0);
      if (got < 0 && errno == ENOBUFS) {
        has_all = false;
        continue;
      }
      if (got <= 0) return has_all;
      constexpr std::size_t at = NLMSG_HDRLEN + sizeof(cn_msg);
      proc_event event{};
      const auto size = static_cast<std::size_t>(got);
      if (size <= at) continue;
      std::memcpy(&event, message.data() + at, std::min(size - at, sizeof event));
      if (static_cast<unsigned>(event.what) != fork_event) continue;
      const auto& fork = event.event_data.fork;
      if (fork.child_pid == fork.child_tgid) take(fork.parent_tgid, fork.child_tgid);
    }
  }

 private:
  explicit ForkEvents(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;  ///< empty, or registered with the kernel
};

/// Limits memory and the record for programs that open ever new files.
constexpr std::size_t most_files = 20'000;
constexpr std::size_t most_processes = 20'000;
constexpr std::size_t most_family = 200'000;
/// Most descriptors of a process in one look.
constexpr int most_descriptors = 256;
/// How long a process is remembered as foreign.
constexpr std::chrono::nanoseconds stranger_time = 1s;
/// Budget for reading reports: this, and one hundredth of the time.
constexpr std::chrono::nanoseconds allowance = 10ms;
constexpr int share = 100;
constexpr int deepest = 64;
constexpr const char* too_many =
    "files were opened faster than they could be listed, by this run or by others: some may be "
    "missing";
constexpr const char* ended_before =
    "processes, of this run or of others, opened files and ended before they could be looked at";
constexpr const char* other_namespace =
    "what processes in a container or a mount namespace of their own opened is not listed";

std::int64_t file_clock_ns() {
  struct timespec time {};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

/// Finds the child of this process from which a process descends.
class Descent {
 public:
  explicit Descent(fs::path proc)
      : proc_(std::move(proc)), self_(::getpid()), own_mounts_(link_text("/proc/self/ns/mnt")) {}

  /// Returns true where a descendant sees other files under the paths of this process.
  bool sees_other_files(int pid) const {
    const fs::path folder = proc_ / std::to_string(pid);
    const std::string mounts = link_text(folder / "ns" / "mnt");
    const std::string root = link_text(folder / "root");
    return (!mounts.empty() && mounts != own_mounts_) || (!root.empty() && root != "/");
  }

  /// Returns the child of this process from which `pid` descends; 0 for foreign processes. Nothing
  /// where it ended early.
  std::optional<int> root_of(int pid, int depth = 0) {
    if (pid <= 1 || pid == self_ || depth > deepest) return 0;
    if (const auto known = family_.find(pid); known != family_.end()) return known->second;
    if (hears_of_all_) return 0;
    const auto now = Clock::now();
    const auto stranger = strangers_.find(pid);
    if (stranger != strangers_.end() && now < stranger->second) return 0;
    const auto stat = base::process_stat(pid, proc_);
    if (!stat) return std::nullopt;
    const int root = stat->parent == self_ ? pid : root_of(stat->parent, depth + 1).value_or(0);
    if (root != 0) {
      family_[pid] = root;
      return root;
    }
    if (strangers_.size() >= most_processes) strangers_.clear();
    strangers_[pid] = now + stranger_time;
    return 0;
  }

  /// Sets whether `add` is called for each process that starts.
  void hears_of_all(bool does) { hears_of_all_ = does; }
  void add(int parent, int child) {
    const auto known = family_.find(parent);
    if (parent == self_) {
      family_[child] = child;
    } else if (known != family_.end()) {
      family_[child] = known->second;
    } else {
      family_.erase(child);  // the number was another process's
    }
    if (family_.size() < most_family) return;
    std::erase_if(family_, [](const auto& one) { return ::kill(one.first, 0) != 0; });
    if (family_.size() >= most_family) family_.clear();
  }

 private:
  fs::path proc_;
  int self_;
  std::string own_mounts_;
  bool hears_of_all_ = false;
  std::map<int, int> family_{};  ///< process -> child of this one
  std::map<int, Clock::time_point> strangers_{};
};

struct OpenWatch::State {
  struct Seen {
    base::FileStamp stamp{};
    std::set<int> roots{};
    std::set<std::string> stages{};
  };

  explicit State(OpenWatchOptions its_options)
      : options(std::move(its_options)),
        began_ns(file_clock_ns()),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        descent(options.proc) {
    if (options.may_ask_kernel && wake) events = OpenEvents::ask(options.proc);
    if (!events) return;
    forks = ForkEvents::ask();
    descent.hears_of_all(forks.has_value());
    try {
      thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error&) {
      events.reset();  // descriptors can be looked at all the same
    }
  }

  /// `root`: see Descent; 0 where `stage` is known. Needs the lock.
  void add(const std::string& path, int fd, int root, const std::string& stage) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return;
    add(path, status, root, stage);
  }

  void add(const std::string& path, const struct stat& status, int root, const std::string& stage) {
    if (!S_ISREG(status.st_mode)) return;
    auto found = files.find(path);
    if (found == files.end()) {
      if (files.size() >= most_files) {
        notes.insert(
            fmt::format("only the first {} files that were opened are listed", most_files));
        return;
      }
      found = files.emplace(path, Seen{base::stamp_from(status), {}, {}}).first;
    }
    if (!stage.empty()) found->second.stages.insert(stage);
    if (root != 0) found->second.roots.insert(root);
  }

  bool is_wanted(const std::string& path) const {
    if (!path.starts_with('/') || path.ends_with(" (deleted)")) return false;
    return !options.is_known || !options.is_known(path);
  }

  bool is_root(int pid) {
    const std::lock_guard lock(mutex);
    return roots.contains(pid);
  }

  void take(int pid, int fd) {
    std::optional<int> found = descent.root_of(pid);
    if (!found && is_root(pid)) found = pid;
    const int root = found.value_or(0);
    if (found && root == 0) return;
    const std::string path = link_text(fmt::format("/proc/self/fd/{}", fd));
    if (!is_wanted(path)) return;
    const bool is_elsewhere = found && descent.sees_other_files(pid);
    const std::lock_guard lock(mutex);
    if (!found) {
      if (!running.empty()) notes.insert(ended_before);
      return;
    }
    if (is_elsewhere) {
      notes.insert(other_namespace);
      return;
    }
    // A daemon is a child of this process now; its stage is certain where only one runs.
    const bool is_daemon = !roots.contains(root) && running.size() == 1;
    add(path, fd, root, is_daemon ? *running.begin() : std::string());
  }

  void run(const std::stop_token& stop) noexcept {
    try {
      const auto first = Clock::now();
      const std::stop_callback waking(stop, [this] { ::eventfd_write(wake.get(), 1); });
      while (!stop.stop_requested()) {
        wait_for({wake.get(), events->fd()}, -1);
        while (!stop.stop_requested() && take_some()) {
          const auto ahead = thread_cpu() - allowance - (Clock::now() - first) / share;
          if (ahead <= 0ns) continue;
          const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(ahead * share);
          wait_for({wake.get()}, static_cast<int>(std::min<std::int64_t>(pause.count() + 1, 1000)));
        }
      }
      // What had come by then.
      const auto deadline = thread_cpu() + allowance;
      bool has_more = take_some();
      while (has_more && thread_cpu() < deadline)
        has_more = take_some();
      if (has_more) add_note(too_many);
    } catch (const std::exception& error) {
      add_note(std::string("looking for opened files ended early: ") + error.what());
    }
    events->forget();
    cpu = thread_cpu();
  }

  template <std::size_t count>
  static void wait_for(const int (&descriptors)[count], int timeout_ms) {
    std::array<struct pollfd, count> polled{};
    for (std::size_t i = 0; i < count; ++i)
      polled[i] = {descriptors[i], POLLIN, 0};
    ::poll(polled.data(), polled.size(), timeout_ms);
  }

  void add_note(const std::string& text) {
    const std::lock_guard lock(mutex);
    notes.insert(text);
  }

  bool take_some() {
    // Forks first: a process starts before it opens files.
    const auto add = [this](int parent, int child) { descent.add(parent, child); };
    if (forks && !forks->read(add)) descent.hears_of_all(false);
    const OpenEvents::Taken taken = events->read([this](int pid, int fd) { take(pid, fd); });
    if (taken.has_lost) add_note(too_many);
    return taken.has_more;
  }

  std::set<std::string> stages_of(const Seen& seen) const {
    std::set<std::string> stages = seen.stages;
    for (const int root : seen.roots) {
      if (const auto found = roots.find(root); found != roots.end()) stages.insert(found->second);
    }
    return stages;
  }

  OpenWatchOptions options;
  std::int64_t began_ns;
  base::UniqueFd wake;
  std::optional<OpenEvents> events{};
  std::optional<ForkEvents> forks{};
  Descent descent;
  std::chrono::nanoseconds cpu{};
  std::mutex mutex{};
  std::map<int, std::string> roots{};  ///< processes that stages began with
  std::multiset<std::string> running{};
  std::map<std::string, Seen> files{};
  std::set<std::string> notes{};
  std::jthread thread{};  ///< last: it ends before what it uses
};

OpenWatch::OpenWatch(OpenWatchOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

OpenWatch::~OpenWatch() = default;

void OpenWatch::begin(const std::string& stage, int pid) {
  const std::lock_guard lock(state_->mutex);
  state_->roots[pid] = stage;
  state_->running.insert(stage);
}

void OpenWatch::end(const std::string& stage) {
  const std::lock_guard lock(state_->mutex);
  if (const auto found = state_->running.find(stage); found != state_->running.end())
    state_->running.erase(found);
}

bool OpenWatch::look_at(int pid, const std::string& stage) {
  const fs::path folder = state_->options.proc / std::to_string(pid);
  if (state_->descent.sees_other_files(pid)) {
    state_->add_note(other_namespace);
    return false;
  }
  const bool counts = !state_->events;
  bool is_new = false;
  std::error_code code;
  int looked_at = 0;
  for (fs::directory_iterator at(folder / "fd", code), end; !code && at != end;
       at.increment(code)) {
    if (++looked_at > most_descriptors) break;
    const std::string path = link_text(at->path());
    if (!state_->is_wanted(path)) continue;
    struct stat status {};
    if (::stat(at->path().c_str(), &status) != 0) continue;
    const std::lock_guard lock(state_->mutex);
    const std::size_t before = state_->files.size();
    state_->add(path, status, 0, stage);
    is_new = is_new || state_->files.size() > before;
  }
  return counts && is_new;
}

SeenOpens OpenWatch::finish() {
  State& state = *state_;
  state.thread.request_stop();
  if (state.thread.joinable()) state.thread.join();
  SeenOpens seen;
  seen.method = state.events ? spec::every_open : spec::some_opens;
  seen.began_ns = state.began_ns;
  seen.cpu_s = std::chrono::duration<double>(state.cpu).count();
  if (state.events) {
    for (const std::string& one : state.events->left_out())
      state.notes.insert("files on " + one + " were only seen while they were open");
  }
  for (const auto& [path, file] : state.files) {
    auto stages = state.stages_of(file);
    if (!stages.empty()) seen.files.push_back({path, file.stamp, std::move(stages)});
  }
  seen.notes.assign(state.notes.begin(), state.notes.end());
  return seen;
}

}  // namespace sabath::probe
