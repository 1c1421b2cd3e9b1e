#include <sabath/base/error.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/process/sandbox.hpp>

#include <time.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::base {
namespace {

/// The link follows the program also where its file was replaced.
constexpr const char* own_program = "/proc/self/exe";

/// What the loader and the libraries need; nothing else of the environment is passed, as it may
/// hold secrets.
constexpr std::array<std::string_view, 8> passed{
    "LD_", "HDF5_", "MALLOC_", "GLIBC_TUNABLES=", "ASAN_", "UBSAN_", "TSAN_", "LSAN_"};

/// HDF5 locks files by a system call that the sandbox does not allow.
constexpr std::string_view locking = "HDF5_USE_FILE_LOCKING=";

std::vector<char*> passed_variables() {
  static std::string no_locking = std::string(locking) + "FALSE";
  std::vector<char*> variables{no_locking.data()};
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with(locking)) continue;
    for (const std::string_view beginning : passed) {
      if (std::string_view(*entry).starts_with(beginning)) variables.push_back(*entry);
    }
  }
  variables.push_back(nullptr);
  return variables;
}

[[noreturn]] void refuse(const char* problem, int code) {
  throw Error(ErrorKind::launch,
              std::string("reader process: ") + problem + ": " + errno_text(code),
              "too many processes or open files, or too little memory (ulimit -a, free)");
}

/// Of a fixed size: a file that shrinks would end the one who reads from its memory.
UniqueFd make_memory(std::size_t bytes) {
  UniqueFd file(::memfd_create("sabath-values", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    refuse("cannot share memory", errno);
  }
  return file;
}

/// Owner of the arguments of posix_spawn.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    // A group of its own, so that Ctrl-C does not reach it; the session is the caller's, by which
    // base::ProcessFamily knows that it is not left over from a command.
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

/// A copy above the descriptors that the process gets, so that none is overwritten.
UniqueFd out_of_the_way(const UniqueFd& fd) {
  UniqueFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, sandbox_memory + 1));
  if (!copy) refuse("cannot duplicate a descriptor", errno);
  return copy;
}

}  // namespace

SandboxProcess::SandboxProcess(const std::string& command, std::size_t memory_bytes)
    : memory_bytes_(memory_bytes) {
  const UniqueFd file = out_of_the_way(make_memory(memory_bytes));
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    refuse("cannot open a socket", errno);
  socket_.reset(ends[0]);
  const UniqueFd inherited(ends[1]);
  const UniqueFd other_end = out_of_the_way(inherited);

  SpawnPlan plan;
  ::posix_spawn_file_actions_adddup2(&plan.actions, other_end.get(), sandbox_socket);
  ::posix_spawn_file_actions_addopen(&plan.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&plan.actions, STDOUT_FILENO, STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&plan.actions, file.get(), sandbox_memory);
  std::array<std::string, 3> words{"sabath", command, std::to_string(::getpid())};
  std::array<char*, 4> argv{words[0].data(), words[1].data(), words[2].data(), nullptr};
  std::vector<char*> variables = passed_variables();
  const int code = ::posix_spawn(
      &pid_, own_program, &plan.actions, &plan.attributes, argv.data(), variables.data());
  if (code != 0) {
    pid_ = -1;
    refuse("cannot be started", code);
  }
  void* const mapped = ::mmap(nullptr, memory_bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) {
    const int failure = errno;
    kill();
    wait_for_end();
    refuse("cannot map shared memory", failure);
  }
  memory_ = static_cast<std::byte*>(mapped);
}

SandboxProcess::~SandboxProcess() {
  kill();
  wait_for_end();
  if (memory_ != nullptr) ::munmap(memory_, memory_bytes_);
}

bool SandboxProcess::is_idle() const noexcept {
  if (pid_ < 0) return false;
  pollfd state{socket_.get(), POLLIN, 0};
  return ::poll(&state, 1, 0) == 0;
}

std::chrono::nanoseconds SandboxProcess::processor_time() const noexcept {
  clockid_t clock{};
  timespec time{};
  if (pid_ < 0 || ::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void SandboxProcess::kill() noexcept {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

std::string SandboxProcess::wait_for_end() {
  if (pid_ < 0) return "has ended";
  int status = 0;
  int got = 0;
  do {
    got = ::waitpid(pid_, &status, 0);
  } while (got < 0 && errno == EINTR);
  pid_ = -1;
  if (got < 0) return "has ended";  // the one who started us left SIGCHLD ignored
  if (WIFEXITED(status)) return "exited with status " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  was_killed_ = signal == SIGKILL;
  return "was killed by signal " + std::to_string(signal) + " (" + signal_name(signal) + ")";
}

}  // namespace sabath::base
