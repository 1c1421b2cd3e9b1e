#include "support/packages/python_tools.hpp"

#include <sabath/base/process/process.hpp>

#include <cstdlib>
#include <stdexcept>

namespace sabath::test {

std::filesystem::path python_tools() {
  base::Command command;
  command.argv = {SABATH_SOURCE_DIR "/tests/support/packages/python_tools.sh", SABATH_PYTHON_TOOLS};
  const auto result = base::SystemProcessRunner().run(command);
  if (!result.ok()) throw std::runtime_error("python_tools.sh: " + result.errors);
  return result.output.substr(0, result.output.find('\n'));
}

// The tests of one executable run one after the other, in a process with no other threads yet.
// NOLINTBEGIN(concurrency-mt-unsafe)
PythonToolsOnPath::PythonToolsOnPath() : old_(::getenv("PATH")) {
  ::setenv("PATH", (python_tools().string() + ":" + old_).c_str(), 1);
}

PythonToolsOnPath::~PythonToolsOnPath() {
  ::setenv("PATH", old_.c_str(), 1);
}
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace sabath::test
