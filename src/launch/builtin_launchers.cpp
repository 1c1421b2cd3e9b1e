#include "local_launcher.hpp"

namespace sabath::launch {

std::vector<std::unique_ptr<Launcher>> builtin_launchers() {
  std::vector<std::unique_ptr<Launcher>> launchers;
  launchers.push_back(std::make_unique<LocalLauncher>());
  return launchers;
}

}  // namespace sabath::launch
