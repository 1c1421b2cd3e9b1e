#include "commands.hpp"
#include "completion_script.hpp"

#include <memory>

namespace sabath::cli {

void setup_completion(OptionParser& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  OptionParser* command = app.add_subcommand("completion", "print a completion script for a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->one_of({"bash", "zsh", "fish"});
  command->callback([&action, &app, shell] {
    action = [&app, shell](Workspace& workspace) -> int {
      workspace.refuse_json();
      workspace.answer(completion_script(app.outline(), *shell));
      return exit_done;
    };
  });
}

}  // namespace sabath::cli
