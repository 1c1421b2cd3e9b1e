#pragma once

#include <sabath/base/process/process.hpp>

#include <string>
#include <utility>
#include <vector>

namespace sabath::test {

/// A command for one of the odd programs in support/programs.
inline base::Command program(const std::string& name, std::vector<std::string> arguments = {}) {
  base::Command command;
  command.argv = {SABATH_TEST_PROGRAMS "/" + name};
  for (std::string& argument : arguments)
    command.argv.push_back(std::move(argument));
  return command;
}

/// A command that runs a line of shell.
inline base::Command shell(const std::string& line) {
  base::Command command;
  command.argv = {"/bin/sh", "-c", line};
  return command;
}

}  // namespace sabath::test
