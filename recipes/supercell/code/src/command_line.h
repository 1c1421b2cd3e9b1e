#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace supercell {

// The options of one program, each bound to a variable that holds its default. Understands
// `--name value`, `--name=value` and `--help`; everything else is a UsageError that names the word.
class CommandLine {
 public:
  CommandLine(std::string program, std::string summary);

  // A text that must be given and must not be empty.
  void required(const std::string& name, std::string& target, const std::string& help);
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

  // False when --help was asked for and printed, so that there is nothing left to do.
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

}  // namespace supercell
