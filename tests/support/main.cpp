// Catch's main alone in one file: it is the slowest thing to compile here.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// HDF5 loses a buffer when a file cannot be closed because the disk is full; nothing of ours.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the name is the sanitizer's
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}  // NOLINT
