#include "option_parser.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <utility>

namespace sabath::cli {
namespace {

CommandOutline outline_of(const CLI::App& app) {
  CommandOutline outline{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) outline.commands.push_back(outline_of(*command));
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      outline.options.emplace_back("--" + name, option->get_description());
  }
  return outline;
}

/// Says which option lacks its value, and what it takes.
void name_option(const CLI::App& command, OptionParser::Problem& problem) {
  if (!problem.message.ends_with(" missing")) return;
  const std::string name = problem.message.substr(0, problem.message.find(':'));
  problem.message = "option '" + name + "' needs a value";
  for (const auto& [option, description] : outline_of(command).options) {
    if (option == name) problem.hint = name + ": " + description;
  }
}

/// Returns what an option of another command is called here, else the nearest option.
std::string option_hint(const std::string& option,
                        const std::vector<std::string>& options,
                        const std::string& otherwise) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> same{
      {{"--site", "--on"}, {"--on", "--site"}}};
  for (const auto& [there, here] : same) {
    if (option == there && std::ranges::find(options, here) != options.end())
      return "did you mean '" + std::string(here) + "'?";
  }
  return base::did_you_mean(option, options, otherwise);
}

/// Describes what the parser did not understand; `error` has its own words.
OptionParser::Problem problem_of(const CLI::App& program, const CLI::ParseError& error) {
  OptionParser::Problem problem{error.what(), {}, {}};
  const CLI::App* command = &program;
  std::vector<std::string> options;
  const auto add_options = [&] {
    for (const auto& [name, description] : outline_of(*command).options)
      options.push_back(name);
  };
  add_options();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    problem.command += (problem.command.empty() ? "" : " ") + command->get_name();
    add_options();
  }
  const bool is_program = command == &program;
  const std::string prefix = is_program ? "" : problem.command + " ";
  problem.hint = is_program ? "'sabath help' lists the commands"
                            : "'sabath " + prefix + "--help' shows its options";
  std::vector<std::string> commands;
  for (const CommandOutline& inner : outline_of(*command).commands)
    commands.push_back(inner.name);
  for (const std::string& word : program.remaining(true)) {
    const std::string option = word.substr(0, word.find('='));
    if (word.starts_with('-') && word != "-")
      return {"unknown option '" + option + "'",
              option_hint(option, options, problem.hint),
              problem.command};
    if (!commands.empty())
      return {"unknown command '" + prefix + word + "'",
              base::did_you_mean(word, commands, problem.hint),
              problem.command};
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) name_option(*command, problem);
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return problem;
  if (!commands.empty() && !is_program) {
    problem.message = problem.command + ": a command is missing";
    problem.hint = fmt::format("one of {}", fmt::join(commands, ", "));
  }
  for (const CLI::Option* option : command->get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    problem.message = prefix.substr(0, prefix.size() - 1) + ": '" + option->get_name() +
                      "' is missing: " + option->get_description();
    problem.lacks_operand = true;
    break;
  }
  return problem;
}

}  // namespace

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::check(std::function<std::string(const std::string&)> problem) {
  option_->check(std::move(problem));
  return this;
}

Option* Option::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return this;
}

Option* Option::range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return this;
}

Option* Option::one_each() {
  option_->allow_extra_args(false);
  return this;
}

Option* Option::comma_separated() {
  option_->delimiter(',');
  return one_each();
}

Option* Option::expected(int least, int most) {
  option_->expected(least, most);
  return this;
}

Option* Option::excludes(const Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::needs(const Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Option* Option::group(const std::string& name) {
  option_->group(name);
  return this;
}

OptionParser::OptionParser(const std::string& description,
                           const std::string& name,
                           const std::string& version)
    : own_(std::make_unique<CLI::App>(description, name)), app_(own_.get()) {
  app_->set_version_flag("--version", version);
  app_->fallthrough();
}

OptionParser::OptionParser(CLI::App* app) : app_(app) {}

OptionParser::~OptionParser() = default;

Option* OptionParser::keep(CLI::Option* option) {
  return options_.emplace_back(std::make_unique<Option>(option)).get();
}

template <class T>
Option* OptionParser::add_option(const std::string& names,
                                 T& value,
                                 const std::string& description) {
  return keep(app_->add_option(names, value, description));
}

using Strings = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;
using Text = const std::string&;
template Option* OptionParser::add_option(Text, std::string&, Text);
template Option* OptionParser::add_option(Text, int&, Text);
template Option* OptionParser::add_option(Text, unsigned&, Text);
template Option* OptionParser::add_option(Text, std::size_t&, Text);
template Option* OptionParser::add_option(Text, Strings&, Text);
template Option* OptionParser::add_option(Text, std::vector<int>&, Text);
template Option* OptionParser::add_option(Text, Pairs&, Text);
template Option* OptionParser::add_option(Text, std::optional<int>&, Text);
template Option* OptionParser::add_option(Text, std::optional<std::uint64_t>&, Text);
template Option* OptionParser::add_option(Text, std::optional<double>&, Text);

Option* OptionParser::add_flag(const std::string& names,
                               bool& value,
                               const std::string& description) {
  return keep(app_->add_flag(names, value, description));
}

OptionParser* OptionParser::add_subcommand(const std::string& name,
                                           const std::string& description) {
  commands_.emplace_back(new OptionParser(app_->add_subcommand(name, description)));
  return commands_.back().get();
}

OptionParser* OptionParser::require_subcommand(int count) {
  app_->require_subcommand(count);
  return this;
}

OptionParser* OptionParser::group(const std::string& name) {
  app_->group(name);
  return this;
}

OptionParser* OptionParser::callback(std::function<void()> call) {
  app_->callback(std::move(call));
  return this;
}

std::optional<ParserAnswer> OptionParser::parse(std::vector<std::string> words) {
  std::ranges::reverse(words);  // CLI11 takes the last word first
  try {
    app_->parse(std::move(words));
  } catch (const CLI::Success& success) {
    std::ostringstream text;
    const int status = app_->exit(success, text, text);
    return ParserAnswer{text.str(), status};
  } catch (const CLI::ParseError& error) {
    throw problem_of(*app_, error);
  }
  return std::nullopt;
}

std::string OptionParser::named_command() const {
  return app_->get_subcommands().front()->get_name();
}

std::string OptionParser::help() const {
  return app_->get_formatter()->make_help(app_, app_->get_name(), CLI::AppFormatMode::Normal);
}

CommandOutline OptionParser::outline() const {
  return outline_of(*app_);
}

base::Error usage_error(const std::string& problem, const std::string& hint) {
  return {base::ErrorKind::usage, problem, hint};
}

std::chrono::seconds duration_of(const std::string& option,
                                 const std::string& text,
                                 const std::string& examples) {
  if (const auto duration = base::parse_duration(text)) return *duration;
  throw usage_error("'" + option + "': invalid duration '" + base::printable(text) + "'",
                    "such as " + examples + "; at most 100 years");
}

void add_rung(OptionParser& command, std::string& rung) {
  command.add_option("--require", rung, "the rung that must hold: bitwise, ulp or tolerance")
      ->one_of({"bitwise", "ulp", "tolerance"});
}

void add_tolerances(OptionParser& command, spec::Tolerance& tolerance) {
  command.add_option("--rtol", tolerance.relative, "relative tolerance, instead of the recipe's")
      ->check(why_no_amount);
  command.add_option("--atol", tolerance.absolute, "absolute tolerance, instead of the recipe's")
      ->check(why_no_amount);
}

std::string why_no_amount(const std::string& text) {
  const auto number = collect::number_of(text);
  if (number && std::isfinite(*number) && *number >= 0) return {};
  return "must be a number of zero or more, not '" + base::printable(text) + "'";
}

std::string why_no_count(const std::string& text) {
  const auto number = collect::whole_number_of(text);
  if (number && *number >= 1) return {};
  return "must be a whole number of one or more, not '" + base::printable(text) + "'";
}

}  // namespace sabath::cli
