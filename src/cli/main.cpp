#include "program.hpp"

int main(int argc, char** argv) {
  return sabath::cli::run_program(argc, argv);
}
