#include "commands.hpp"
#include "said_to_runs.hpp"
#include "selected_runs.hpp"

#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <iostream>

#include <unistd.h>

namespace sabath::cli {
namespace {

struct NoteOptions {
  std::string selection{};
  std::string text{};
};

/// All of standard input, up to what a note may have and one byte more, which is then refused.
std::string text_of_input() {
  std::string text(home::longest_note_bytes + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  return text;
}

/// What somebody types at a terminal.
std::string typed_text(Workspace& workspace) {
  if (::isatty(STDIN_FILENO) != 1) {
    throw usage_error(
        "note: has no text",
        "such as 'sabath note @last \"warm-up too short\"'; '-' reads standard input");
  }
  workspace.observer().note("type the note; Ctrl-D on a line of its own ends it");
  return text_of_input();
}

std::string without_end(std::string text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text;
}

int run_note(const NoteOptions& options, Workspace& workspace) {
  const auto runs = chosen_runs(options.selection, workspace);
  const std::string text = without_end(options.text == "-"    ? text_of_input()
                                       : options.text.empty() ? typed_text(workspace)
                                                              : options.text);
  home::check_note(text);
  refuse_known_secrets(text, "note", workspace);
  const auto is_said = [&](const catalog::RunRow& run) {
    const auto said = home::read_statements(run.directory);
    return std::ranges::any_of(said, [&](const home::RunStatement& one) {
      return one.kind == home::RunStatement::Kind::note && one.text == text;
    });
  };
  const CareAnswer answer =
      say_to_runs(runs, home::RunStatement::Kind::note, text, is_said, workspace);
  std::string line;
  if (!answer.changed.empty()) line = "noted at " + base::counted(answer.changed.size(), "run");
  if (!answer.unchanged.empty()) {
    line += (line.empty() ? "" : "; ") + base::counted(answer.unchanged.size(), "run") +
            " already had this note";
  }
  return answer_with(answer, line + "\n", workspace);
}

}  // namespace

void setup_note(OptionParser& app, Action& action) {
  auto [command, options] = add_command(app, action, "note", "write a note to runs", run_note);
  command.add_option("selection", options.selection, "runs: as 'sabath help selections' says")
      ->required();
  command.add_option("text", options.text, "the note; '-' reads it from standard input");
}

}  // namespace sabath::cli
