#pragma once

#include "commands.hpp"

#include <sabath/base/process/process.hpp>

#include <string>
#include <vector>

namespace sabath::cli {

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

/// Returns the words of the command line. Those after "--" of `run`, `env exec`, `env enter` and
/// `exec --rank` are marked. CLI11 takes a word such as "[a,b]" apart, but a command must get it
/// unchanged.
std::vector<std::string> shielded_arguments(int argc, char** argv);
std::vector<std::string> unshielded(std::vector<std::string> words);
void add_variant(OptionParser& command, EnvOptions& options);
Setup setup_env_show;

}  // namespace sabath::cli
