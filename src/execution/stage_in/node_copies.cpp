#include "node_copies.hpp"

#include "node_staging.hpp"
#include "rank/rank_files.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/execution/execute_copies.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/parallel_prefix.hpp>
#include <sabath/planning/stage_surroundings.hpp>
#include <sabath/probe/host_probe.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <set>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Prefix of lines for `exec`: other programs print there too.
constexpr std::string_view line_head = "sabath-copies: ";
/// For tens of GiB from a slow disk. The next run on the node removes what is left.
constexpr std::chrono::minutes longest_removal{2};

fs::path folder_of(const WantedCopies& wanted,
                   const base::Environment& environment,
                   base::Observer& observer) {
  return expanded(wanted.folder, environment, observer).value_or(fs::path());
}

CopySource source_of(const WantedCopies::Item& item,
                     base::ProcessRunner& processes,
                     const std::stop_token& stop) {
  if (!item.image) return files_to_copy(item.key, item.source, stop);
  return {item.key,
          item.source,
          [item] { return item.image->unpacked_bytes; },
          [item, &processes, stop](const fs::path& copy) {
            env::unpack_image(*item.image, copy, processes, stop);
          }};
}

bool is_image(const WantedCopies::Item& item) {
  return item.image.has_value();
}

/// Warnings of one node, as lines for `exec`.
class ReportedLines final : public base::Observer {
 public:
  void note(std::string_view) override {}
  void warn(std::string_view text, std::string_view hint) override {
    lines.push_back(std::string(line_head) + probe::node_name() + ": " + std::string(text) +
                    (hint.empty() ? "" : ": " + std::string(hint)));
  }
  void progress(const base::Progress&) override {}

  std::vector<std::string> lines{};
};

/// Returns the warnings of nodes, each once.
std::vector<std::string> told_in(const std::string& output) {
  std::vector<std::string> warnings;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(line_head);
    if (at == std::string::npos) continue;
    warnings.push_back(base::printable(line.substr(at + line_head.size())));
  }
  return warnings;
}

/// The last line with words: some programs draw lines around their messages.
std::string last_words(const std::string& errors) {
  std::string last;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    const bool has_words =
        std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
    if (has_words) last = base::printable(line);
  }
  return last;
}

/// Among all processes on this node with the same task.
bool is_first_here(const std::string& what, const fs::path& file) {
  const fs::path mark = file.parent_path() / (".copied-" + probe::node_name());
  if (what == "remove") return ::unlink(mark.c_str()) == 0;
  return static_cast<bool>(
      base::UniqueFd(::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)));
}

/// ATTEMPT/.copies.json, beneath RUN/attempts.
Loan loan_for(const WantedCopies& wanted, const fs::path& file) {
  const fs::path run = file.parent_path().parent_path().parent_path();
  return {wanted.holder, file, home::RunFiles(run).record()};
}

}  // namespace

WantedCopies wanted_copies(const spec::RunPlan& plan,
                           const spec::Staging& staging,
                           const base::Trust& trust,
                           base::Observer& observer) {
  WantedCopies wanted{staging.folder, plan.run_id, {}};
  std::set<fs::path> known;
  if (staging.inputs) {
    for (const spec::PlannedInput& input : plan.inputs) {
      if (known.insert(input.path).second)
        wanted.items.push_back({input.digest.hex, input.path, {}});
    }
  }
  if (!staging.environments) return wanted;
  const std::vector<env::PrefixImage> images = images_used(plan);
  if (images.empty() || !may_use_images(observer)) return wanted;
  for (const env::PrefixImage& image : images) {
    if (const auto reason = base::why_untrusted(image.path, trust)) {
      observer.warn(*reason + ": the image of layer '" + image.layer + "' is not used",
                    "the files in the cache are used instead");
    } else {
      wanted.items.push_back(
          {base::sha256_of("unpacked " + image.digest.hex).hex, image.prefix, image});
    }
  }
  return wanted;
}

bool may_use_images(base::Observer& observer) {
  if (env::may_enter()) return true;
  observer.warn(
      "environment: its images are not used: this system lets users have no "
      "namespaces of their own",
      "the files in the cache are used instead");
  return false;
}

std::vector<HeldCopy> make_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::ProcessRunner& processes,
                                  base::Clock& clock,
                                  base::Observer& observer,
                                  const std::stop_token& stop) {
  std::vector<HeldCopy> copies;
  const fs::path folder = folder_of(wanted, environment, observer);
  if (folder.empty()) return copies;
  for (const WantedCopies::Item& item : wanted.items) {
    auto copy = StagedCopy::make(folder, source_of(item, processes, stop), clock, observer, stop);
    if (copy) copies.push_back({item, std::move(*copy)});
  }
  return copies;
}

std::vector<HeldCopy> find_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::Clock& clock) {
  base::SilentObserver silent;  // warned when the copies were made
  std::vector<HeldCopy> copies;
  const fs::path folder = folder_of(wanted, environment, silent);
  if (folder.empty()) return copies;
  for (const WantedCopies::Item& item : wanted.items) {
    auto copy = StagedCopy::find(folder, item.key, wanted.holder, clock);
    if (copy) copies.push_back({item, std::move(*copy)});
  }
  return copies;
}

void end_loans(const WantedCopies& wanted,
               const base::Environment& environment,
               base::Clock& clock) {
  base::SilentObserver silent;
  const fs::path folder = folder_of(wanted, environment, silent);
  if (folder.empty()) return;
  std::vector<std::string> keys;
  for (const WantedCopies::Item& item : wanted.items)
    keys.push_back(item.key);
  StagedCopy::end_loans(folder, keys, wanted.holder, clock);
}

bool sees_copies(const spec::PlannedStage& stage, int job_nodes) {
  return !planning::is_spread(stage, job_nodes) && stage.resources.nodes.value_or(1) <= 1;
}

void see_copy(const HeldCopy& held, int job_nodes, spec::RunPlan& plan) {
  if (held.item.image) return;
  for (spec::PlannedInput& input : plan.inputs) {
    if (input.path == held.item.source) input.copy = held.copy.path().string();
  }
  for (spec::PlannedStage& stage : plan.stages) {
    if (sees_copies(stage, job_nodes)) see_instead(held.item.source, held.copy.path(), stage);
  }
}

std::vector<env::LocalPrefix> prefixes_of(const std::vector<HeldCopy>& copies) {
  std::vector<env::LocalPrefix> prefixes;
  for (const HeldCopy& held : copies) {
    if (held.item.image) prefixes.push_back({held.item.source, held.copy.path()});
  }
  return prefixes;
}

fs::path copies_file(const fs::path& attempt) {
  return attempt / ".copies.json";
}

std::vector<base::Command> starters_of(const std::vector<spec::PlannedStage>& stages,
                                       int job_nodes,
                                       const spec::RunPlan& plan,
                                       const std::string& site_prefix) {
  std::vector<base::Command> starters;
  for (const spec::PlannedStage& stage : stages) {
    if (stage.not_due || !planning::is_spread(stage, job_nodes)) continue;
    try {
      base::Command starter;
      base::Environment variables = env::run_variables(
          plan.environment_of(stage), planning::inherited_by(stage, base::current_environment()));
      for (const auto& [name, value] : stage.environment)
        variables[name] = value;
      const planning::ParallelPrefix prefix = planning::prefix_for(
          *stage.parallel, site_prefix, stage.resources, plan.slots.has_value(), variables);
      variables.insert(prefix.defaults.begin(), prefix.defaults.end());
      for (const auto& [name, value] : rank_variables(prefix, 1))
        variables[name] = value;
      starter.argv = prefix.argv;
      starter.environment = std::move(variables);
      const bool is_known = std::any_of(starters.begin(), starters.end(), [&](const auto& known) {
        return known.argv == starter.argv;
      });
      if (!is_known) starters.push_back(std::move(starter));
    } catch (const Error&) {
      continue;
    }
  }
  return starters;
}

std::vector<std::string> execute_copies(const std::string& what,
                                        const fs::path& file,
                                        base::ProcessRunner& processes,
                                        base::Clock& clock,
                                        const std::stop_token& stop) {
  auto wanted = read_wanted_copies(file);
  if (!wanted || (what != "make" && what != "remove"))
    throw Error(ErrorKind::usage, "exec --copies: wants 'make' or 'remove', and a run's own file");
  if (!is_first_here(what, file)) return {};
  const base::Environment environment = base::current_environment();
  if (what == "remove") {
    end_loans(*wanted, environment, clock);
    return {};
  }
  ReportedLines lines;
  const bool any_image = std::any_of(wanted->items.begin(), wanted->items.end(), is_image);
  if (any_image && !may_use_images(lines)) std::erase_if(wanted->items, is_image);
  for (const HeldCopy& held : make_copies(*wanted, environment, processes, clock, lines, stop)) {
    try {
      held.copy.lend(loan_for(*wanted, file));
    } catch (const Error& error) {
      lines.warn(error.what(), error.hint());
    }
  }
  return lines.lines;
}

NodeCopies::NodeCopies(WantedCopies wanted, const fs::path& attempt, Tools tools)
    : wanted_(std::move(wanted)), file_(copies_file(attempt)), tools_(std::move(tools)) {
  write_wanted_copies(file_, wanted_);
}

NodeCopies::~NodeCopies() {
  try {
    // A cancelled job can start nothing any more. The next run on its nodes removes what its ranks
    // leave, since nothing keeps it without this file.
    const fs::path over = file_.string() + ".over";
    fs::rename(file_, over);
    end_loans(wanted_, base::current_environment(), tools_.clock);
    for (const base::Command& starter : starters_)
      run(starter, "remove", over, {});
    fs::remove(over);
  } catch (const std::exception&) {
    return;
  }
}

base::ProcessResult NodeCopies::run(base::Command command,
                                    const char* what,
                                    const fs::path& file,
                                    const std::stop_token& stop) const {
  command.argv.insert(command.argv.end(),
                      {tools_.program.string(), "exec", "--copies", what, file.string()});
  command.working_directory = file_.parent_path();
  if (!stop.stop_possible()) command.deadline = longest_removal;
  return tools_.processes.run(command, stop);
}

void NodeCopies::make(std::vector<base::Command> starters, const std::stop_token& stop) {
  starters_ = std::move(starters);
  for (const base::Command& starter : starters_) {
    const base::ProcessResult result = run(starter, "make", file_, stop);
    if (result.end == base::ProcessEnd::stopped)
      throw Error(ErrorKind::interrupted, "interrupted while inputs were copied to the nodes");
    for (const std::string& line : told_in(result.output))
      tools_.observer.warn(line);
    if (result.ok()) continue;
    const std::string said = last_words(result.errors);
    const std::string name = starter.argv.empty() ? "sabath" : starter.argv.front();
    tools_.observer.warn("copying to the nodes: '" + name + "' " + result.describe() +
                             (said.empty() ? "" : ": " + said),
                         "what is not there is read where it is");
  }
}

std::vector<HeldCopy> NodeCopies::here() const {
  return find_copies(wanted_, base::current_environment(), tools_.clock);
}

}  // namespace sabath::execution
