#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_stamp.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/planning/stage_surroundings.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/provenance/command_inputs.hpp>
#include <sabath/spec/session_variables.hpp>

#include <algorithm>
#include <deque>
#include <set>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// From this size on the progress of hashing is reported.
constexpr std::uintmax_t long_bytes = std::uintmax_t{256} << 20U;

}  // namespace

base::Environment inherited_by(const spec::PlannedStage& stage, base::Environment user) {
  std::erase_if(user, [&](const auto& item) {
    return item.first.starts_with("SABATH_") || (stage.cache && spec::is_of_login(item.first));
  });
  return user;
}

StageSurroundings::StageSurroundings(const spec::RunPlan& plan,
                                     const fs::path& run_directory,
                                     const base::Environment& inherited,
                                     base::Observer& observer)
    : plan_(plan),
      run_directory_(run_directory),
      inherited_(inherited),
      observer_(observer),
      digests_(plan.state_directory) {}

bool StageSurroundings::is_named_elsewhere(const fs::path& file,
                                           const spec::PlannedStage& stage) const {
  if (base::is_beneath(file, run_directory_) || base::is_beneath(file, plan_.cache_directory) ||
      base::is_beneath(file, plan_.state_directory))
    return true;
  // Wherever they lie: in a lower cache, or on the disk of the node.
  const bool is_of_data = std::ranges::any_of(plan_.inputs, [&](const spec::PlannedInput& input) {
    return stage.key_items.contains("dataset." + input.role) &&
           (base::is_beneath(file, input.path) ||
            (!input.copy.empty() && base::is_beneath(file, input.copy)));
  });
  if (is_of_data) return true;
  const auto& layers = plan_.environment_of(stage).layers;
  return std::ranges::any_of(layers, [&](const spec::BuiltLayer& layer) {
    return !layer.prefix.empty() && base::is_beneath(file, layer.prefix);
  });
}

std::string StageSurroundings::digest_of(const fs::path& file, const std::stop_token& stop) {
  const auto stamp = base::stamp_of(file);
  if (!stamp) return "gone";
  try {
    const auto report = [&](std::uint64_t done) {
      if (stop.stop_requested())
        throw Error(ErrorKind::interrupted, "interrupted while " + file.string() + " was hashed");
      if (done == 0 && stamp->size_bytes >= long_bytes)
        observer_.note("hashing " + base::printable(file.string()) +
                       ", which a cached stage names");
    };
    return digests_.of(file, report).text();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return "unreadable " + stamp->text();  // for the command, too; or only to be executed
  }
}

std::string StageSurroundings::variables_of(const spec::PlannedStage& stage) const {
  const base::Environment seen = env::run_variables(plan_.environment_of(stage), inherited_);
  std::vector<std::string> lines;
  for (const auto& [name, value] : inherited_) {
    if (!seen.contains(name) || stage.environment.contains(name)) continue;
    if (spec::is_of_place(name) || base::names_a_secret(name)) continue;
    lines.push_back(name + "=" + value);
  }
  return base::sha256_of(canonical_list(lines)).text();
}

std::map<std::string, std::string> StageSurroundings::key_items(const spec::PlannedStage& stage,
                                                                const std::stop_token& stop) {
  // A container does not see files and variables of this machine.
  const spec::BuiltEnvironment& environment = plan_.environment_of(stage);
  if (env::container_of(environment) != nullptr) return {};
  const base::Environment variables = env::run_variables(environment, inherited_);
  const std::string path_variable =
      base::variable_of(stage.environment, "PATH", base::variable_of(variables, "PATH"));
  std::deque<std::string> words;
  const auto add = [&](const std::string& text) {
    for (std::string& word : provenance::words_of(text))
      words.push_back(std::move(word));
  };
  for (const std::string& argument : stage.argv)
    add(argument);
  for (const auto& [name, value] : stage.environment) {
    if (!name.starts_with("SABATH_") && name != "PATH") add(value);
  }
  std::map<std::string, std::string> items{{"inherited", variables_of(stage)}};
  std::set<fs::path> seen;
  std::vector<std::string> digests;
  for (; !words.empty(); words.pop_front()) {
    const auto file = provenance::file_named_by(words.front(), path_variable);
    if (!file || is_named_elsewhere(*file, stage) || !seen.insert(*file).second) continue;
    digests.push_back(digest_of(*file, stop));
    if (const std::string interpreter = provenance::interpreter_of(*file); !interpreter.empty())
      add(interpreter);
  }
  digests_.save();
  items["files"] = canonical_list(digests);
  return items;
}

}  // namespace sabath::planning
