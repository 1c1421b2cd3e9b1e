#include "exit_status.hpp"
#include "program.hpp"

#include <cstdio>

#include <sys/resource.h>

namespace {

/// With less even the options cannot be read, and the kernel ends the program without a word.
constexpr rlim_t least_stack_bytes = 256U << 10U;

}  // namespace

int main(int argc, char** argv) {
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < least_stack_bytes) {
    std::fputs("sabath: error: the limit of the stack is below 256 KiB\n  hint: ulimit -s 8192\n",
               stderr);
    return sabath::cli::exit_usage;
  }
  return sabath::cli::run_program(argc, argv);
}
