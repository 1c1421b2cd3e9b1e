#pragma once

namespace sabath::cli {

struct GlobalOptions;

/// All of sabath, from an argument vector to an exit status. Nothing is thrown out of it.
int run_program(int argc, char** argv) noexcept;

}  // namespace sabath::cli
