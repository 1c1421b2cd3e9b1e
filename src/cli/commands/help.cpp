#include "commands.hpp"
#include "exit_status.hpp"
#include "manual.hpp"
#include "workspace.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <CLI/CLI.hpp>

#include <memory>

namespace sabath::cli {
namespace {

struct HelpOptions {
  std::string page{};
  bool man = false;
};

std::string page_text(const std::string& name) {
  std::vector<std::string> names;
  for (const ManualPage& page : manual_pages()) {
    if (page.name == name) return std::string(page.text);
    names.emplace_back(page.name);
  }
  std::string all;
  for (const std::string& known : names)
    all += (all.empty() ? "" : ", ") + known;
  const std::string guess = base::nearest(name, names);
  throw base::Error(base::ErrorKind::not_found,
                    "help '" + base::printable(name) + "': there is no such page",
                    guess.empty() ? "pages: " + all : "did you mean '" + guess + "'?");
}

/// Not app.help(), which is about the command that was given: this one.
std::string list_of_commands(const CLI::App& app) {
  return app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
}

}  // namespace

void setup_help(CLI::App& app, Action& action) {
  auto options = std::make_shared<HelpOptions>();
  CLI::App* command = app.add_subcommand("help", "show the manual page of a command");
  command->add_option("page", options->page, "a command, or exit-status, environment, selections");
  command->add_flag("--man", options->man, "the whole manual as a man page");
  command->callback([&action, &app, options] {
    action = [&app, options](Workspace& workspace) -> int {
      workspace.refuse_json();
      if (options->man) {
        workspace.answer(manual_as_roff());
      } else {
        workspace.answer(options->page.empty() ? list_of_commands(app) : page_text(options->page));
      }
      return exit_done;
    };
  });
}

}  // namespace sabath::cli
