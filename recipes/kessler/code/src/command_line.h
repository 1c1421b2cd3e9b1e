#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace kessler {

// The options of one program. Each is bound to a variable with its default. The forms are
// `--name value`, `--name=value` and `--help`. Any other word is a UsageError that names it.
class CommandLine {
 public:
  CommandLine(std::string program, std::string summary);

  // A text that must be given and must not be empty.
  void required(const std::string& name, std::string& target, const std::string& help);
  // A text with a default.
  void text(const std::string& name, std::string& target, const std::string& help);
  void choice(const std::string& name,
              std::string& target,
              const std::vector<std::string>& values,
              const std::string& help);
  void seed(const std::string& name, std::uint64_t& target, const std::string& help);
  void integer(const std::string& name,
               int& target,
               int least,
               const std::string& help,
               int most = std::numeric_limits<int>::max());
  // A finite number greater than zero.
  void positive(const std::string& name, double& target, const std::string& help);

  // Returns false if --help was given; the help is printed then.
  [[nodiscard]] bool parse(int count, const char* const* words);

 private:
  struct Option {
    std::string name;
    std::string help;
    std::function<void(std::string_view)> assign;
    bool is_required = false;
    bool was_given = false;
  };

  void add(const std::string& name,
           const std::string& help,
           std::function<void(std::string_view)> assign);
  Option& find(std::string_view name);
  void print_help() const;

  std::string program_;
  std::string summary_;
  std::vector<Option> options_;
};

}  // namespace kessler
