#pragma once

#include "commands.hpp"

namespace sabath::cli {

void setup_baseline(CLI::App& app, Action& action);
void setup_check(CLI::App& app, Action& action);

}  // namespace sabath::cli
