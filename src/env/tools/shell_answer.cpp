#include "shell_answer.hpp"

#include <sabath/base/error.hpp>

namespace sabath::env {

std::optional<std::vector<std::string>> take_section(std::string_view& text) {
  std::vector<std::string> records;
  while (true) {
    const auto end = text.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view record = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (record.empty()) return records;
    records.emplace_back(record);
  }
}

std::vector<std::string> bash_with_env(const std::string& script,
                                       const base::Environment& variables,
                                       const std::string& place) {
  const auto path = variables.find("PATH");
  const auto program = base::find_program("env", path == variables.end() ? "" : path->second);
  if (program) return {"bash", "--noprofile", "--norc", "-c", script, "sabath", program->string()};
  throw base::Error(base::ErrorKind::environment,
                    place + ": no program 'env' on PATH",
                    "it is part of coreutils; what a shell script sets is asked with it");
}

base::Environment variables_of(const std::vector<std::string>& records) {
  base::Environment variables;
  for (const std::string& record : records) {
    const auto equals = record.find('=');
    if (equals != std::string::npos)
      variables[record.substr(0, equals)] = record.substr(equals + 1);
  }
  return variables;
}

}  // namespace sabath::env
