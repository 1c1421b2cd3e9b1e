#include "process_identity.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <sstream>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

std::string short_hash(const std::string& text) {
  return base::sha256_of(text).hex.substr(0, 16);
}

std::string text_of(const char* path) {
  return base::read_file_if_exists(path).value_or("");
}

struct ProcessStatus {
  char state = '?';
  std::uint64_t start_ticks = 0;
};

/// Fields 3 and 22 of /proc/PID/stat, see proc(5); nothing when there is no such process or it is
/// hidden from us. The name in field 2 may hold anything, so reading begins behind its last ')'.
std::optional<ProcessStatus> status_of(int pid) {
  const auto text = base::read_file_if_exists("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  ProcessStatus status;
  fields >> status.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field)
    fields >> skipped;
  fields >> status.start_ticks;
  if (!fields) return std::nullopt;
  return status;
}

template <class Number>
bool read_number(std::istream& from, Number& number) {
  std::string text;
  if (!std::getline(from, text, '.')) return false;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc{} && end == text.data() + text.size();
}

}  // namespace

ProcessIdentity ProcessIdentity::current() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  struct stat name_space {};
  ::stat("/proc/self/ns/pid", &name_space);
  ProcessIdentity identity;
  identity.host = short_hash(std::string(name.data()) + "\n" + text_of("/etc/machine-id"));
  identity.boot = short_hash(text_of("/proc/sys/kernel/random/boot_id"));
  identity.pid_namespace = name_space.st_ino;
  identity.pid = ::getpid();
  identity.start_ticks = status_of(identity.pid).value_or(ProcessStatus{}).start_ticks;
  return identity;
}

std::string ProcessIdentity::text() const {
  return host + "." + boot + "." + std::to_string(pid_namespace) + "." + std::to_string(pid) + "." +
         std::to_string(start_ticks);
}

std::optional<ProcessIdentity> ProcessIdentity::parse(std::string_view text) {
  std::istringstream from{std::string(text)};
  ProcessIdentity identity;
  std::getline(from, identity.host, '.');
  std::getline(from, identity.boot, '.');
  if (!read_number(from, identity.pid_namespace) || !read_number(from, identity.pid) ||
      !read_number(from, identity.start_ticks) || identity.pid <= 0) {
    return std::nullopt;
  }
  return identity;
}

bool is_provably_gone(const ProcessIdentity& other, const ProcessIdentity& self) {
  if (other.host != self.host) return false;
  if (other.boot != self.boot) return true;
  if (other.pid_namespace != self.pid_namespace) return false;
  if (::kill(other.pid, 0) != 0 && errno == ESRCH) return true;
  const auto status = status_of(other.pid);
  if (!status) return false;
  const bool is_dead = status->state == 'Z' || status->state == 'X';
  return is_dead || status->start_ticks != other.start_ticks;
}

}  // namespace sabath::cache
