#pragma once

#include "commands.hpp"

#include <sabath/base/process/process.hpp>

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
  bool packed = false;
  bool may_build = false;
  bool no_build = false;
  bool why = false;
  std::string older_than = "1d";
  bool dry_run = false;
};

/// The words of the command line, in which those after "--" of `env exec`, `env enter` and `exec
/// --rank` are marked: CLI11 takes a word such as "[a,b]" apart, which a command must get as it is.
std::vector<std::string> shielded_arguments(int argc, char** argv);
std::vector<std::string> unshielded(std::vector<std::string> words);
/// Becomes the command, looked for on the PATH of `variables`. Throws Error{launch}.
[[noreturn]] void become(const std::vector<std::string>& command,
                         const base::Environment& variables);
/// --variant of a command.
void add_variant(CLI::App& command, EnvOptions& options);
void setup_env_lock(CLI::App& group, Action& action);
void setup_env_fetch(CLI::App& group, Action& action);
void setup_env_pack(CLI::App& group, Action& action);
void setup_env_show(CLI::App& group, Action& action);
void setup_env_remove(CLI::App& group, Action& action);

}  // namespace sabath::cli
