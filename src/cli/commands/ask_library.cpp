#include "commands.hpp"

#include <sabath/base/error.hpp>
#include <sabath/probe/library_versions.hpp>

#include <cstdio>
#include <memory>

#include <sys/resource.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

/// Runs as the command line is read, so that the library finds neither threads nor open files of
/// ours, and ends without its destructors.
[[noreturn]] void ask(const std::string& library) {
  const struct rlimit no_core {};
  ::setrlimit(RLIMIT_CORE, &no_core);
  int status = 1;
  try {
    const std::string answer = probe::answer_lines(probe::ask_library(library));
    std::fflush(stdout);
    std::fputs(answer.c_str(), stdout);
    status = 0;
  } catch (const base::Error& error) {
    std::fprintf(stderr, "says: %s\n", error.what());
  }
  std::fflush(stdout);
  std::fflush(stderr);
  ::_exit(status);
}

}  // namespace

/// What runs start for each library that they ask; not for people.
void setup_ask_library(OptionParser& app, Action&) {
  auto library = std::make_shared<std::string>();
  OptionParser* command = app.add_subcommand("ask-library", "")->group("");
  command->add_option("library", *library, "")->required();
  command->callback([library] { ask(*library); });
}

}  // namespace sabath::cli
