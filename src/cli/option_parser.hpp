#pragma once

#include <sabath/base/error.hpp>
#include <sabath/spec/metric.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): a library's namespace
class App;
class Option;
}  // namespace CLI

namespace sabath::cli {

/// One option, flag or operand of a command. Each function returns the option itself.
/// Ownership: its OptionParser.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required();
  /// `problem` returns why a value is wrong; empty: it is right.
  Option* check(std::function<std::string(const std::string&)> problem);
  Option* one_of(std::vector<std::string> words);
  Option* range(int least, int most);
  /// One occurrence takes one value, not all that follow.
  Option* one_each();
  /// The same, and commas separate the items of a value.
  Option* comma_separated();
  Option* expected(int least, int most);
  Option* excludes(const Option* other);
  Option* needs(const Option* other);
  /// The name of the value in the help text.
  Option* type_name(const std::string& name);
  /// Shows the default in the help text.
  Option* capture_default_str();
  /// The heading in the help text; empty: not listed.
  Option* group(const std::string& name);

 private:
  CLI::Option* option_;
};

/// A command as a completion script needs it. Without commands and options that are not listed.
struct CommandOutline {
  std::string name{};
  std::string description{};
  std::vector<std::pair<std::string, std::string>> options{};  ///< long name, description
  std::vector<CommandOutline> commands{};
};

/// The answer to --help or --version.
struct ParserAnswer {
  std::string text{};
  int status = 0;
};

/// The options, operands and sub-commands of a command. The only place that knows CLI11.
/// Thread safety: none. Ownership: a parser owns its sub-commands and options.
class OptionParser {
 public:
  /// Thrown by `parse` for words that the program does not understand.
  struct Problem {
    std::string message{};
    std::string hint{};
    std::string command{};  ///< "env lock", as far as it was understood
    bool lacks_operand = false;
  };

  /// Of the program, whose own options may follow a sub-command. `version` answers --version.
  OptionParser(const std::string& description, const std::string& name, const std::string& version);
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  /// `names` is "-q,--quiet" or, of an operand, a word without '-'. `value` must outlive parsing.
  /// Defined for the types that option_parser.cpp lists.
  template <class T>
  Option* add_option(const std::string& names, T& value, const std::string& description = {});
  Option* add_flag(const std::string& names, bool& value, const std::string& description);

  OptionParser* add_subcommand(const std::string& name, const std::string& description);
  OptionParser* require_subcommand(int count);
  /// The heading in the help text; empty: not listed.
  OptionParser* group(const std::string& name);
  /// Called when parsing has met the command.
  OptionParser* callback(std::function<void()> call);

  /// Returns what to print where the words ask for --help or --version. Throws Problem.
  std::optional<ParserAnswer> parse(std::vector<std::string> words);
  std::string named_command() const;
  /// The help text of this command, whichever was named.
  std::string help() const;
  CommandOutline outline() const;

 private:
  explicit OptionParser(CLI::App* app);
  Option* keep(CLI::Option* option);

  std::unique_ptr<CLI::App> own_;  ///< of the program; else empty
  CLI::App* app_;
  std::vector<std::unique_ptr<Option>> options_{};
  std::vector<std::unique_ptr<OptionParser>> commands_{};
};

/// An error of kind usage: the command line itself is wrong.
base::Error usage_error(const std::string& problem, const std::string& hint = {});

/// The duration that an option names. Throws Error{usage} with `examples` of right ones.
std::chrono::seconds duration_of(const std::string& option,
                                 const std::string& text,
                                 const std::string& examples);

/// --require, the rung that must hold.
void add_rung(OptionParser& command, std::string& rung);
/// --rtol and --atol.
void add_tolerances(OptionParser& command, spec::Tolerance& tolerance);

/// For Option::check: why the word of an option is not what it must be; empty where it is.
std::string why_no_amount(const std::string& text);  ///< a finite number of zero or more
std::string why_no_count(const std::string& text);   ///< a whole number of one or more

}  // namespace sabath::cli
