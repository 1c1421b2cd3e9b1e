// Catch alone in one file: it is the slowest thing to compile here.
#define CATCH_CONFIG_RUNNER
#include <sabath/arrays/reader_process.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == sabath::arrays::reader_command)
    std::_Exit(sabath::arrays::serve_arrays(argv[2]));
  // Plugins of hwloc (OpenCL, X) leak, in libraries that are gone when leaks are counted.
  ::setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
  return Catch::Session().run(argc, argv);
}

// HDF5 loses a buffer when a file cannot be closed because the disk is full; nothing of ours.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the name is the sanitizer's
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}  // NOLINT
