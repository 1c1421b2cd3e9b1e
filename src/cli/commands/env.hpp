#pragma once

#include "commands.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sabath::cli {

class Workspace;

/// What the commands of `env` share.
struct EnvOptions {
  std::string name{};
  std::vector<std::string> names{};
  std::vector<std::string> command{};
  std::string platform{};
  std::string python{};
  std::string variant{};
  bool retry = false;
  bool offline = false;
  bool why = false;
  std::string older_than = "1d";
  bool dry_run = false;
};

/// --variant of a command.
void add_variant(CLI::App& command, EnvOptions& options);
void setup_env_lock(CLI::App& group, Action& action);
void setup_env_fetch(CLI::App& group, Action& action);
void setup_env_show(CLI::App& group, Action& action);
void setup_env_remove(CLI::App& group, Action& action);

}  // namespace sabath::cli
