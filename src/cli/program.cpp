#include "answers.hpp"
#include "commands.hpp"
#include "commands/env/env.hpp"
#include "exit_status.hpp"
#include "log.hpp"
#include "manual.hpp"
#include "option_parser.hpp"
#include "settings.hpp"
#include "workspace.hpp"

#include <sabath/arrays/reader_process.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/display_width.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/version.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

/// The only list of commands, in the order of `sabath --help`.
constexpr std::array<Setup*, 40> commands{
    setup_learn,      setup_init,   setup_fetch,    setup_run,        setup_status,  setup_wait,
    setup_logs,       setup_cancel, setup_serve,    setup_view,       setup_collect, setup_compare,
    setup_rank,       setup_report, setup_explain,  setup_baseline,   setup_check,   setup_repro,
    setup_import,     setup_export, setup_validate, setup_add,        setup_list,    setup_search,
    setup_show,       setup_tag,    setup_untag,    setup_note,       setup_archive, setup_rm,
    setup_verify,     setup_cache,  setup_env,      setup_probe,      setup_catalog, setup_doctor,
    setup_completion, setup_help,   setup_exec,     setup_ask_library};

void tell(const std::string& message, const std::string& hint) {
  std::fputs(("sabath: error: " + base::message_text(message) + "\n").c_str(), stderr);
  if (!hint.empty()) std::fputs(("  hint: " + base::message_text(hint) + "\n").c_str(), stderr);
}

int report_error(const base::Error& error, bool json) {
  log_event("error", base::printable(error.what()));
  if (json) {
    std::fputs(base::printable_json(json_error(error)).c_str(), stderr);
  } else {
    tell(error.what(), error.hint());
  }
  return exit_status(error.kind());
}

/// Returns the first example of a command on its page; empty without one.
std::string example_of(const std::string& command) {
  const std::string start = "sabath " + command + " ";
  for (const ManualPage& page : manual_pages()) {
    if (page.name != command.substr(0, command.find(' '))) continue;
    std::istringstream lines{std::string(page.text)};
    for (std::string line; std::getline(lines, line);) {
      const std::size_t begin = line.find(start);
      if (begin != std::string::npos &&
          line.substr(0, begin).find_first_not_of(" $") == std::string::npos)
        return line.substr(begin, line.find("  ", begin) - begin);
    }
  }
  return {};
}

/// Reports words that were not understood. The parser sets no option when it fails, so that --json
/// is looked for here.
int report_parse_error(const OptionParser::Problem& problem,
                       const std::vector<std::string>& words) {
  const std::string example = problem.lacks_operand ? example_of(problem.command) : "";
  const std::string hint = example.empty() ? problem.hint : "such as '" + example + "'";
  const bool json = std::ranges::find(words, "--json") != words.end();
  return report_error(base::Error(base::ErrorKind::usage, problem.message, hint), json);
}

/// With less even the options cannot be read, and the kernel ends the program without a word.
constexpr rlim_t least_stack_bytes = 256U << 10U;

/// A file that is opened later must not become the one that answers go to. So a closed descriptor
/// is replaced by one that gives nothing and takes nothing. An answer that is lost is then an
/// error.
void fill_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != descriptor)
      ::_exit(exit_storage);
  }
}

int parse_and_run(int argc, char** argv) {
  OptionParser app(
      "From a name to a verdict: data, environments, runs and comparisons of surrogate models",
      "sabath",
      "sabath " + std::string(base::version()));
  GlobalOptions options;
  Action action;
  app.add_flag("--json", options.json, "answer with one JSON document on stdout");
  app.add_flag("-q,--quiet", options.quiet, "no progress and no notes on stderr");
  app.add_option(
         "--catalog", options.catalogs, "a further folder with assets and recipes, searched first")
      ->one_each();
  app.require_subcommand(1);
  for (Setup* const setup : commands)
    setup(app, action);
  try {
    if (const auto answer = app.parse(shielded_arguments(argc, argv))) {
      write_answer(answer->text);
      return answer->status;
    }
  } catch (const OptionParser::Problem& problem) {
    return report_parse_error(problem, {argv + 1, argv + argc});
  } catch (const base::Error& error) {
    // Of 'env enter', which is over before anything else begins, or of stdout.
    return report_error(error, false);
  }
  options.command = app.named_command();
  try {
    Workspace workspace(options);
    const int status = action(workspace);
    log_event("exit", std::to_string(status));
    return status;
  } catch (const base::Error& error) {
    return report_error(error, options.json);
  } catch (const std::filesystem::filesystem_error& error) {
    // An unexpected failure of the file system is not a bug of sabath.
    const std::string place = error.path1().empty() ? "a file" : error.path1().string();
    return report_error({base::ErrorKind::storage, place + ": " + error.code().message()},
                        options.json);
  }
}

/// All of sabath, from an argument vector to an exit status.
int run_program(int argc, char** argv) noexcept {
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < least_stack_bytes) {
    std::fputs("sabath: error: the limit of the stack is below 256 KiB\n  hint: ulimit -s 8192\n",
               stderr);
    return exit_usage;
  }
  // A reader that goes away (`sabath list | head`) is an error of a write, not a signal.
  ::signal(SIGPIPE, SIG_IGN);
  // So is a file that may grow no further (`ulimit -f`).
  ::signal(SIGXFSZ, SIG_IGN);
  fill_standard_descriptors();
  // A reader process starts without parsing a command line: there may be many.
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

}  // namespace

}  // namespace sabath::cli

int main(int argc, char** argv) {
  return sabath::cli::run_program(argc, argv);
}
