#include "toolchain.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text_table.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

constexpr auto patience = std::chrono::seconds(5);

std::string path_of(const base::Environment& environment) {
  const auto found = environment.find("PATH");
  return found == environment.end() ? "" : found->second;
}

/// Every word of the command that is a program: behind "ccache gcc" stand two.
std::vector<fs::path> programs_of(const std::vector<std::string>& command,
                                  const base::Environment& environment) {
  std::vector<fs::path> programs;
  for (const std::string& word : command) {
    if (word.empty() || word.starts_with('-')) continue;
    if (auto program = base::find_program(word, path_of(environment))) {
      programs.push_back(*program);
    }
  }
  return programs;
}

/// What the answer may depend on: the command, and all that the layers set (wrappers read it).
std::string memo_key(std::string_view question,
                     const std::vector<std::string>& command,
                     const base::Environment& environment) {
  base::Hasher hasher;
  const auto add = [&](std::string_view text) {
    hasher.update(std::to_string(text.size()) + ' ');
    hasher.update(text);
  };
  add(question);
  for (const std::string& word : command)
    add(word);
  for (const auto& [name, value] : environment) {
    add(name);
    add(value);
  }
  return hasher.finish().hex;
}

/// The program that does the work behind a driver or a wrapper of one (mpicc): it changes with the
/// compiler where the wrapper's own file does not. GCC's names; others answer with the bare name.
std::string backend_name(std::string_view language) {
  if (language == "c") return "cc1";
  return language == "c++" ? "cc1plus" : "f951";
}

}  // namespace

Toolchain::Toolchain(base::ProcessRunner& processes, std::shared_ptr<Memo> memo)
    : processes_(processes), memo_(std::move(memo)) {}

std::optional<std::string> Toolchain::first_line(std::vector<std::string> command,
                                                 const std::string& option,
                                                 const base::Environment& environment) {
  command.push_back(option);
  base::Command question;
  question.argv = std::move(command);
  question.working_directory = "/";
  question.environment = environment;
  question.deadline = patience;
  question.capture_limit = 1U << 16U;
  question.output_limit = 1U << 16U;
  question.grace = std::chrono::milliseconds(200);
  base::ProcessResult result;
  try {
    result = processes_.run(question);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::launch) throw;
    return std::nullopt;
  }
  if (!result.ok()) return std::nullopt;
  std::istringstream lines(result.output.empty() ? result.errors : result.output);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    const auto last = line.find_last_not_of(" \t\r");
    return base::printable(line.substr(first, last - first + 1));
  }
  return std::nullopt;
}

std::string Toolchain::identity_of(const std::vector<std::string>& command,
                                   const base::Environment& environment) {
  if (auto line = first_line(command, "--version", environment)) return *line;
  return base::digest_file(command.front()).text();
}

std::optional<Tool> Toolchain::tool(const std::vector<std::string>& command,
                                    const base::Environment& environment) {
  const auto program = base::find_program(command.front(), path_of(environment));
  if (!program) return std::nullopt;
  Tool found{command, {}};
  found.command.front() = program->string();
  const std::string key = memo_key("tool", found.command, environment);
  if (auto known = memo_->find(key)) {
    found.identity = *known;
  } else {
    found.identity = identity_of(found.command, environment);
    memo_->remember(key, found.identity, programs_of(found.command, environment));
  }
  return found;
}

std::optional<Tool> Toolchain::compiler(std::string_view language,
                                        std::string_view command,
                                        const base::Environment& environment) {
  std::istringstream words{std::string(command)};
  Tool found;
  for (std::string word; words >> word;)
    found.command.push_back(word);
  if (found.command.empty()) return std::nullopt;
  const auto program = base::find_program(found.command.front(), path_of(environment));
  if (!program) return std::nullopt;
  found.command.front() = program->string();

  const std::string key = memo_key(language, found.command, environment);
  if (auto known = memo_->find(key)) {
    found.identity = *known;
    return found;
  }
  found.identity = identity_of(found.command, environment);
  if (auto machine = first_line(found.command, "-dumpmachine", environment)) {
    found.identity += "; " + *machine;
  }
  for (std::size_t i = 1; i < found.command.size(); ++i)
    found.identity += " " + found.command[i];
  auto files = programs_of(found.command, environment);
  const auto backend =
      first_line(found.command, "-print-prog-name=" + backend_name(language), environment);
  if (backend && backend->starts_with('/')) files.emplace_back(*backend);
  memo_->remember(key, found.identity, files);
  return found;
}

}  // namespace sabath::env
