// Catch alone in one file: it is the slowest thing to compile here.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <cstdlib>

int main(int argc, char** argv) {
  // Plugins of hwloc (OpenCL, X) leak, in libraries that are gone when leaks are counted.
  ::setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
  return Catch::Session().run(argc, argv);
}

// HDF5 loses a buffer when a file cannot be closed because the disk is full; nothing of ours.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the name is the sanitizer's
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}  // NOLINT
