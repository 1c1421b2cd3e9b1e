#include "commands.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/sharing/validate.hpp>

#include <algorithm>

namespace sabath::cli {
namespace {

std::string validation_text(const std::vector<sharing::Validation>& answers) {
  std::string text;
  for (const sharing::Validation& one : answers) {
    const bool is_valid = one.problem.empty();
    text += (is_valid ? "valid    " : "invalid  ") + base::printable(one.place.string()) +
            (one.kind.empty() ? "" : "  " + one.kind) + "\n";
    if (!is_valid) text += "  " + base::printable(one.problem) + "\n";
    for (const std::string& note : one.notes)
      text += "  note: " + note + "\n";
  }
  return text;
}

int run_validate(const std::vector<std::string>& places, Workspace& workspace) {
  std::vector<sharing::Validation> answers;
  for (const std::string& place : places)
    answers.push_back(sharing::validate(place, workspace.observer(), workspace.stop()));
  ExitStatus status = exit_done;
  for (const sharing::Validation& one : answers) {
    if (one.has_wrong_digest) status = exit_integrity;
    if (!one.problem.empty() && status == exit_done) status = exit_no;
  }
  return answer_with(answers, validation_text(answers), workspace, status);
}

}  // namespace

void setup_validate(OptionParser& app, Action& action) {
  auto [command, places] = add_command(
      app, action, "validate", "check documents and crates without taking them in", run_validate);
  command.add_option("files", places, "documents, crates, or folders of them")->required();
}

}  // namespace sabath::cli
