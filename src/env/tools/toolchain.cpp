#include "toolchain.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>

#include <iterator>
#include <sstream>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// A first start from a loaded parallel file system takes seconds. A missing answer must not change
/// the key.
constexpr auto question_deadline = std::chrono::seconds(60);

/// Returns every program of the command: "ccache gcc" has two.
std::vector<fs::path> programs_of(const std::vector<std::string>& command,
                                  const base::Environment& environment) {
  std::vector<fs::path> programs;
  for (const std::string& word : command) {
    if (word.empty() || word.starts_with('-')) continue;
    if (auto program = base::find_program(word, search_path(environment))) {
      programs.push_back(*program);
    }
  }
  return programs;
}

/// Returns GCC's name of the program behind a driver or wrapper (mpicc): it changes with the
/// compiler where the wrapper does not. Other compilers answer with the bare name.
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
  question.deadline = question_deadline;
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
  if (result.end == base::ProcessEnd::timed_out) {
    throw_environment("'" + base::quote_command(question.argv) + "': did not end within " +
                          std::to_string(question_deadline.count()) +
                          " s, so it is not known what it is",
                      "is its file system slow? If it knows no such option, put a script of its "
                      "name before it on PATH that answers");
  }
  if (!result.ok()) return std::nullopt;
  const auto said = base::trimmed(result.output.empty() ? result.errors : result.output);
  if (said.empty()) return std::nullopt;
  return base::printable(base::trimmed(said.substr(0, said.find('\n'))));
}

Toolchain::Answer Toolchain::ask(std::string_view language,
                                 const std::vector<std::string>& command,
                                 const base::Environment& environment) {
  const auto version = first_line(command, "--version", environment);
  Answer answer{version ? *version : base::digest_file(command.front()).text(),
                programs_of(command, environment)};
  if (language.empty()) return answer;
  if (const auto machine = first_line(command, "-dumpmachine", environment)) {
    answer.identity += "; " + *machine;
  }
  if (fs::path(command.front()).filename().string().starts_with("mpi")) {
    // A wrapper answers other questions as its compiler. Asks in Open MPI's way first, then in
    // MPICH's.
    auto library = first_line(command, "--showme:version", environment);
    if (!library) library = first_line(command, "-v", environment);
    if (library) answer.identity += "; " + *library;
  }
  for (const std::string& word : command) {
    if (word.starts_with('-')) answer.identity += " " + word;
  }
  const auto backend =
      first_line(command, "-print-prog-name=" + backend_name(language), environment);
  if (backend && backend->starts_with('/')) answer.files.emplace_back(*backend);
  return answer;
}

std::optional<Tool> Toolchain::find(std::string_view language,
                                    std::vector<std::string> command,
                                    const base::Environment& environment) {
  if (command.empty()) return std::nullopt;
  const auto program = base::find_program(command.front(), search_path(environment));
  if (!program) return std::nullopt;
  command.front() = program->string();
  const std::string key = memo_key(language, command, environment);
  if (auto known = memo_->find(key)) return Tool{command, *known};
  const Answer answer = ask(language, command, environment);
  memo_->remember(key, answer.identity, answer.files);
  return Tool{command, answer.identity};
}

std::optional<Tool> Toolchain::tool(const std::string& name, const base::Environment& environment) {
  return find({}, {name}, environment);
}

std::string Toolchain::digest_of(const Tool& tool) {
  const fs::path program = tool.command.front();
  const std::string key = memo_key("digest", {program.string()}, {});
  if (auto known = memo_->find(key)) return *known;
  std::string digest;
  try {
    digest = base::digest_file(program).text();
  } catch (const base::Error&) {
    return "unreadable";  // may only be executed
  }
  memo_->remember(key, digest, {program});
  return digest;
}

std::optional<Tool> Toolchain::compiler(std::string_view language,
                                        std::string_view command,
                                        const base::Environment& environment) {
  std::istringstream words{std::string(command)};
  return find(language,
              {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()},
              environment);
}

}  // namespace sabath::env
