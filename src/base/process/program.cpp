#include <sabath/base/process/program.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

bool is_plain(char c) {
  constexpr std::string_view others = "_@%+:,./-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

template <class Quote>
std::string command_line(const std::vector<std::string>& argv, const Quote& quote) {
  std::string line;
  for (const std::string& argument : argv) {
    // A '=' is plain in an argument, but would make an assignment of the first word.
    const bool first = line.empty();
    const bool plain =
        !argument.empty() && std::all_of(argument.begin(), argument.end(), [&](char c) {
          return is_plain(c) || (c == '=' && !first);
        });
    line += (first ? "" : " ") + (plain ? argument : quote(argument));
  }
  return line;
}

// sigabbrev_np would do it, but is younger (glibc 2.32) than the systems of some large machines.
constexpr std::array<std::pair<int, std::string_view>, 31> signal_names{{
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},       {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},     {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},     {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},     {SIGTERM, "SIGTERM"}, {SIGSTKFLT, "SIGSTKFLT"},
    {SIGCHLD, "SIGCHLD"}, {SIGCONT, "SIGCONT"},     {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},
    {SIGTTIN, "SIGTTIN"}, {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"},
    {SIGIO, "SIGIO"},     {SIGPWR, "SIGPWR"},       {SIGSYS, "SIGSYS"},
}};

}  // namespace

Environment current_environment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    // The first of two wins, as with getenv.
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::string variable_of(const Environment& environment,
                        const std::string& name,
                        const std::string& otherwise) {
  const auto found = environment.find(name);
  return found == environment.end() ? otherwise : found->second;
}

std::optional<fs::path> find_program(std::string_view name, std::string_view path_variable) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    return is_program(name) ? std::optional<fs::path>(name) : std::nullopt;
  }
  while (true) {
    const auto colon = path_variable.find(':');
    const std::string_view folder = path_variable.substr(0, colon);
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (is_program(candidate)) return candidate;
    if (colon == std::string_view::npos) return std::nullopt;
    path_variable.remove_prefix(colon + 1);
  }
}

std::optional<fs::path> find_program(std::string_view name) {
  return find_program(name, variable_of(current_environment(), "PATH", "/bin:/usr/bin"));
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string quote_command(const std::vector<std::string>& argv) {
  return command_line(argv, quoted);
}

std::string shown_command(const std::vector<std::string>& argv) {
  return command_line(argv, [](const std::string& argument) {
    return printable(argument) == argument ? quoted(argument) : printable_word(argument);
  });
}

std::string signal_name(int signal) {
  for (const auto& [number, name] : signal_names) {
    if (number == signal) return std::string(name);
  }
  if (signal >= SIGRTMIN && signal <= SIGRTMAX) {
    return "SIGRTMIN+" + std::to_string(signal - SIGRTMIN);
  }
  return std::to_string(signal);
}

}  // namespace sabath::base
