#include "library_questions.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

namespace sabath::execution {
namespace {

/// Variables that would act on the asking process and do not concern the answer.
constexpr std::array<const char*, 2> preloads{"LD_PRELOAD", "LD_AUDIT"};

constexpr std::string_view trouble = "trouble\x1f";

/// What a loader finds wrong with the library itself. Other failures (an unreadable file, a killed
/// process) are tried again next time.
constexpr std::array<std::string_view, 4> lasting{
    "undefined symbol", "' not found (required by", "invalid ELF header", "wrong ELF class"};

bool is_lasting(const std::string& answer) {
  if (!answer.starts_with(trouble)) return true;
  return std::ranges::any_of(
      lasting, [&](std::string_view words) { return answer.find(words) != std::string::npos; });
}

/// Converts to and from one line of the memo.
std::string swapped(std::string text, std::string_view from, std::string_view to) {
  for (char& c : text) {
    const auto at = from.find(c);
    if (at != std::string_view::npos) c = to[at];
  }
  return text;
}

}  // namespace

LibraryQuestions::LibraryQuestions(base::ProcessRunner& processes,
                                   std::filesystem::path program,
                                   const spec::CpuFacts& cpu,
                                   const std::filesystem::path& state,
                                   std::stop_token stop)
    : processes_(processes),
      program_(std::move(program)),
      processor_(fmt::format("{}\n{}\n{}\n{}",
                             cpu.model,
                             cpu.family_model_stepping,
                             fmt::join(cpu.flags, " "),
                             std::thread::hardware_concurrency())),
      memo_(state / "library-versions"),
      stop_(std::move(stop)) {}

LibraryQuestions::~LibraryQuestions() {
  memo_.save();
}

std::string LibraryQuestions::key_of(const spec::LoadedLibrary& library,
                                     const base::Environment& environment) const {
  // Variables by which libraries choose code and threads, or which others are loaded with them.
  static const base::Form choosing(
      "(?s)(OPENBLAS_|GOTO_|MKL_|BLIS_|OMP_|KMP_|GOMP_|LD_|CUDA_|HIP_|ROCR_).*");
  std::string text = library.digest.text() + "\n" + library.path + "\n" + processor_ + "\n";
  for (const auto& [name, value] : environment) {
    if (choosing.matches(name)) text += name + "=" + value + "\n";
  }
  return base::sha256_of(text).hex;
}

std::string LibraryQuestions::ask_now(const spec::LoadedLibrary& library,
                                      const base::Environment& environment) {
  base::Command command;
  command.argv = {program_.string(), "ask-library", library.path};
  command.environment = environment;
  command.deadline = std::chrono::seconds(10);
  command.grace = std::chrono::seconds(1);
  const base::ProcessResult result = processes_.run(command, stop_);
  if (result.end == base::ProcessEnd::stopped) return {};
  if (result.ok()) return probe::answer_lines(probe::answer_from(result.output));
  // The library may have written there too.
  const auto says = ("\n" + result.errors).find("\nsays: ");
  const std::string words = says == std::string::npos
                                ? result.describe()
                                : result.errors.substr(says, result.errors.find('\n', says) - says);
  return std::string(trouble) + base::printable(words);
}

std::string LibraryQuestions::answer_to(const std::string& key,
                                        const spec::LoadedLibrary& library,
                                        const base::Environment& environment) {
  if (const auto known = memo_.get(key)) {
    std::string answer = swapped(*known, "\x1e\x1d", "\n\t");
    if (is_lasting(answer)) return answer;
  }
  std::string answer;
  try {
    answer = ask_now(library, environment);
  } catch (const base::Error& error) {
    return std::string(trouble) + "could not be started: " + base::printable(error.what());
  }
  if (!answer.empty() && is_lasting(answer)) memo_.put(key, swapped(answer, "\n\t", "\x1e\x1d"));
  return answer;
}

probe::LibraryAnswer LibraryQuestions::ask(const spec::LoadedLibrary& library,
                                           base::Environment environment,
                                           std::vector<std::string>& notes) {
  for (const char* name : preloads)
    environment.erase(name);
  const std::string key = key_of(library, environment);
  auto known = answers_.find(key);
  if (known == answers_.end()) {
    known = answers_.emplace(key, answer_to(key, library, environment)).first;
    if (known->second.starts_with(trouble)) {
      notes.push_back(
          fmt::format("{}: could not be asked for its version: the process that loaded "
                      "it to ask {}",
                      base::printable(library.path),
                      known->second.substr(trouble.size())));
    }
  }
  if (known->second.starts_with(trouble)) return {};
  return probe::answer_from(known->second);
}

}  // namespace sabath::execution
