#include "tool_run.hpp"

#include "progress_meter.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>

#include <sys/stat.h>

namespace sabath::fetch {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t output_limit_bytes = 1ULL << 30U;
constexpr std::size_t tail_bytes = std::size_t{16} * 1024;
constexpr auto first_look = std::chrono::milliseconds(100);
constexpr auto longest_look = std::chrono::seconds(5);

std::uint64_t bytes_of(const fs::path& path, bool allocated) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  constexpr std::uint64_t block = 512;
  return allocated ? std::min(size, static_cast<std::uint64_t>(status.st_blocks) * block) : size;
}

/// Progress of a program, by the growth of its files and its output.
class Watch {
 public:
  Watch(const ToolCall& call, fs::path output, fs::path errors)
      : call_(call), output_(std::move(output)), errors_(std::move(errors)) {}

  /// Returns true when anything has changed since the last call.
  bool look() {
    const auto began = std::chrono::steady_clock::now();
    const std::uint64_t grown = call_.grows.empty() ? 0 : bytes_at(call_.grows, call_.has_holes);
    const std::uint64_t written = bytes_of(output_, false) + bytes_of(errors_, false);
    const bool changed = grown != grown_ || written != written_;
    if (written != written_ && !call_.percentage.empty()) percent_ = read_percentage();
    grown_ = grown;
    written_ = written;
    const auto cost = std::chrono::steady_clock::now() - began;
    pause_ = std::clamp<std::chrono::nanoseconds>(cost * 20, first_look, longest_look);
    return changed;
  }

  std::chrono::nanoseconds pause() const { return pause_; }
  std::uint64_t done() const {
    if (call_.percentage.empty()) return grown_;
    if (!call_.total_bytes) return static_cast<std::uint64_t>(percent_);
    return static_cast<std::uint64_t>(percent_ / 100.0 * static_cast<double>(*call_.total_bytes));
  }

 private:
  double read_percentage() const {
    const std::string text =
        base::read_file_end(output_, tail_bytes) + "\n" + base::read_file_end(errors_, tail_bytes);
    double percent = percent_;
    base::Regex pattern(call_.percentage);
    for (std::size_t at = 0;
         at <= text.size() && pattern.search(text, at) == base::Regex::Outcome::found;) {
      const std::string_view whole = *pattern.group(0);
      at = static_cast<std::size_t>(whole.data() - text.data()) +
           std::max<std::size_t>(1, whole.size());
      try {
        percent = std::clamp(std::stod(std::string(pattern.group(1).value_or(""))), 0.0, 100.0);
      } catch (const std::exception&) {
        continue;  // the group held no number
      }
    }
    return percent;
  }

  const ToolCall& call_;
  fs::path output_;
  fs::path errors_;
  std::uint64_t grown_ = 0;
  std::uint64_t written_ = 0;
  double percent_ = 0;
  std::chrono::nanoseconds pause_ = first_look;
};

base::Command command_of(const ToolCall& call, const fs::path& output, const fs::path& errors) {
  base::Command command;
  command.argv = call.argv;
  command.input = call.input;
  command.working_directory = call.working_directory;
  command.environment = base::current_environment();
  for (const auto& [name, value] : call.variables)
    (*command.environment)[name] = value;
  command.environment->try_emplace("LC_ALL", "C.UTF-8");  // messages are parsed
  command.stdout_path = output;
  command.stderr_path = errors;
  command.output_limit = output_limit_bytes;
  return command;
}

}  // namespace

std::uint64_t bytes_at(const fs::path& path, bool allocated) {
  std::error_code code;
  std::uint64_t bytes = 0;
  if (fs::is_directory(path, code)) {
    for (fs::recursive_directory_iterator at(path, code), end; !code && at != end;
         at.increment(code)) {
      bytes += bytes_of(at->path(), allocated);
    }
    return bytes;
  }
  const std::string name = path.filename().string();
  for (fs::directory_iterator at(path.parent_path(), code), end; !code && at != end;
       at.increment(code)) {
    if (at->path().filename().string().starts_with(name)) {
      bytes = std::max(bytes, bytes_of(at->path(), allocated));
    }
  }
  return bytes;
}

ToolEnd run_tool(const ToolCall& call,
                 const std::string& task,
                 const ToolContext& context,
                 base::Observer& observer,
                 std::stop_token stop) {
  const auto throw_if_stopped = [&] {
    if (!stop.stop_requested()) return;
    throw base::Error(base::ErrorKind::interrupted, task + ": the transfer was stopped");
  };
  throw_if_stopped();
  ToolEnd end;
  if (!base::find_program(call.argv.front())) {
    end.missing = true;
    return end;
  }
  const base::TempDir folder(fs::temp_directory_path(), "sabath-tool-");
  const fs::path output = call.output.empty() ? folder.path() / "output" : call.output;
  const fs::path errors = folder.path() / "errors";
  const base::Command command = command_of(call, output, errors);
  Watch watch(call, output, errors);
  ProgressMeter meter(task, observer, context.clock);
  {
    // The program has a thread of its own, while this one watches what grows.
    std::packaged_task run([&](std::stop_token its_stop) {
      return context.options.processes.run(command, std::move(its_stop));
    });
    auto result = run.get_future();
    std::jthread runner(std::move(run));
    const std::stop_callback pass_on(stop, [&runner] { runner.request_stop(); });
    auto last_sign = std::chrono::steady_clock::now();
    while (result.wait_for(watch.pause()) != std::future_status::ready) {
      const auto now = std::chrono::steady_clock::now();
      if (watch.look()) last_sign = now;
      meter.report(watch.done(), call.total_bytes);
      if (now - last_sign < context.options.silence) continue;
      end.silent = true;
      runner.request_stop();
    }
    end.process = result.get();
  }
  throw_if_stopped();
  watch.look();
  meter.report_now(watch.done(), call.total_bytes);
  const CredentialStore& credentials = context.options.credentials;
  end.process.output = credentials.masked(base::read_file_end(output, tail_bytes));
  end.process.errors = credentials.masked(base::read_file_end(errors, tail_bytes));
  return end;
}

std::string last_words(const ToolEnd& end) {
  constexpr std::size_t most_lines = 3;
  constexpr std::size_t most_bytes = 400;
  const std::string& text = end.process.errors.empty() ? end.process.output : end.process.errors;
  std::vector<std::string> lines(1);
  for (const char c : text) {
    // A text before a carriage return is a progress meter, not a message.
    if (c == '\r') lines.back().clear();
    if (c == '\n' && !lines.back().empty()) lines.emplace_back();
    if (c != '\r' && c != '\n') lines.back() += c;
  }
  if (lines.back().empty()) lines.pop_back();
  const auto from = lines.size() - std::min(lines.size(), most_lines);
  std::string words = fmt::format(
      "{}", fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(from), lines.end(), "; "));
  if (words.size() > most_bytes) words = "..." + words.substr(words.size() - most_bytes);
  return base::printable(words);
}

std::vector<std::string> ssh_options(const ToolContext& context) {
  std::vector<std::string> options;
  const std::string& file = context.options.configuration.ssh_config;
  if (!file.empty()) options = {"-F", file};
  for (const char* option : {"BatchMode=yes",
                             "ConnectTimeout=30",
                             "ServerAliveInterval=15",
                             "ServerAliveCountMax=4",
                             "PermitLocalCommand=no",
                             "ForwardAgent=no",
                             "ForwardX11=no",
                             "ClearAllForwardings=yes"}) {
    options.emplace_back("-o");
    options.emplace_back(option);
  }
  return options;
}

}  // namespace sabath::fetch
