#include "commands.hpp"
#include "exit_status.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/drafts/lesson.hpp>

#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;

struct LearnOptions {
  bool no_wait = false;
  bool keep = false;
};

/// A step of the tutorial: what it is about, and the command that shows it.
struct Lesson {
  const char* text;
  std::vector<std::string> words;  ///< after `sabath`, but for "cat"
  int status = exit_done;          ///< that the command must have
};

std::vector<Lesson> lessons() {
  return {
      {"A small training script. It learns one number, and prints its loss.", {"cat"}},
      {"'run --' records a run of any command. What it prints stands here, and in the record.",
       {"run", "--seed", "1", "--", "python3", "train.py", "--rate", "0.1"}},
      {"The same script with another argument.",
       {"run", "--seed", "1", "--", "python3", "train.py", "--rate", "0.3"}},
      {"Are they the same? Two commands are two experiments, so they do not compare.",
       {"compare", "@last~1", "@last"},
       exit_not_comparable},
      {"'init' makes a recipe of the run: arguments become parameters, printed values metrics.",
       {"init", "@last", "--yes"}},
      {"A recipe runs with parameters and seeds. Here it makes a study of three seeds.",
       {"run", "./train-recipe", "--seeds", "1..3"}},
      {"A check: one seed twice. Are the results equal to the bit?",
       {"check", "./train-recipe", "--seed", "1", "--repeat", "2", "--require", "bitwise"}},
      {"All runs of this home.", {"list", "runs"}},
  };
}

/// The temporary home and folder of the tutorial.
class Classroom {
 public:
  explicit Classroom(Workspace& workspace)
      : workspace_(workspace), place_(fs::temp_directory_path(), "sabath-learn-") {
    base::make_directories(folder());
    base::write_file_atomically(folder() / "train.py", drafts::lesson_script());
    workspace.remove_at_signal(place_.path());
    variables_ = base::current_environment();
    std::erase_if(variables_, [](const auto& one) { return one.first.starts_with("SABATH_"); });
    variables_["SABATH_HOME"] = (place_.path() / "home").string();
  }

  fs::path folder() const { return place_.path() / "lesson"; }
  fs::path keep() { return place_.release(); }

  /// Executes the lesson's command, and shows what it printed. Throws Error{launch|interrupted}.
  void execute(const Lesson& lesson) const {
    base::Command command;
    command.argv = lesson.words;
    if (lesson.words.front() != "cat")
      command.argv.insert(command.argv.begin(), "sabath");
    else
      command.argv.emplace_back("train.py");
    workspace_.answer("$ " + base::shown_command(command.argv) + "\n");
    if (command.argv.front() == "sabath") command.argv.front() = program_path().string();
    command.working_directory = folder();
    command.environment = variables_;
    command.stdout_path = command.stderr_path = place_.path() / "output";
    base::write_file_atomically(command.stdout_path, "");
    const base::ProcessResult result = workspace_.processes().run(command, workspace_.stop());
    workspace_.answer(base::read_file(command.stdout_path) + "\n");
    if (workspace_.stop().stop_requested())
      throw base::Error(base::ErrorKind::interrupted, "learn: interrupted");
    if (result.end == base::ProcessEnd::exited && result.exit_code == lesson.status) return;
    throw base::Error(base::ErrorKind::launch,
                      "learn: the command " + result.describe(),
                      "'sabath doctor' says whether sabath can work here; --keep keeps the files");
  }

 private:
  Workspace& workspace_;
  base::TempDir place_;
  base::Environment variables_{};
};

/// False where the reader leaves.
bool waits_for_reader(bool is_first) {
  std::fputs(is_first ? "[Enter: begin, q: leave] " : "[Enter: next, q: leave] ", stderr);
  std::string answer;
  return std::getline(std::cin, answer) && answer != "q" && answer != "Q";
}

constexpr const char* read_on =
    "That is all. Next:\n"
    "  sabath run -- COMMAND            your own script\n"
    "  sabath help run                  seeds, parameters, studies, clusters\n"
    "  sabath help compare              how a verdict is reached\n"
    "  sabath list recipes              what is shipped\n";

int run_learn(const LearnOptions& options, Workspace& workspace) {
  workspace.refuse_json();
  if (!base::find_program("python3")) {
    throw base::Error(base::ErrorKind::not_found,
                      "learn: its script needs python3, which was not found",
                      "install Python 3, or read 'sabath help run'");
  }
  const bool is_terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  const bool waits = is_terminal && !options.no_wait;
  Classroom room(workspace);
  workspace.answer("sabath in five minutes, in a home of its own: " + room.folder().string() +
                   "\n\n");
  bool is_first = true;
  bool has_left = false;
  const std::vector<Lesson> all = lessons();
  for (std::size_t i = 0; i < all.size() && !has_left; ++i) {
    has_left = waits && !waits_for_reader(is_first);
    is_first = false;
    if (has_left) continue;
    workspace.answer(std::to_string(i + 1) + "/" + std::to_string(all.size()) + "  " + all[i].text +
                     "\n\n");
    room.execute(all[i]);
  }
  if (!has_left) workspace.answer(read_on);
  if (options.keep) {
    const fs::path place = room.keep();
    workspace.answer("kept: " + base::printable(place.string()) +
                     "; SABATH_HOME=" + base::printable((place / "home").string()) + "\n");
  }
  return exit_done;
}

}  // namespace

void setup_learn(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "learn", "a tutorial of five minutes at the terminal", run_learn);
  command.add_flag("--no-wait", options.no_wait, "do not wait for Enter between the steps");
  command.add_flag("--keep", options.keep, "keep the folder and the home of the tutorial");
}

}  // namespace sabath::cli
