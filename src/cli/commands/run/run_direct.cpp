#include "commands/env/env.hpp"
#include "exit_status.hpp"
#include "run.hpp"
#include "selected_runs.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/drafts/command_recipe.hpp>
#include <sabath/home/run_logs.hpp>
#include <sabath/spec/script_recipe.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <thread>

#include <unistd.h>

namespace sabath::cli {
namespace {

namespace fs = std::filesystem;

/// Between two looks at what a command wrote.
constexpr std::chrono::milliseconds between_looks(50);

/// Shows what a command writes, as it writes it, until it goes out of scope.
/// Thread safety: none.
class CommandEcho {
 public:
  /// `to`: the descriptor that the command's stdout goes to.
  CommandEcho(fs::path run_directory, int to)
      : directory_(std::move(run_directory)),
        thread_([this, to](const std::stop_token& stop) { follow(to, stop); }) {}

 private:
  void follow(int to, const std::stop_token& stop) {
    std::optional<home::RunLogs> output;
    std::optional<home::RunLogs> errors;
    for (bool is_last = false; !is_last;) {
      is_last = stop.stop_requested();  // asked first: then all is there
      try {
        if (!output) output.emplace(directory_, choice(false));
        if (!errors) errors.emplace(directory_, choice(true));
        show(*output, to);
        show(*errors, STDERR_FILENO);
      } catch (const std::exception&) {
        // The plan is not written yet, or the logs cannot be read: 'sabath logs' says why.
      }
      if (!is_last) std::this_thread::sleep_for(between_looks);
    }
  }
  static home::RunLogs::Choice choice(bool errors) {
    return {std::string(spec::command_stage), errors, false};
  }
  static void show(home::RunLogs& logs, int to) {
    for (std::string text = logs.more(); !text.empty(); text = logs.more()) {
      std::string_view rest = text;
      while (!rest.empty()) {
        const ssize_t written = ::write(to, rest.data(), rest.size());
        if (written <= 0) return;  // nobody reads it: the log has it
        rest.remove_prefix(static_cast<std::size_t>(written));
      }
    }
  }

  fs::path directory_;
  std::jthread thread_;
};

std::vector<std::string> words_of(const RunOptions& options) {
  std::vector<std::string> words{options.recipe};
  words.insert(words.end(), options.command.begin(), options.command.end());
  words = unshielded(words);
  if (words.front().empty()) throw usage_error("run --: the command is empty");
  for (const std::string& word : words)
    require_utf8("run --", word);
  return words;
}

bool is_program(const std::string& word) {
  std::error_code code;
  if (word.find('/') == std::string::npos) return base::find_program(word).has_value();
  return fs::exists(word, code);
}

void check_program(const std::vector<std::string>& words, Workspace& workspace) {
  const std::string& word = words.front();
  if (is_program(word)) return;
  const std::string place = "run --: '" + base::printable(word) + "': ";
  const bool is_recipe = words.size() == 1 && base::is_safe_name(word) &&
                         if_found([&] { return workspace.documents().recipe(word); });
  if (is_recipe) {
    throw usage_error(place + "is a recipe, and after -- there is always a command",
                      "sabath run " + word);
  }
  std::error_code code;
  const bool is_script = word.find('/') == std::string::npos && fs::exists(word, code);
  throw base::Error(base::ErrorKind::not_found,
                    place + "command not found",
                    is_script
                        ? "a file here needs its interpreter: 'sabath run -- python " +
                              base::printable(word) + "', or './" + base::printable(word) + "'"
                        : "check the spelling and the PATH, or activate its environment");
}

/// What only a recipe can have.
void refuse_options(const RunOptions& options) {
  const std::array<std::pair<bool, const char*>, 13> of_recipes{
      {{!options.set.empty(), "--set"},
       {!options.parameters.empty(), "--parameters"},
       {options.repeat.has_value(), "--repeat"},
       {!options.perturb.empty(), "--perturb"},
       {!options.variant.empty(), "--variant"},
       {!options.task.empty(), "--task"},
       {!options.stop_when_diverged.empty(), "--stop-when-diverged"},
       {!options.sweep.empty() || options.zip, "--sweep"},
       {!options.seeds.empty(), "--seeds"},
       {!options.study.empty(), "--study"},
       {!options.jobs.empty(), "--jobs"},
       {!options.on.empty(), "--on"},
       {!options.resume.empty() || !options.prepare.empty(), "--resume or --prepare"}}};
  for (const auto& [is_given, option] : of_recipes) {
    if (!is_given) continue;
    throw usage_error(std::string(option) + ": needs a recipe, and after -- there is a command",
                      "'sabath init' makes a recipe of a script, or of such a run");
  }
}

void show_outcome(const execution::RunOutcome& outcome, Workspace& workspace) {
  if (workspace.json()) {
    workspace.answer(json_answer(std::vector{outcome}));
    return;
  }
  // stdout is the command's own.
  for (const std::string_view line : base::split(outcome_answer(outcome), '\n'))
    workspace.observer().note(line);
}

}  // namespace

bool is_direct(const RunOptions& options) {
  return unshielded({options.recipe}).front() != options.recipe;
}

int run_direct(const RunOptions& options, Workspace& workspace) {
  refuse_options(options);
  const std::vector<std::string> words = words_of(options);
  check_program(words, workspace);
  const fs::path folder = fs::current_path();
  require_utf8("run --", folder.string());
  const drafts::CommandRecipe recipe = drafts::command_recipe(words, folder);
  const fs::path parent = workspace.folders().state() / "commands";
  base::make_directories(parent);
  const base::TempDir place(parent);
  workspace.remove_at_signal(place.path());
  drafts::write_command_recipe(recipe, folder, place.path());
  RunOptions of_recipe = options;
  of_recipe.recipe = (place.path() / "recipe.json").string();
  of_recipe.command.clear();
  planning::RunRequest request = request_from(of_recipe, workspace);
  request.command = spec::DirectCommand{words, folder.string()};
  if (options.dry_run)
    return show_dry_run(of_recipe, request, points_of(of_recipe, request), workspace);
  set_place(options, request, workspace);
  std::optional<CommandEcho> echo;
  const int output = workspace.json() ? STDERR_FILENO : STDOUT_FILENO;
  request.study.announce_id = [&](const std::string& id) {
    echo.emplace(workspace.folders().runs() / id, output);
  };
  const execution::RunOutcome outcome =
      workspace.runner().run(request, workspace.observer(), workspace.stop());
  echo.reset();
  workspace.index_runs();
  show_outcome(outcome, workspace);
  return exit_status(outcome.state);
}

}  // namespace sabath::cli
