#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/process/process_table.hpp>
#include <sabath/base/text/numbers.hpp>

#include <pwd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

std::string short_hash(const std::string& text) {
  return sha256_of(text).hex.substr(0, 16);
}

std::string text_of(const char* path) {
  return read_file_if_exists(path).value_or("");
}

template <class Number>
bool read_number(std::istream& from, Number& number) {
  std::string text;
  if (!std::getline(from, text, '.')) return false;
  const auto read = number_in<Number>(text);
  number = read.value_or(number);
  return read.has_value();
}

}  // namespace

ProcessIdentity ProcessIdentity::current() {
  return of(::getpid());
}

ProcessIdentity ProcessIdentity::of(int pid) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  struct stat name_space {};
  ::stat("/proc/self/ns/pid", &name_space);
  ProcessIdentity identity;
  identity.host = short_hash(std::string(name.data()) + "\n" + text_of("/etc/machine-id"));
  identity.boot = short_hash(text_of("/proc/sys/kernel/random/boot_id"));
  identity.pid_namespace = name_space.st_ino;
  identity.pid = pid;
  identity.start_ticks = process_stat(pid).value_or(ProcessStat{}).start_ticks;
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

Liveness liveness_of(const ProcessIdentity& other, const ProcessIdentity& self) {
  if (other.host != self.host) return Liveness::unknown;
  if (other.boot != self.boot) return Liveness::gone;
  if (other.pid_namespace != self.pid_namespace) return Liveness::unknown;
  if (::kill(other.pid, 0) != 0 && errno == ESRCH) return Liveness::gone;
  const auto stat = process_stat(other.pid);
  if (!stat) return Liveness::unknown;
  const bool is_same = !stat->has_ended() && stat->start_ticks == other.start_ticks;
  return is_same ? Liveness::running : Liveness::gone;
}

std::string user_name() {
  struct passwd entry {};
  struct passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(::geteuid());
}

}  // namespace sabath::base
