#include "commands.hpp"
#include "selected_runs.hpp"

#include <sabath/analysis/propose_baseline.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/home/baseline_uses.hpp>
#include <sabath/report/check.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::cli {
namespace {

using base::printable;

struct ProposeOptions {
  analysis::ProposalRequest request{};
  std::string file{};
};

struct AcceptOptions {
  std::string file{};
  std::string by{};
  std::string note{};
};

struct ShowOptions {
  std::string file{};
  bool drift = false;
};

std::string moments_text(const std::optional<spec::BaselineMetric>& metric) {
  if (!metric) return "-";
  if (metric->n == 0) return "no finite value";
  return fmt::format(
      "{} +- {} (n {})", report::mean_text(*metric), report::number_text(metric->sd), metric->n);
}

/// The parameters in which the proposed entries are not all the same; of one entry none.
std::string parameters_text(const analysis::Proposal& proposal, const spec::BaselineEntry& entry) {
  std::string text;
  for (const auto& [name, value] : entry.holds_for.parameters) {
    const bool is_same =
        std::ranges::all_of(proposal.proposed, [&, key = name, own = value](auto i) {
          const auto& others = proposal.baseline.entries[i].holds_for.parameters;
          const auto other = others.find(key);
          return other != others.end() && other->second == own;
        });
    if (!is_same)
      text += ", " + printable(name) + "=" + printable(spec::shown_text(spec::to_string(value)));
  }
  return text;
}

std::string changes_text(const analysis::Proposal& proposal) {
  base::TextTable table({"metric", "accepted", "proposed", ""});
  std::optional<std::size_t> entry;
  for (const analysis::ProposedChange& change : proposal.changes) {
    const std::string parameters =
        parameters_text(proposal, proposal.baseline.entries[change.entry]);
    if (entry != change.entry && !parameters.empty())
      table.add({parameters.substr(2) + ":", "", "", ""});
    entry = change.entry;
    const std::string verdict = !change.before  ? "new"
                                : !change.after ? "gone"
                                                : std::string(to_string(*change.verdict));
    const auto& judge = (change.after ? change.after : change.before)->judge;
    table.add({printable(spec::shown_title(change.metric, "", false, judge)),
               moments_text(change.before),
               moments_text(change.after),
               printable(verdict + (change.reason.empty() ? "" : ": " + change.reason))});
  }
  return table.text();
}

/// Each note once: "(3 entries)" where several have it.
std::string entry_notes(const analysis::Proposal& proposal) {
  std::vector<std::pair<std::string, std::size_t>> notes;
  for (const std::size_t i : proposal.proposed) {
    for (const std::string& note : proposal.baseline.entries[i].notes) {
      const auto known =
          std::ranges::find_if(notes, [&](const auto& one) { return one.first == note; });
      if (known == notes.end()) {
        notes.emplace_back(note, 1);
      } else {
        ++known->second;
      }
    }
  }
  std::string text;
  for (const auto& [note, entries] : notes) {
    text += "  note: " + printable(note);
    text += entries > 1 ? fmt::format(" ({} entries)\n", entries) : "\n";
  }
  return text;
}

std::string proposal_text(const analysis::Proposal& proposal, const std::string& file) {
  std::string text;
  for (const std::string& note : proposal.notes)
    text += "note: " + printable(note) + "\n";
  for (const std::size_t i : proposal.proposed) {
    const spec::BaselineEntry& entry = proposal.baseline.entries[i];
    text += fmt::format("proposed from {} run(s), for {}, {}{}\n",
                        entry.runs.size(),
                        printable(entry.holds_for.site),
                        printable(entry.holds_for.device),
                        parameters_text(proposal, entry));
  }
  text += entry_notes(proposal);
  return text + "\n" + changes_text(proposal) + "\nin " + printable(file) +
         "; once it was reviewed: sabath baseline accept " + printable(file) + "\n";
}

spec::Baseline present(const std::string& file) {
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return {};
  return home::read_baseline(file);
}

int run_propose(const ProposeOptions& options, Workspace& workspace) {
  spec::Baseline before = present(options.file);  // what cannot be read is not written over
  SelectedRuns selected = selected_together({options.request.selection}, workspace);
  analysis::ProposalRequest request = options.request;
  request.named = std::move(selected.named);
  const analysis::Proposal proposal =
      analysis::propose_baseline(selected.runs, request, std::move(before), workspace.catalog());
  home::write_baseline(options.file, proposal.baseline);
  return answer_with(proposal, proposal_text(proposal, options.file), workspace);
}

int run_accept(const AcceptOptions& options, Workspace& workspace) {
  spec::Baseline baseline = home::read_baseline(options.file);
  const std::string by = options.by.empty() ? base::user_name() : options.by;
  const std::string now = base::format_rfc3339(workspace.clock().now());
  const auto accepted = home::accept_baseline(baseline, {by, now, options.note});
  if (accepted.empty()) {
    throw usage_error(options.file + ": nothing in it is proposed",
                      "'sabath baseline propose SELECTION -o " + options.file + "' proposes");
  }
  home::write_baseline(options.file, baseline);
  home::remember_baseline(workspace.folders().home, options.file, baseline, now);
  std::string text;
  for (const std::size_t i : accepted) {
    const spec::BaselineEntry& entry = baseline.entries[i];
    text += fmt::format("accepted by {}: {} metric(s) of {} run(s), for {}, {}\n",
                        printable(by),
                        entry.metrics.size(),
                        entry.runs.size(),
                        printable(entry.holds_for.site),
                        printable(entry.holds_for.device));
  }
  return answer_with(baseline, text, workspace);
}

int run_show(const ShowOptions& options, Workspace& workspace) {
  const spec::Baseline baseline = home::read_baseline(options.file);
  return answer_with(baseline, report::baseline_text(baseline, options.drift), workspace);
}

}  // namespace

void setup_baseline(OptionParser& app, Action& action) {
  OptionParser* command =
      app.add_subcommand("baseline", "keep accepted results of a recipe: propose, accept, show");
  command->require_subcommand(1);
  auto [propose, proposing] =
      add_command(*command,
                  action,
                  "propose",
                  "write the results of runs as a baseline that a person can accept",
                  run_propose);
  propose
      .add_option("selection", proposing.request.selection, "runs, such as recipe=NAME,tag=good")
      ->required();
  propose.add_option("-o,--output", proposing.file, "the baseline's file; entries are added to it")
      ->required();
  propose.add_flag("--any-site", proposing.request.any_site, "it is to hold at all sites");
  propose.add_flag("--any-device",
                   proposing.request.any_device,
                   "it is to hold on all devices; times are left out then");
  auto [accept, accepting] = add_command(*command,
                                         action,
                                         "accept",
                                         "accept what is proposed; what was before becomes history",
                                         run_accept);
  accept.add_option("file", accepting.file, "a baseline")->required();
  accept.add_option("--by", accepting.by, "who accepts it; else the user's name");
  accept.add_option("--note", accepting.note, "why, or what changed");
  auto [show, showing] = add_command(
      *command, action, "show", "show what is accepted, and what is proposed", run_show);
  show.add_option("file", showing.file, "a baseline")->required();
  show.add_flag("--drift", showing.drift, "how means moved from one acceptance to the next");
}

}  // namespace sabath::cli
