#include "build_steps.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

constexpr const char* settled_limits =
    "\"environments\": {\"limits\": ...} of the configuration grants more";

constexpr std::uint64_t log_limit_bytes = 1U << 30U;

std::string hint_for(const base::ProcessResult& result, const fs::path& log) {
  std::string whole = "the whole log is " + log.string();
  if (result.end == base::ProcessEnd::silent) {
    return whole + "; a step that waits for input or for a network would look like this; " +
           settled_limits;
  }
  if (result.end == base::ProcessEnd::timed_out) {
    return whole + "; all steps of a layer share one limit of time; " + settled_limits;
  }
  return whole;
}

}  // namespace

std::string last_lines(const std::vector<std::string>& lines, std::size_t most) {
  std::string last;
  for (std::size_t i = lines.size() > most ? lines.size() - most : 0; i < lines.size(); ++i)
    last += "\n    " + base::printable(lines[i]);
  return last;
}

std::string last_lines_in(const std::string& text,
                          std::size_t most,
                          const std::function<bool(const std::string& line)>& is_shown) {
  std::vector<std::string> shown;
  for (std::string& line : base::text_lines(text)) {
    const bool is_blank = base::trimmed(line).empty();
    if (!is_blank && (!is_shown || is_shown(line))) shown.push_back(std::move(line));
  }
  return last_lines(shown, most);
}

std::vector<std::string> last_lines_of(const fs::path& log) {
  constexpr std::size_t window = 1U << 16U;
  return base::text_lines(base::read_file_end(log, window));
}

std::string tail_of(const fs::path& log, std::size_t lines) {
  return last_lines(last_lines_of(log), lines);
}

BuildSteps::BuildSteps(base::ProcessRunner& processes,
                       const LayerBuild& build,
                       base::Environment environment)
    : processes_(processes), build_(build), environment_(std::move(environment)) {
  for (const auto& [name, folder] : {std::pair{"HOME", "home"}, std::pair{"TMPDIR", "tmp"}}) {
    const fs::path path = build.work / folder;
    base::make_directories(path);
    environment_[name] = path.string();
  }
}

void BuildSteps::run(std::string_view doing,
                     const std::vector<std::string>& argv,
                     const fs::path& directory) {
  const base::ProcessResult result = attempt(doing, argv, directory);
  if (!result.ok()) refuse(doing, argv, result);
}

base::ProcessResult BuildSteps::attempt(std::string_view doing,
                                        std::vector<std::string> argv,
                                        const fs::path& directory) {
  const std::string place = place_of(build_.lock.name);
  build_.observer.note(place + ": " + std::string(doing));
  log_line("$ " + base::quote_command(argv));

  base::Command command;
  command.argv = std::move(argv);
  command.working_directory = directory;
  command.environment = environment_;
  command.stdout_path = build_.log;
  command.stderr_path = build_.log;
  command.deadline =
      std::max<std::chrono::nanoseconds>(build_.limits.wall.value_or(usual_build_time) - used_, {});
  command.silence_deadline = build_.limits.silence.value_or(usual_silence);
  command.output_limit = log_limit_bytes;
  base::ProcessResult result = [&] {
    try {
      return processes_.run(command, build_.stop);
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::launch) throw;
      log_line(error.what());
      throw_environment(
          place + ": the build failed while " + std::string(doing) + ": " + error.what(),
          "install it, or load a module that has it");
    }
  }();
  used_ += result.wall;

  if (result.end == base::ProcessEnd::stopped) {
    throw base::Error(base::ErrorKind::interrupted,
                      place + ": stopped while " + std::string(doing));
  }
  return result;
}

void BuildSteps::refuse(std::string_view doing,
                        const std::vector<std::string>& argv,
                        const base::ProcessResult& result) const {
  throw_environment(place_of(build_.lock.name) + ": the build failed while " + std::string(doing) +
                        ": '" + base::quote_command(argv) + "' " + result.describe() +
                        "; the end of " + build_.log.string() + ":" + tail_of(build_.log),
                    hint_for(result, build_.log));
}

void BuildSteps::log_line(const std::string& line) {
  write_log(build_.log, line + "\n");
}

base::ProcessResult run_unless_stopped(base::ProcessRunner& processes,
                                       const base::Command& command,
                                       const std::stop_token& stop,
                                       const std::string& message) {
  base::ProcessResult result = processes.run(command, stop);
  if (result.end != base::ProcessEnd::stopped) return result;
  throw base::Error(base::ErrorKind::interrupted, message);
}

void require_not_stopped(const LayerBuild& build) {
  if (build.stop.stop_requested())
    throw base::Error(base::ErrorKind::interrupted, place_of(build.lock.name) + ": interrupted");
}

std::optional<std::string> full_disk(std::string_view said) {
  for (const int code : {ENOSPC, EDQUOT}) {
    const std::string text = base::errno_text(code);
    // Programs in Go begin it with a lower-case letter.
    if (said.find(text.substr(1)) != std::string_view::npos) return text;
  }
  return std::nullopt;
}

void refuse_full_disk(const base::ProcessResult& result, const std::string& message) {
  auto full = full_disk(result.errors);
  if (!full) full = full_disk(result.output);
  if (!full) return;
  throw base::Error(base::ErrorKind::storage,
                    message + ": " + *full,
                    "make room where the cache is, and run the command again");
}

std::string without_network(std::string_view doing) {
  const bool locks = doing == "cannot be resolved" || doing.starts_with("look up ");
  return locks
             ? "or run 'sabath env lock RECIPE' on a machine with a network, and copy the lock file"
             : "or run 'sabath env fetch RECIPE' on a machine with a network: it fetches "
               "everything for the build into the cache";
}

void write_log(const fs::path& log, const std::string& text) {
  const base::UniqueFd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) base::throw_errno(log.string(), "cannot write", errno);
  base::write_all(file.get(), base::as_bytes(text), log);
}

}  // namespace sabath::env
