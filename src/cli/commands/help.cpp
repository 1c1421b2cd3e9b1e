#include "commands.hpp"
#include "manual.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

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
  const std::string guess = base::nearest(name, names);
  throw base::Error(base::ErrorKind::not_found,
                    "help '" + base::printable(name) + "': this page does not exist",
                    guess.empty() ? fmt::format("pages: {}", fmt::join(names, ", "))
                                  : "did you mean '" + guess + "'?");
}

}  // namespace

void setup_help(OptionParser& app, Action& action) {
  auto options = std::make_shared<HelpOptions>();
  OptionParser* command = app.add_subcommand("help", "show the manual page of a command");
  command->add_option("page", options->page, "a command, or exit-status, environment, selections");
  command->add_flag("--man", options->man, "the whole manual as a man page");
  command->callback([&action, &app, options] {
    action = [&app, options](Workspace& workspace) -> int {
      workspace.refuse_json();
      if (options->man) {
        workspace.answer(manual_as_roff());
      } else {
        workspace.answer(options->page.empty() ? app.help() : page_text(options->page));
      }
      return exit_done;
    };
  });
}

}  // namespace sabath::cli
