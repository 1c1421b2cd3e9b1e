#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/tree_digest.hpp>
#include <sabath/collect/number_text.hpp>
#include <sabath/home/batch_bundle.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/planning/node_slots.hpp>
#include <sabath/planning/repeat_run.hpp>
#include <sabath/provenance/code_folder.hpp>
#include <sabath/provenance/command_inputs.hpp>
#include <sabath/provenance/external_code.hpp>
#include <sabath/provenance/git_checkout.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include <sys/stat.h>

namespace sabath::planning {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// The owner of the folder can write another code and record there.
void require_trusted(const fs::path& run_directory, const base::Trust& trust) {
  struct stat facts {};
  if (::lstat(run_directory.c_str(), &facts) != 0)
    base::throw_errno(run_directory.string(), "cannot be read", errno);
  if (base::is_trusted_owner(facts.st_uid, trust)) return;
  throw Error(ErrorKind::access,
              run_directory.string() + ": belongs to another user, whose code would be executed",
              "let them export the run ('sabath help export'), or name them in "
              "\"environments\": {\"trusted_owners\": [...]} of config.json");
}

/// Another run of the home that a run's folder lies in.
fs::path run_beside(const fs::path& run_directory, const std::string& id) {
  return home::Folders{.home = run_directory.parent_path().parent_path()}.run(id);
}

/// Throws Error{not_found|integrity} where the folder in which the command runs, or a source in it,
/// is not what it was. `kept`: the sources of then.
void check_folder_of(const spec::DirectCommand& command,
                     const std::string& run_id,
                     const fs::path& kept) {
  const std::string place = base::printable(command.directory);
  std::error_code code;
  if (!fs::is_directory(command.directory, code)) {
    throw Error(ErrorKind::not_found,
                place + ": the folder is gone, and a command without a recipe runs in it",
                "bring the folder back, or make a recipe: 'sabath init " + run_id + "'");
  }
  if (!fs::is_directory(kept, code)) return;
  for (const base::TreeFile& file : base::list_tree(kept)) {
    const auto now = base::read_file_if_exists(fs::path(command.directory) / file.path);
    if (now && *now == base::read_file(kept / file.path)) continue;
    throw Error(ErrorKind::integrity,
                place + "/" + base::printable(file.path) +
                    (now ? ": is not what it was" : ": is gone") +
                    ", and a command without a recipe runs what is there",
                "bring it back as it was: the run keeps it in 'code.tar.gz' of its folder");
  }
}

/// Source of a run's code: what it kept, else the commit with its diff from the user's repository.
/// Else the recipe's folder of today, if it is what it was then.
class OriginalSource {
 public:
  OriginalSource(const home::RunFiles& files,
                 const spec::RunRecord& record,
                 const spec::Recipe& recipe,
                 const fs::path& folder,
                 const RepeatTools& tools)
      : files_(files),
        record_(record),
        recipe_(recipe),
        plan_(files.read_plan()),
        folder_(folder),
        tools_(tools) {
    recipe_.directory = plan_.recipe_directory;
  }

  /// Puts the code into the folder, and returns the recipe's folder. Throws Error{not_found} where
  /// the code is gone, and Error{integrity} where only other code is there.
  fs::path put() {
    const bool is_kept = record_.code_state && !record_.code_state->kept.empty();
    const bool is_whole = direct_command(plan_) || !provenance::names_surroundings(recipe_);
    if (is_kept && is_whole) {
      unpack(folder_);
      return checked(fs::canonical(folder_));
    }
    if (const auto place = from_commit()) return checked(*place);
    return checked(folder_of_today());
  }

 private:
  void unpack(const fs::path& to) const {
    const spec::CodeState& code = *record_.code_state;
    const fs::path archive = files_.directory() / fs::path(code.kept).filename();
    std::error_code error;
    if (!fs::exists(archive, error)) {
      throw Error(ErrorKind::not_found,
                  archive.string() + ": the code that the run kept is gone",
                  "without it the run cannot be done again");
    }
    base::extract_archive(archive, to, {}, tools_.observer);
    if (base::tree_digest(to) == code.tree) return;
    throw Error(ErrorKind::integrity,
                archive.string() + ": was changed after the run",
                "its digest differs from the one in the record of the run");
  }

  /// Returns the folder of the run; of a repetition, whose folder is gone, that of the run that it
  /// repeated.
  std::optional<fs::path> first_folder() const {
    spec::RunPlan plan = plan_;
    for (int i = 0; i < 1000; ++i) {
      std::error_code code;
      if (fs::is_directory(plan.recipe_directory, code)) return plan.recipe_directory;
      if (!plan.repeats) break;
      const home::RunFiles before(run_beside(files_.directory(), *plan.repeats));
      if (!fs::exists(before.plan(), code)) break;
      plan = before.read_plan();
    }
    return std::nullopt;
  }

  /// Returns nothing where it is not available; then `why_` has the reason.
  std::optional<fs::path> from_commit() {
    if (!record_.code_state || !record_.code_state->git) {
      why_ = "it was of no commit";
      return std::nullopt;
    }
    const spec::CodeState& code = *record_.code_state;
    const std::string problem = !code.git->no_diff.empty()
                                    ? "its diff was not kept: " + code.git->no_diff
                                : code.no_untracked        ? *code.no_untracked
                                : code.git->commit.empty() ? "it was of no commit"
                                                           : "";
    const auto repository = first_folder();
    if (!problem.empty() || !repository) {
      why_ = problem.empty() ? "its repository is gone" : problem;
      return std::nullopt;
    }
    try {
      provenance::check_out(*repository,
                            {code, files_.directory()},
                            folder_,
                            tools_.processes,
                            tools_.observer,
                            tools_.stop);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      why_ = error.what();
      return std::nullopt;
    }
    const fs::path place = folder_ / code.git->path;
    if (!code.kept.empty()) {
      base::remove_tree(place);
      base::make_directories(place);
      unpack(place);
    } else if (!is_as_then(place)) {
      why_ = "the files of commit " + code.git->commit + " with its diff are not those of then";
      return std::nullopt;
    }
    tools_.observer.note("its code: commit " + code.git->commit +
                         (code.git->diff.empty() ? "" : " with its diff"));
    return fs::canonical(place);
  }

  /// Earlier versions had another digest where there are baselines and links.
  static bool is_tree(const fs::path& place, const base::Digest& tree) {
    return provenance::code_digest(place) == tree || base::tree_digest(place) == tree;
  }

  bool is_as_then(const fs::path& place) const {
    std::error_code code;
    if (!fs::is_directory(place, code)) return false;
    if (!record_.code_state->tree.hex.empty()) return is_tree(place, record_.code_state->tree);
    tools_.observer.warn("the recipe's folder was too large to be known again by its bytes",
                         "its files of the commit are used; what git ignores is not there");
    return true;
  }

  fs::path folder_of_today() const {
    fs::path folder = plan_.recipe_directory;
    std::error_code code;
    const bool is_there = fs::is_directory(folder, code);
    const std::string reason = !record_.code_state ? "the run was made by an earlier version"
                               : !record_.code_state->kept.empty()
                                   ? "its recipe names files around its folder"
                                   : record_.code_state->not_kept;
    if (!is_there) {
      throw Error(ErrorKind::not_found,
                  folder.string() + ": the recipe's folder is gone, and the run kept no code: " +
                      reason + "; " + why_,
                  "bring the folder back; 'sabath show " + record_.run_id + "' names its commit");
    }
    if (!record_.code_state) {
      tools_.observer.warn(
          "the run kept no code: " + reason,
          "what is in " + folder.string() + " now is used; differences are reported");
      return folder;
    }
    const base::Digest& tree = record_.code_state->tree;
    if (!tree.hex.empty() && is_tree(folder, tree)) return folder;
    throw Error(ErrorKind::integrity,
                folder.string() +
                    (tree.hex.empty() ? ": may not be what the run was made from"
                                      : ": is not what the run was made from any more") +
                    ", and the run kept no code: " + reason + "; " + why_,
                "'sabath show " + record_.run_id + "' names its commit");
  }

  /// Checks that the code around the folder is unchanged, too.
  const fs::path& checked(const fs::path& place) {
    recipe_.directory = place;
    const auto now = provenance::outer_files(recipe_);
    for (const auto& [item, digest] : plan_.code) {
      if (!item.starts_with(provenance::outer_file_prefix)) continue;
      const auto found = now.find(item);
      if (found != now.end() && found->second == digest) continue;
      throw Error(ErrorKind::integrity,
                  item.substr(provenance::outer_file_prefix.size()) +
                      (found == now.end() ? ": is gone" : ": is not what it was") +
                      ", and lies outside of the recipe's folder, which alone a run keeps",
                  "bring it back as it was; code in the recipe's folder is kept with each run");
    }
    return recipe_.directory;
  }

  const home::RunFiles& files_;
  const spec::RunRecord& record_;
  spec::Recipe recipe_;
  spec::RunPlan plan_;
  const fs::path& folder_;
  const RepeatTools& tools_;
  std::string why_{};
};

/// Returns a count from the `launch` facet, which knows what a shared job gave the run.
int launched_with(const spec::RunRecord& record, const std::string& item) {
  const spec::Facet* launch = record.facet("launch");
  if (launch == nullptr) return 0;
  const auto found = launch->items.find(item);
  return found == launch->items.end()
             ? 0
             : static_cast<int>(collect::whole_number_of(found->second).value_or(0));
}

/// Variables that an earlier record does not mention stay as they are here.
std::map<std::string, std::string> surroundings_of(const spec::RunRecord& record) {
  if (const spec::Facet* known = record.facet("variables")) return known->items;
  std::map<std::string, std::string> here = base::current_environment();
  std::erase_if(here, [](const auto& item) { return !home::is_of_surroundings(item.first); });
  return here;
}

/// Warns of code that no run keeps, and that has changed since the run.
void warn_of_other_code(const spec::RunPlan& plan,
                        const RunRequest& request,
                        const RepeatTools& tools) {
  const base::Environment session =
      request.placement.variables.value_or(base::current_environment());
  const auto now =
      provenance::external_code(request.recipe, plan, session, tools.processes, tools.stop);
  for (const auto& [item, then] : plan.code) {
    if (!spec::is_external_code(item)) continue;
    const auto found = now.find(item);
    const std::string state = found == now.end() ? "nowhere to be found" : found->second;
    if (state == then) continue;
    tools.observer.warn(item + ", which lies elsewhere than the recipe, is not as it was: " + then +
                            " then, " + state + " now",
                        "the present code is run, and reported as a difference; of code in the "
                        "recipe's folder a run "
                        "keeps a copy");
  }
}

/// Returns a part of this machine with as many cores and GPUs as the run had to itself. Returns
/// nothing where it had all of them; and with a warning where there are fewer here.
std::optional<spec::ResourceSlots> slots_like(const spec::RunRecord& record,
                                              const RepeatTools& tools) {
  const int cpus = launched_with(record, "cpus");
  const int gpus = launched_with(record, "gpus");
  if (cpus == 0 && gpus == 0) return std::nullopt;
  if (auto slots = part_of(look_at_node(tools.processes), cpus, gpus)) return slots;
  tools.observer.warn("the run had " + std::to_string(cpus) + " CPUs and " + std::to_string(gpus) +
                          " GPUs to itself, which are not available here",
                      "the repetition is not bound; differences are reported");
  return std::nullopt;
}

/// Whether a node could have made this value to have its own code executed here.
bool may_lead_to_code(const std::string& name, const std::string& value) {
  const bool is_language = name == "LANG" || name == "TZ" || name.starts_with("LC_");
  const bool is_word = std::ranges::all_of(value, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_.:,=+-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  const bool starts_programs = name.starts_with("OMPI_") || name.starts_with("PRTE_") ||
                               name.starts_with("PMIX_") || name.starts_with("TORCHINDUCTOR_");
  return !is_word || starts_programs || (home::is_of_surroundings(name) && !is_language);
}

/// Returns the variables that choose among ways to compute and lead to code, as the run had them.
std::optional<std::map<std::string, std::string>> variables_of(const spec::RunRecord& record,
                                                               const RepeatTools& tools,
                                                               bool has_travelled) {
  if (!record.determinism) return std::nullopt;
  std::map<std::string, std::string> variables;
  std::vector<std::string> left_out;
  const spec::Determinism& known = *record.determinism;
  for (const auto& values : {known.switches, known.threads, known.seeds, surroundings_of(record)}) {
    for (const auto& [name, value] : values) {
      // Otherwise a library reported it, or it is of one stage.
      if (!home::is_of_determinism(name) && !home::is_of_surroundings(name)) continue;
      if (has_travelled && may_lead_to_code(name, value)) {
        left_out.push_back(name);
        continue;
      }
      if (value.find(base::redacted_mark) == std::string::npos) {
        variables[name] = value;
      } else {
        tools.observer.warn(name + ": was replaced in the record, and cannot be set as it was");
      }
    }
  }
  if (!left_out.empty()) {
    tools.observer.warn(
        fmt::format("not set as on the run's node, since its record came from there: {}",
                    fmt::join(left_out, ", ")));
  }
  if (record.facet(spec::scope_facet) != nullptr) return variables;
  // The record does not mention these: they stay as they are here.
  for (const auto& [name, value] : base::current_environment()) {
    if (spec::is_later_variable(name) &&
        (home::is_of_determinism(name) || home::is_of_surroundings(name)))
      variables.emplace(name, value);
  }
  return variables;
}

/// Returns the record of a run whose repetition can be judged.
spec::RunRecord record_of(const home::RunFiles& files) {
  auto record = files.read_record();
  if (record && record->state == spec::RunState::ok && record->only_stage.empty()) {
    const spec::RunPlan plan = files.read_plan();
    if (home::has_travelled(files.directory(), plan) && !home::is_as_planned(*record, plan)) {
      throw Error(ErrorKind::integrity,
                  record->run_id +
                      ": its record, which came from a node, does not say what was "
                      "planned; nothing of it is executed here");
    }
    return std::move(*record);
  }
  if (record && record->state == spec::RunState::imported) {
    throw Error(ErrorKind::usage,
                record->run_id + ": was imported from a table: sabath did not run it",
                "'sabath show " + record->run_id + "' says where it came from");
  }
  if (record) {
    const std::string what = record->only_stage.empty()
                                 ? "the run is " + std::string(spec::to_string(record->state))
                                 : "the run only made an asset";
    throw Error(ErrorKind::usage,
                record->run_id + ": " + what + ": there is nothing to compare with",
                "'sabath show " + record->run_id + "' says what makes it again");
  }
  throw Error(ErrorKind::not_found,
              files.directory().filename().string() + ": the run has no record yet",
              "it is not finished, or was lost; 'sabath list runs' shows its state");
}

/// Takes the environment that the recipe and the lock of another run ask for.
void take_environment(const std::string& run_id,
                      const fs::path& run_directory,
                      const fs::path& folder,
                      const RepeatTools& tools,
                      RunRequest& request) {
  const home::RunFiles files(run_beside(run_directory, run_id));
  if (home::is_archived(files.directory())) {
    throw Error(ErrorKind::usage,
                "run " + run_id + ": is archived, and its code is needed",
                "'sabath archive --restore " + run_id + "' unpacks it");
  }
  const spec::RunRecord record = record_of(files);
  spec::Recipe recipe =
      spec::parse_recipe(record.recipe_text, files.record().string() + ":/recipe");
  base::make_directories(folder);
  recipe.directory = OriginalSource(files, record, recipe, folder, tools).put();
  request.recipe.environment = recipe.environment.locked_in(recipe.directory);
  request.repetition.environment_of = run_id;
}

}  // namespace

std::optional<spec::DirectCommand> direct_command(const spec::RunPlan& plan) {
  constexpr std::size_t before = 3;  // "env", "-C" and the folder
  if (plan.stages.size() != 1 || plan.stages.front().name != spec::command_stage ||
      !plan.parameters.contains(std::string(spec::words_parameter)))
    return std::nullopt;
  const std::vector<std::string>& argv = plan.stages.front().argv;
  if (argv.size() <= before || argv[1] != "-C") return std::nullopt;
  return spec::DirectCommand{{argv.begin() + before, argv.end()}, argv[2]};
}

RunRequest repeat_run(const fs::path& run_directory,
                      const fs::path& folder,
                      const RepeatTools& tools) {
  require_trusted(run_directory, tools.trust);
  const home::RunFiles files(run_directory);
  const spec::RunRecord record = record_of(files);
  RunRequest request;
  request.recipe = spec::parse_recipe(record.recipe_text, files.record().string() + ":/recipe");
  const spec::RunPlan plan = files.read_plan();
  const fs::path code = plan.environment_from ? folder / "code" : folder;
  base::make_directories(code);
  request.recipe.directory = OriginalSource(files, record, request.recipe, code, tools).put();
  request.command = direct_command(plan);
  if (request.command)
    check_folder_of(*request.command, record.run_id, request.recipe.directory / "code");
  if (plan.environment_from) {
    take_environment(*plan.environment_from, run_directory, folder / "environment", tools, request);
  }
  for (const spec::Parameter& parameter : request.recipe.parameters) {
    const auto value = record.parameters.find(parameter.name);
    if (value == record.parameters.end() || value->second == parameter.default_value) continue;
    request.set.emplace(parameter.name, spec::to_string(value->second));
  }
  request.seed = record.seed.value;
  request.variant = record.variant.value_or("");
  request.task = record.task.value_or("");
  request.repetition.inputs = record.inputs;
  request.repetition.run_id = record.run_id;
  if (record.code_state)
    request.repetition.original = OriginalCode{*record.code_state, run_directory};
  if (record.code_state && record.code_state->changed) {
    tools.observer.warn(
        "the code of " + record.run_id + " was changed " + record.code_state->changed->front().seen,
        "it is done again with the code that was planned, which may not be what it ran");
  }
  request.fresh = true;
  request.placement.slots = slots_like(record, tools);
  request.placement.variables =
      variables_of(record, tools, home::has_travelled(run_directory, plan));
  warn_of_other_code(plan, request, tools);
  return request;
}

}  // namespace sabath::planning
