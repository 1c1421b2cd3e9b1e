#include "stage_runner.hpp"

#include "real_folders.hpp"
#include "stage_command.hpp"
#include "stage_reads.hpp"
#include "stage_retry.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/process/stop_signal.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/execution/keep_digest_trees.hpp>
#include <sabath/planning/stage_template.hpp>
#include <sabath/spec/output_rule.hpp>

#include <algorithm>
#include <set>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;

/// Adds a problem to what is known already.
void add_problem(const std::string& problem, const std::string& hint, spec::StageRecord& record) {
  if (record.state != "interrupted" && record.state != "stopped") record.state = "failed";
  record.message += (record.message.empty() ? "" : "; ") + problem;
  if (record.log_tail.empty()) record.log_tail = hint;
}

/// Returns the last 20 lines of a log, at most 4 KiB, made safe for a terminal.
std::string tail_of(const fs::path& log) {
  constexpr std::size_t tail_bytes = 4096;
  constexpr std::size_t tail_lines = 20;
  std::string text = base::read_file_end(log, tail_bytes + 1);
  // A line without its beginning may be a secret that nobody knows any more.
  if (text.size() > tail_bytes) text.erase(0, std::min(text.find('\n', 1), text.size()));
  while (text.ends_with('\n'))
    text.pop_back();
  std::size_t lines = 0;
  for (std::size_t at = text.size(); at > 0; --at) {
    if (text[at - 1] == '\n' && ++lines == tail_lines) {
      text.erase(0, at);
      break;
    }
  }
  return base::printable(text, true);
}

/// Runs one stage of one attempt of one plan.
class StageRunner {
 public:
  StageRunner(const StageContext& context, StageTry& one) : context_(context), one_(one) {}

  StageResult run() {
    const spec::PlannedStage& stage = one_.stage;
    StageResult result;
    result.record.name = stage.name;
    result.record.argv = stage.argv;
    result.record.started = base::format_rfc3339(context_.clock.now());
    result.record.variant = stage.variant;
    try {
      const StageKey key = stage.cache ? stage_key(context_, one_) : StageKey{};
      result.record.cache_key = key.text;
      if (stage.cache && !context_.plan.fresh && key.why_not.empty()) {
        reuse_or_execute(key, result);
      } else {
        execute_and_keep(key, result);
      }
    } catch (const Error& error) {
      if (error.kind() == base::ErrorKind::interrupted) result.record.state = "interrupted";
      add_problem(error.what(), error.hint(), result.record);
    } catch (const std::exception& error) {
      // From the file system, or out of memory.
      add_problem(error.what(), "", result.record);
    }
    return result;
  }

 private:
  /// Of several processes that come to the same stage at once, on any node, one executes it. The
  /// others wait for its outputs, but only for a few failures.
  void reuse_or_execute(const StageKey& key, StageResult& result) {
    constexpr int most_looks = 3;
    int looks = 0;
    bool is_reused = false;
    bool is_held = false;
    cache::Flight flight;
    flight.task = "stage " + one_.stage.name;
    flight.is_there = [&] {
      is_reused = reuse_outputs(context_, one_.stage, key.text, result);
      return is_reused || ++looks > most_looks;
    };
    flight.work = [&](base::Observer&) {
      is_held = true;
      execute_and_keep(key, result);
    };
    context_.cache.single_flight("stage:" + key.text, flight, context_.observer, one_.stop);
    if (!is_reused && !is_held) execute_and_keep(key, result);
  }

  void execute_and_keep(const StageKey& key, StageResult& result) {
    const spec::PlannedStage& stage = one_.stage;
    // Without the time that it waited for another process.
    result.record.started = base::format_rfc3339(context_.clock.now());
    if (one_.slots) {
      result.record.cpus = one_.slots->cpus;
      if (!one_.slots->gpus.empty()) result.record.gpus = one_.slots->gpus;
    }
    const provenance::CodeWatch::Look before =
        context_.code.look(stage.name, "before stage " + stage.name, context_.observer);
    execute(result);
    const provenance::CodeWatch::Look after =
        context_.code.look(stage.name, "while stage " + stage.name + " ran", context_.observer);
    if (result.record.state == "ok") hash_outputs(result);
    if (result.record.state != "ok" || !stage.cache) return;
    // The command need not have used what the key was made of.
    if (!before.is_planned || before.changes != after.changes) {
      mark_not_reusable(
          context_, "the recipe's folder was changed after the run was planned", result.record);
      return;
    }
    const StageKey now = key.why_not.empty() ? stage_key(context_, one_) : key;
    if (!now.why_not.empty()) {
      mark_not_reusable(context_, now.why_not, result.record);
    } else if (now.text != key.text) {
      mark_not_reusable(context_,
                        "what it depends on, such as a file that its command names, was changed "
                        "while it ran",
                        result.record);
    } else {
      keep_for_later(context_, stage, key.text, result);
    }
  }

  void execute(StageResult& result) {
    const spec::PlannedStage& stage = one_.stage;
    const spec::Retry retry = stage.retry.value_or(spec::Retry{});
    context_.observer.note("stage " + stage.name);
    context_.trust.get();
    env::require_present(context_.plan.environment_of(stage));  // it may have been removed since
    one_.prefix = prefix_of(context_, stage);
    if (one_.prefix) result.record.prefix = one_.prefix->argv;
    const spec::StageRecord blank = result.record;
    std::vector<spec::StageTry> tries;
    for (;; ++one_.number) {
      const base::ProcessResult process = try_once(result);
      if (result.record.state == "stopped") return;
      if (const auto removed = env::why_removed(context_.plan.environment_of(stage));
          removed && !process.ok()) {
        result.record.message += "; " + *removed;
        return;
      }
      if (process.end == base::ProcessEnd::stopped) {
        result.record.message += ": the run was ended by 'sabath cancel', Ctrl-C or its job";
        return;
      }
      std::optional<std::string> reason;
      if (one_.number <= retry.times)
        reason = why_again(retry, process, context_.directory(stage.name));
      if (!reason && !process.ok() && !tries.empty())
        result.record.message += "; it was tried " + std::to_string(one_.number) + " times";
      if (!reason) return;
      spec::StageRecord& failed = result.record;
      tries.push_back({failed.started,
                       failed.wall_s,
                       failed.exit_code,
                       failed.signal,
                       failed.message,
                       *reason});
      // A stop may come between the end of the command and this line.
      if (!one_.stop.stop_requested()) {
        context_.observer.warn("stage " + stage.name + ": " + failed.message,
                               *reason + ": it is tried again");
      }
      if (!base::wait_unless_stopped(retry.pause, one_.stop)) {
        failed.state = "interrupted";
        failed.message += "; the run was stopped before it was tried again";
        return;
      }
      put_aside(one_.number, context_.directory(stage.name), context_.files.outputs(stage.name));
      result.record = blank;
      result.record.started = base::format_rfc3339(context_.clock.now());
      result.record.tries = tries;
    }
  }

  void lay_out() const {
    const spec::PlannedStage& stage = one_.stage;
    const fs::path own = context_.directory(stage.name);
    const fs::path& run = context_.files.directory();
    make_real_folders(run, own);
    for (const auto& entry : fs::directory_iterator(own))
      refuse_links(own, entry.path());
    refuse_links(run, context_.files.outputs(stage.name).parent_path());
    // Code that does not continue must not find, or add to, what an earlier attempt left.
    const bool is_anew =
        context_.attempt > 1 && one_.number == 1 && !stage.checkpoint.value_or(false);
    if (is_anew) base::remove_tree(context_.files.outputs(stage.name));
    // The scratch directory of this node is not on other nodes.
    const bool is_here =
        !planning::is_spread(stage, context_.nodes) && stage.resources.nodes.value_or(1) == 1;
    if (!context_.scratch.empty() && is_here) {
      const fs::path work = context_.scratch / (stage.name + "." + std::to_string(one_.number));
      base::make_directories(work);
      fs::create_directory_symlink(work, own / "work");
    } else {
      base::make_directories(own / "work");
    }
    make_real_folders(run, context_.files.outputs(stage.name));
    // A file that an earlier attempt shares with the cache is not this one's to write into. Files
    // of its own stay: the attempt continues with them.
    for (const std::string& declared : stage.outputs) {
      for (const std::string& path : files_of(context_.files.outputs(stage.name), declared)) {
        const fs::path file = context_.files.outputs(stage.name) / path;
        refuse_links(run, file.parent_path());
        std::error_code none;
        const bool is_link = fs::is_symlink(fs::symlink_status(file, none));
        const bool is_shared =
            is_link || (fs::is_regular_file(file, none) && fs::hard_link_count(file, none) > 1);
        if (is_shared && !is_link && spec::is_group(declared)) {
          // Code may link its own checkpoints: it gets a copy.
          const fs::path copy = file.string() + ".sabath-copy";
          fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
          fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add);
          fs::rename(copy, file);
        } else if (is_shared) {
          fs::remove(file);
        }
      }
    }
    spec::ParameterValues visible = context_.plan.parameters;
    if (stage.cache) {
      std::erase_if(visible, [&](const auto& item) {
        return !stage.key_items.contains("param." + item.first);
      });
    }
    planning::write_parameters(own / "parameters.json", visible);
    for (const auto& [name, text] : stage.files.value_or(std::map<std::string, std::string>{}))
      base::write_file_atomically(own / "work" / name, text, base::Durability::ordered_only);
    if (!stage.code_copy_from.empty()) {
      fs::copy(stage.code_copy_from, own / "work" / "code", fs::copy_options::recursive);
    }
  }

  base::ProcessResult try_once(StageResult& result) {
    const spec::PlannedStage& stage = one_.stage;
    lay_out();
    const auto mask_logs = [&] {
      if (link_beneath(context_.files.directory(), context_.directory(stage.name))) return;
      for (const char* log : {"stdout.log", "stderr.log"})
        result.masked += context_.secrets.mask_file(context_.directory(stage.name) / log);
    };
    base::ProcessResult process;
    try {
      process = run_command(context_, one_, result.record);
    } catch (...) {
      mask_logs();  // the code has run, but its container was not removed
      throw;
    }
    mask_logs();
    refuse_links(context_.files.directory(), context_.directory(stage.name));
    refuse_links(context_.files.directory(), context_.files.outputs(stage.name).parent_path());
    spec::StageRecord& record = result.record;
    if (process.leftovers > 0) {
      context_.observer.warn("stage " + stage.name + ": left " + std::to_string(process.leftovers) +
                             " process(es) behind, which were ended");
    }
    if (process.ok()) return process;
    record.log_tail = tail_of(context_.directory(stage.name) / "stderr.log");
    if (record.log_tail.empty())
      record.log_tail = tail_of(context_.directory(stage.name) / "stdout.log");
    return process;
  }

  /// Says where an output lies that was written to another place, or why nobody wrote it.
  std::string why_not_made(const std::string& declared) const {
    const fs::path work = context_.directory(one_.stage.name) / "work";
    const auto is_file = [&](const std::string& path) {
      std::error_code code;
      return fs::is_regular_file(work / path, code);
    };
    std::vector<std::string> there;
    try {
      there = files_of(work, declared);
    } catch (const Error&) {
      there.clear();  // too many files, or no folder to read: the output is missing all the same
    }
    if (std::ranges::any_of(there, is_file))
      return ", but the stage's working folder has it: write it to {output} (or "
             "$SABATH_OUTPUT_DIR)";
    const std::vector<std::string>& argv = one_.stage.argv;
    const bool redirects = std::ranges::any_of(argv, [](const std::string& word) {
      return word == ">" || word == ">>" || word == "|" || word == "&&";
    });
    return redirects ? "; \"run\" with a list of words has no shell: write {\"shell\": \"...\"}"
                     : "";
  }

  void hash_outputs(StageResult& result) const {
    std::set<std::string> hashed;
    for (const std::string& declared : one_.stage.outputs) {
      const std::string problem = hash_declared(declared, hashed, result);
      if (problem.empty()) continue;
      result.record.state = "failed";
      result.record.message = "the declared output '" + declared + "' " + problem;
      return;
    }
  }

  /// Hashes the files of a declared output that are not in `hashed`, and says what is wrong.
  std::string hash_declared(const std::string& declared,
                            std::set<std::string>& hashed,
                            StageResult& result) const {
    const fs::path folder = context_.files.outputs(one_.stage.name);
    const bool is_group = spec::is_group(declared);
    const std::vector<std::string> paths = files_of(folder, declared);
    if (paths.empty()) return "has no file" + why_not_made(declared);
    for (const std::string& path : paths) {
      std::string problem = output_problem(context_.files.directory(), folder, folder / path);
      if (is_group && !(base::is_safe_relative_path(path) && base::is_utf8(path)))
        problem = "has a name with control characters, or that is not UTF-8";
      if (problem == output_not_made && !is_group) problem += why_not_made(declared);
      if (!problem.empty())
        return is_group ? "has '" + base::printable(path) + "', which " + problem : problem;
      if (!hashed.insert(path).second) continue;
      result.outputs.push_back(hash_one(path));
      if (is_group) result.outputs.back().part_of = declared;
    }
    const bool has_changed = is_group && files_of(folder, declared) != paths;
    return has_changed ? "got or lost files while it was hashed" : "";
  }

  spec::OutputRecord hash_one(const std::string& path) const {
    const fs::path file = context_.files.outputs(one_.stage.name) / path;
    spec::OutputRecord output{one_.stage.name, path, 0, {}, {}, {}, {}, {}};
    hash_output(output, file, context_.stamps, context_.observer, one_.stop);
    keep_trees(output, context_.files, context_.plan.recipe_text, context_.observer, one_.stop);
    if (is_changed(file, context_.stamps)) output.trees.reset();  // may be of other values
    return output;
  }

  const StageContext& context_;
  StageTry& one_;
};

}  // namespace

StageResult run_stage(const StageContext& context,
                      const spec::PlannedStage& stage,
                      const std::optional<spec::ResourceSlots>& slots,
                      const MadeOutputs& made,
                      const std::stop_token& stop) {
  StageTry one{stage, slots, made, stop};
  return StageRunner(context, one).run();
}

}  // namespace sabath::execution
