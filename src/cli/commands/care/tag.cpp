#include "commands.hpp"
#include "said_to_runs.hpp"
#include "selected_runs.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/run_count.hpp>

#include <algorithm>

namespace sabath::cli {
namespace {

using Statement = home::RunStatement::Kind;

struct TagOptions {
  std::string selection{};
  std::vector<std::string> labels{};
};

bool has_tag(const catalog::RunRow& run, const std::string& tag) {
  return std::ranges::find(run.tags, tag) != run.tags.end();
}

/// "tagged 3 runs with 'good'; 1 run had it already".
std::string answer_line(const CareAnswer& answer, const std::string& label, bool is_tag) {
  const std::string tag = "'" + base::printable(label) + "'";
  const std::string changed = base::counted(answer.changed.size(), "run");
  const std::string unchanged = base::counted(answer.unchanged.size(), "run");
  std::string text;
  if (!answer.changed.empty())
    text = is_tag ? "tagged " + changed + " with " + tag : "took " + tag + " from " + changed;
  if (!answer.unchanged.empty()) {
    text += (text.empty() ? "" : "; ") + unchanged +
            (is_tag ? " already had " + tag : " already did not have " + tag);
  }
  return text + "\n";
}

int change_tags(const TagOptions& options, Statement kind, Workspace& workspace) {
  const bool is_tag = kind == Statement::tag;
  for (const std::string& label : options.labels) {
    if (is_tag) home::check_tag(label);
    if (is_tag) refuse_known_secrets(label, "tag", workspace);
    if (spec::is_reserved_tag(label)) {
      throw usage_error("tag '" + base::printable(label) + "': is reserved, and stays",
                        "it says why the run was made");
    }
  }
  const auto runs = chosen_runs(options.selection, workspace);
  std::string text;
  CareAnswer all;
  for (const std::string& label : options.labels) {
    const CareAnswer answer = say_to_runs(
        runs,
        kind,
        label,
        [&](const catalog::RunRow& run) { return has_tag(run, label) == is_tag; },
        workspace);
    text += answer_line(answer, label, is_tag);
    all.changed.insert(all.changed.end(), answer.changed.begin(), answer.changed.end());
    all.unchanged.insert(all.unchanged.end(), answer.unchanged.begin(), answer.unchanged.end());
  }
  for (std::vector<std::string>* const ids : {&all.changed, &all.unchanged}) {
    std::ranges::sort(*ids);
    ids->erase(std::unique(ids->begin(), ids->end()), ids->end());
  }
  std::erase_if(all.unchanged,
                [&](const std::string& id) { return std::ranges::binary_search(all.changed, id); });
  return answer_with(all, text, workspace);
}

int run_tag(const TagOptions& options, Workspace& workspace) {
  return change_tags(options, Statement::tag, workspace);
}

int run_untag(const TagOptions& options, Workspace& workspace) {
  return change_tags(options, Statement::untag, workspace);
}

void add_operands(OptionParser& command, TagOptions& options) {
  command.add_option("selection", options.selection, "runs: as 'sabath help selections' says")
      ->required();
  command.add_option("label", options.labels, "one tag or more")->required();
}

}  // namespace

void setup_tag(OptionParser& app, Action& action) {
  auto [command, options] = add_command(app, action, "tag", "give tags to runs", run_tag);
  add_operands(command, options);
}

void setup_untag(OptionParser& app, Action& action) {
  auto [command, options] = add_command(app, action, "untag", "take tags from runs", run_untag);
  add_operands(command, options);
}

}  // namespace sabath::cli
