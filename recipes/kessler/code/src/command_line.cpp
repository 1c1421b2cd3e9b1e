#include "command_line.h"

#include "error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace kessler {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const std::string& name, std::string_view text, const std::string& why) {
  throw UsageError("--" + name + ": '" + std::string(text) + "' is not " + why);
}

}  // namespace

CommandLine::CommandLine(std::string program, std::string summary)
    : program_(std::move(program)), summary_(std::move(summary)) {}

void CommandLine::add(const std::string& name,
                      const std::string& help,
                      std::function<void(std::string_view)> assign) {
  options_.push_back({name, help, std::move(assign)});
}

void CommandLine::required(const std::string& name, std::string& target, const std::string& help) {
  add(name, help + " (required)", [name, &target](std::string_view text) {
    if (text.empty()) throw UsageError("--" + name + ": the value is empty");
    target = text;
  });
  options_.back().is_required = true;
}

void CommandLine::text(const std::string& name, std::string& target, const std::string& help) {
  add(name, help + " (default " + target + ")", [&target](std::string_view text) {
    target = text;
  });
}

void CommandLine::choice(const std::string& name,
                         std::string& target,
                         const std::vector<std::string>& values,
                         const std::string& help) {
  std::string listed;
  for (const std::string& value : values)
    listed += (listed.empty() ? "" : " or ") + value;
  add(name,
      help + " (" + listed + "; default " + target + ")",
      [name, &target, values, listed](std::string_view text) {
        if (std::find(values.begin(), values.end(), text) == values.end()) {
          refuse(name, text, listed);
        }
        target = text;
      });
}

void CommandLine::seed(const std::string& name, std::uint64_t& target, const std::string& help) {
  add(name,
      help + " (default " + std::to_string(target) + ")",
      [name, &target](std::string_view text) {
        const auto value = parse_number<std::uint64_t>(text);
        if (!value) refuse(name, text, "a whole number from 0 to 2^64 - 1");
        target = *value;
      });
}

void CommandLine::integer(
    const std::string& name, int& target, int least, const std::string& help, int most) {
  std::string range = "a whole number of at least " + std::to_string(least);
  if (most < std::numeric_limits<int>::max()) range += " and at most " + std::to_string(most);
  add(name,
      help + " (default " + std::to_string(target) + ")",
      [name, &target, least, most, range](std::string_view text) {
        const auto value = parse_number<int>(text);
        if (!value || *value < least || *value > most) refuse(name, text, range);
        target = *value;
      });
}

void CommandLine::positive(const std::string& name, double& target, const std::string& help) {
  char shown[32];
  std::snprintf(shown, sizeof shown, "%g", target);
  add(name, help + " (default " + shown + ")", [name, &target](std::string_view text) {
    const auto value = parse_number<double>(text);
    if (!value || !std::isfinite(*value) || *value <= 0) {
      refuse(name, text, "a finite number greater than 0");
    }
    target = *value;
  });
}

CommandLine::Option& CommandLine::find(std::string_view name) {
  for (Option& option : options_) {
    if (option.name == name) return option;
  }
  throw UsageError("unknown option '--" + std::string(name) + "'",
                   "'" + program_ + " --help' lists the options");
}

bool CommandLine::parse(int count, const char* const* words) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--help") {
      print_help();
      return false;
    }
    if (!word.starts_with("--")) {
      throw UsageError("unexpected word '" + std::string(word) + "'",
                       "'" + program_ + " --help' lists the options");
    }
    const std::size_t equals = word.find('=');
    Option& option = find(word.substr(0, equals).substr(2));
    if (option.was_given) throw UsageError("--" + option.name + ": given twice");
    option.was_given = true;
    if (equals != std::string_view::npos) {
      option.assign(word.substr(equals + 1));
    } else if (++i < count) {
      option.assign(words[i]);
    } else {
      throw UsageError("--" + option.name + ": the value is missing");
    }
  }
  for (const Option& option : options_) {
    if (option.is_required && !option.was_given) {
      throw UsageError("--" + option.name + " is required",
                       "'" + program_ + " --help' lists the options");
    }
  }
  return true;
}

void CommandLine::print_help() const {
  std::printf("usage: %s [options]\n\n%s\n\n", program_.c_str(), summary_.c_str());
  for (const Option& option : options_) {
    std::printf("  --%-20s %s\n", option.name.c_str(), option.help.c_str());
  }
}

}  // namespace kessler
