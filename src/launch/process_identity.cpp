#include "process_identity.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <charconv>
#include <sstream>

namespace sabath::launch {
namespace {

struct Stat {
  char state = '?';               ///< field 3 of /proc/PID/stat (proc(5))
  std::uint64_t start_ticks = 0;  ///< field 22
};

std::optional<Stat> read_stat(int pid) {
  std::optional<std::string> text;
  try {
    text = base::read_file_if_exists("/proc/" + std::to_string(pid) + "/stat");
  } catch (const base::Error&) {
    return std::nullopt;  // it ended while it was read
  }
  // The program's name stands in parentheses and may hold anything, parentheses too.
  const auto name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(name_end + 1));
  Stat stat;
  fields >> stat.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field)
    fields >> skipped;
  if (!(fields >> stat.start_ticks)) return std::nullopt;
  return stat;
}

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string ProcessIdentity::text() const {
  return std::to_string(pid) + ":" + std::to_string(start_ticks);
}

std::optional<ProcessIdentity> ProcessIdentity::parse(std::string_view text) {
  const auto colon = text.find(':');
  ProcessIdentity identity;
  if (colon == std::string_view::npos || !parse_whole(text.substr(0, colon), identity.pid) ||
      !parse_whole(text.substr(colon + 1), identity.start_ticks) || identity.pid <= 0) {
    return std::nullopt;
  }
  return identity;
}

std::optional<ProcessIdentity> ProcessIdentity::of(int pid) {
  const auto stat = read_stat(pid);
  if (!stat) return std::nullopt;
  return ProcessIdentity{pid, stat->start_ticks};
}

bool ProcessIdentity::is_alive() const {
  const auto stat = read_stat(pid);
  return stat && stat->start_ticks == start_ticks && stat->state != 'Z' && stat->state != 'X';
}

}  // namespace sabath::launch
