#include "commands.hpp"

#include <sabath/sharing/validate.hpp>

namespace sabath::cli {
namespace {

struct ValidateOptions {
  std::vector<std::string> places{};
  bool ready = false;
};

int run_validate(const ValidateOptions& options, Workspace& workspace) {
  std::vector<sharing::Validation> answers;
  for (const std::string& place : options.places)
    answers.push_back(
        sharing::validate(place, options.ready, workspace.observer(), workspace.stop()));
  ExitStatus status = exit_done;
  for (const sharing::Validation& one : answers) {
    if (one.has_wrong_digest) status = exit_integrity;
    if (!one.problem.empty() && status == exit_done) status = exit_no;
  }
  return answer_with(answers, sharing::text_of(answers), workspace, status);
}

}  // namespace

void setup_validate(OptionParser& app, Action& action) {
  auto [command, options] = add_command(
      app, action, "validate", "check documents and crates without taking them in", run_validate);
  command.add_option("files", options.places, "documents, crates, or folders of them")->required();
  command.add_flag("--ready",
                   options.ready,
                   "also refuse locks that are not current, and baselines that nobody accepted");
}

}  // namespace sabath::cli
