#include "program.hpp"

#include "answers.hpp"
#include "commands.hpp"
#include "commands/check.hpp"
#include "commands/env/env.hpp"
#include "display_width.hpp"
#include "exit_status.hpp"
#include "log.hpp"
#include "settings.hpp"
#include "workspace.hpp"

#include <sabath/arrays/reader_process.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/printable_json.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

using Setup = void (*)(CLI::App&, Action&);

/// The only list of commands, in the order of `sabath --help`.
constexpr std::array<Setup, 27> commands{
    setup_fetch,   setup_run,     setup_status,     setup_wait,    setup_logs,     setup_cancel,
    setup_collect, setup_compare, setup_report,     setup_explain, setup_baseline, setup_check,
    setup_repro,   setup_import,  setup_list,       setup_search,  setup_show,     setup_verify,
    setup_cache,   setup_env,     setup_probe,      setup_catalog, setup_doctor,   setup_completion,
    setup_help,    setup_exec,    setup_ask_library};

void tell(const std::string& message, const std::string& hint) {
  std::fputs(("sabath: error: " + message_text(message) + "\n").c_str(), stderr);
  if (!hint.empty()) std::fputs(("  hint: " + message_text(hint) + "\n").c_str(), stderr);
}

int tell_error(const base::Error& error, bool json) {
  log_event("error", base::printable(error.what()));
  if (json) {
    std::fputs(base::printable_json(json_error(error)).c_str(), stderr);
  } else {
    tell(error.what(), error.hint());
  }
  return exit_status(error.kind());
}

void setup_globals(CLI::App& app, GlobalOptions& options) {
  app.set_version_flag("--version", "sabath " + std::string(base::version()));
  app.add_flag("--json", options.json, "answer with one JSON document on stdout");
  app.add_flag("-q,--quiet", options.quiet, "no progress and no notes on stderr");
  app.add_option(
         "--catalog", options.catalogs, "a further folder with assets and recipes, searched first")
      ->allow_extra_args(false);
  app.require_subcommand(1);
  app.fallthrough();
}

/// The first word that is neither an option nor the folder of --catalog; empty where there is none.
std::string typed_command(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) return words[i];
    if (words[i] == "--catalog") ++i;
  }
  return {};
}

/// What CLI11 could not make sense of, with the nearest command. Its parser sets no option when it
/// fails, so that --json is looked for here.
int tell_parse_error(const CLI::App& app,
                     const CLI::ParseError& error,
                     const std::vector<std::string>& words) {
  std::string message = error.what();
  std::string hint = "'sabath help' lists the commands";
  const std::string typed = typed_command(words);
  if (!typed.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) {
      if (!command->get_group().empty()) names.push_back(command->get_name());
    }
    const bool known = std::find(names.begin(), names.end(), typed) != names.end();
    const std::string guess = base::nearest(typed, names);
    if (!known) message = "there is no command '" + typed + "'";
    if (known) hint = "'sabath " + typed + " --help' shows its options";
    if (!known && !guess.empty()) hint = "did you mean '" + guess + "'?";
  }
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  return tell_error(base::Error(base::ErrorKind::usage, message, hint), json);
}

/// --help and --version, which CLI11 would print without a look at whether that can be.
int answer_about_itself(const CLI::App& app, const CLI::Success& success) {
  std::ostringstream text;
  const int status = app.exit(success, text, text);
  try {
    write_answer(text.str());
    return status;
  } catch (const base::Error& error) {
    return tell_error(error, false);
  }
}

/// A file that is opened later must not become the one that answers go to: in the place of what is
/// closed comes what gives nothing and takes nothing, so that an answer that is lost is an error.
void fill_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != descriptor)
      ::_exit(exit_storage);
  }
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{
      "From a name to a verdict: data, environments, runs and comparisons of surrogate models",
      "sabath"};
  GlobalOptions options;
  Action action;
  setup_globals(app, options);
  for (const Setup setup : commands)
    setup(app, action);
  try {
    std::vector<std::string> words = shielded_arguments(argc, argv);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::Success& success) {
    return answer_about_itself(app, success);
  } catch (const CLI::ParseError& error) {
    return tell_parse_error(app, error, {argv + 1, argv + argc});
  } catch (const base::Error& error) {
    return tell_error(error, false);  // of 'env enter', which is over before anything else begins
  }
  options.command = app.get_subcommands().front()->get_name();
  try {
    Workspace workspace(options);
    const int status = action(workspace);
    log_event("exit", std::to_string(status));
    return status;
  } catch (const base::Error& error) {
    return tell_error(error, options.json);
  } catch (const std::filesystem::filesystem_error& error) {
    // A file system that refuses where nobody expects it is no bug of ours.
    const std::string place = error.path1().empty() ? "a file" : error.path1().string();
    return tell_error({base::ErrorKind::storage, place + ": " + error.code().message()},
                      options.json);
  }
}

}  // namespace

int run_program(int argc, char** argv) noexcept {
  // A reader that goes away (`sabath list | head`) is an error of a write, not a signal.
  ::signal(SIGPIPE, SIG_IGN);
  // So is a file that may grow no further (`ulimit -f`).
  ::signal(SIGXFSZ, SIG_IGN);
  fill_standard_descriptors();
  // A reader process, of which there may be many: no command line is parsed for it.
  if (argc == 3 && std::string_view(argv[1]) == arrays::reader_command)
    ::_exit(arrays::serve_arrays(argv[2]));
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("sabath: error: out of memory\n", stderr);
    return exit_storage;
  } catch (const std::exception& error) {
    tell(std::string("this is a bug in sabath: ") + error.what(),
         "please report it with the command you typed");
    return exit_bug;
  } catch (...) {
    std::fputs("sabath: error: this is a bug in sabath\n", stderr);
    return exit_bug;
  }
}

}  // namespace sabath::cli
