#include "commands.hpp"
#include "exit_status.hpp"
#include "selected_runs.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/program.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/drafts/recipe_draft.hpp>

#include <filesystem>
#include <iostream>
#include <string>

#include <unistd.h>

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;

struct InitOptions {
  std::string what = ".";
  std::string name{};
  std::string to{};
  bool yes = false;
};

/// A file, a folder, or a run: in this order, as a run is not called like a file that is there.
drafts::DraftRequest request_of(const std::string& what, Workspace& workspace) {
  std::error_code code;
  const fs::path path = fs::absolute(what, code).lexically_normal();
  drafts::DraftRequest request;
  if (fs::is_regular_file(path, code)) {
    request.folder = path.parent_path();
    request.script = path.filename();
    return request;
  }
  if (fs::is_directory(path, code)) {
    request.folder = path.has_filename() ? path : path.parent_path();
    request.script = drafts::script_of_folder(request.folder);
    return request;
  }
  return found_as(what, "file, folder or run", [&] {
    return drafts::request_of_run(one_run(what, workspace).directory);
  });
}

/// Asks only a person at a terminal.
bool is_agreed(const fs::path& to, const InitOptions& options, Workspace& workspace) {
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (options.yes || workspace.json() || !can_ask) return true;
  std::fputs(("write the recipe into " + base::printable(to.string()) + "? [Y/n] ").c_str(),
             stderr);
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  return answer.empty() || answer == "y" || answer == "Y" || answer == "yes";
}

std::string text_of(const drafts::RecipeDraft& draft, const fs::path& to) {
  std::string text = "recipe " + draft.name + " in " + base::printable(to.string()) + "\n";
  for (const std::string& guess : draft.guesses)
    text += "  guessed: " + base::printable(guess) + "\n";
  const std::string place = to.is_relative() ? "./" + to.string() : to.string();
  return text + "next: " + base::shown_command({"sabath", "run", place, "--dry-run"}) + "\n";
}

int run_init(const InitOptions& options, Workspace& workspace) {
  drafts::DraftRequest request = request_of(options.what, workspace);
  request.name = options.name;
  if (!options.name.empty() && !base::is_safe_name(options.name)) {
    throw usage_error("--name: '" + base::printable(options.name) + "' is not a name",
                      "lower-case letters, digits, '.', '_' and '-'");
  }
  const drafts::RecipeDraft draft =
      drafts::draft_recipe(request, workspace.processes(), workspace.stop());
  const fs::path to = options.to.empty() ? fs::path(draft.name + "-recipe") : fs::path(options.to);
  if (!is_agreed(to, options, workspace)) return exit_no;
  drafts::write_draft(draft, to);
  workspace.answer(workspace.json() ? drafts::json_of(draft, to) : text_of(draft, to));
  return exit_done;
}

}  // namespace

void setup_init(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "init", "make a recipe of a script, or of a run of a command", run_init);
  command.add_option(
      "what", options.what, "a script, its folder (.), or a run of 'run -- COMMAND'");
  command.add_option("--name", options.name, "the recipe's name; else the script's");
  command.add_option("--to", options.to, "the new folder; else NAME-recipe here");
  command.add_flag("-y,--yes", options.yes, "ask nothing");
}

}  // namespace sabath::cli
