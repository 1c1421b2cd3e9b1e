#include "layer_builder.hpp"

#include "layer_variables.hpp"
#include "source/build_steps.hpp"
#include "store/prefix_checks.hpp"
#include "store/prefix_files.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/prefix.hpp>

#include <algorithm>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Longer paths are cut off in "#!" lines, and many tools have buffers of 256.
constexpr std::size_t max_prefix_length = 200;

void require_usable_path(const fs::path& folder, const std::string& place) {
  const std::string path = folder.string();
  const bool splits = path.find_first_of(":;\n") != std::string::npos;
  const std::size_t length = path.size() + std::string_view("/attempt8/prefix").size();
  if (!splits && length <= max_prefix_length) return;
  throw_environment(place + ": " + path + ": " +
                        (splits ? "search paths cannot hold ':', ';' or a line break"
                                : "too long: programs there would not find their interpreters"),
                    "choose another folder for the cache");
}

/// Returns the first line of a message, without the announcement of further lines.
std::string first_line(const std::string& message) {
  std::string line = message.substr(0, std::min(message.find('\n'), message.find("; the end of ")));
  if (line.ends_with(':')) line.pop_back();
  return line;
}

/// `what` failed: the build or the check.
[[noreturn]] void refuse_again(const std::string& what,
                               const std::string& when,
                               const std::string& problem,
                               const std::string& log) {
  throw_environment(what + " failed at " + when +
                        " and is repeated only on request: " + first_line(problem) +
                        (log.empty() ? "" : "; the end of " + log + ":" + tail_of(log)),
                    "fix the cause, then run 'sabath env build RECIPE --retry'");
}

/// Adds to an error what remains on disk and how to remove it.
base::Error with_remains(const base::Error& unmet,
                         const std::string& what_stays,
                         const AttemptFolder& attempt) {
  std::error_code code;
  if (!fs::exists(attempt.path, code)) return unmet;
  return base::Error(unmet.kind(),
                     unmet.what(),
                     unmet.hint() + (unmet.hint().empty() ? "" : "; ") + what_stays + " (" +
                         base::format_bytes(measure_prefix(attempt.path).disk_bytes) +
                         "): 'sabath env rm " + attempt.path.parent_path().filename().string() +
                         "' removes it");
}

/// Returns false where a library that the check found is gone.
bool still_holds(const CheckRecord& check) {
  return check.has_passed() && !missing_library(check.present);
}

KeyFolder folder_in(const fs::path& root, const spec::LayerLock& lock) {
  return KeyFolder(root / spec::to_string(lock.kind) / KeyFolder::name_of(lock.key));
}

/// Compares the whole key: the folder's name is half of it.
std::optional<FoundAttempt> ready_in(const KeyFolder& folder, const spec::LayerLock& lock) {
  auto ready = folder.ready();
  if (!ready || ready->record.layer.lock.key != lock.key) return std::nullopt;
  return ready;
}

/// Keeps a failure with its log and work folder until the next try.
void keep_failure(const AttemptFolder& attempt, AttemptRecord record, const std::string& message) {
  record.state = "failed";
  record.problem = first_line(message);
  try {
    write_attempt_record(attempt.record(), record);
  } catch (const base::Error&) {
    base::remove_own_tree(attempt.path);
  }
}

}  // namespace

KeyFolder LayerBuilder::folder_of(const spec::LayerLock& lock) const {
  return folder_in(root_, lock);
}

LayerBuilder::Below LayerBuilder::look_below(const spec::LayerLock& lock) const {
  Below below;
  for (const fs::path& root : options_.lower) {
    auto ready = ready_in(folder_in(root, lock), lock);
    if (!ready) continue;
    auto reason = base::why_untrusted(ready->folder.prefix(), options_.trust);
    if (!reason) {
      below.ready = std::move(ready);
      return below;
    }
    below.refused.push_back(std::move(*reason));
  }
  return below;
}

std::optional<FoundAttempt> LayerBuilder::find_ready(const spec::LayerLock& lock) const {
  auto ready = ready_in(folder_of(lock), lock);
  if (!ready) return look_below(lock).ready;
  if (const auto reason = base::why_untrusted(ready->folder.prefix(), options_.trust))
    refuse_untrusted(*reason, lock.name);
  return ready;
}

std::optional<std::string> LayerBuilder::find(const spec::LayerLock& lock) const {
  const auto ready = find_ready(lock);
  if (!ready) return std::nullopt;
  return ready->folder.prefix().string();
}

std::optional<std::string> LayerBuilder::find_checked(const ResolvedLayer& wanted) const {
  const auto ready = find_ready(wanted.lock);
  if (!ready) return std::nullopt;
  const Expectations expected(wanted.layer.expectations(wanted.context));
  if (!expected.lines.empty()) {
    const auto check = PrefixChecks(ready->folder, options_.state_directory).find(expected);
    if (!check || !still_holds(*check)) return std::nullopt;
  }
  return ready->folder.prefix().string();
}

void LayerBuilder::require_expected(const FoundAttempt& ready,
                                    const ResolvedLayer& wanted,
                                    base::Observer& observer,
                                    std::stop_token stop,
                                    AfterFailure after) const {
  const Expectations expected(wanted.layer.expectations(wanted.context));
  if (expected.lines.empty()) return;
  const std::string place = place_of(wanted.lock.name);
  const PrefixChecks checks(ready.folder, options_.state_directory);
  if (const auto before = checks.find(expected)) {
    if (still_holds(*before)) return;
    if (!before->has_passed() && after == AfterFailure::refuse)
      refuse_again(place + ": its check", before->checked, before->problem, before->log);
  }
  observer.note(place + ": is ready, and is checked for what this recipe expects of it");
  require_trusted(ready.folder.prefix(), options_.trust, wanted.lock.name);
  const base::TempDir work(fs::temp_directory_path(), "sabath-check-");
  const fs::path log = checks.log_of(expected).value_or(work.path() / "check.log");
  const auto unmet = check(
      ready.folder,
      wanted,
      {{wanted.context, work.path(), observer, std::move(stop), options_.bring, options_.limits},
       wanted.lock,
       ready.folder.prefix(),
       log});
  if (!unmet) return;
  // Of a lower cache nothing is removed.
  if (ready.folder.path.parent_path() != folder_of(wanted.lock).path()) throw base::Error(*unmet);
  throw with_remains(*unmet, "the prefix stays for others", ready.folder);
}

std::optional<base::Error> LayerBuilder::check(const AttemptFolder& attempt,
                                               const ResolvedLayer& wanted,
                                               const LayerBuild& where) const {
  const Expectations expected(wanted.layer.expectations(wanted.context));
  if (expected.lines.empty()) return std::nullopt;
  CheckRecord record{.state = "passed",
                     .expected = expected.lines,
                     .checked = base::format_rfc3339(clock_.now()),
                     .log = where.log.string()};
  std::optional<base::Error> unmet;
  try {
    record.present = wanted.layer.check_expectations(where);
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::environment || full_disk(error.what())) throw;
    record.state = "failed";
    record.problem = first_line(error.what());
    unmet = error;
  }
  PrefixChecks(attempt, options_.state_directory).keep(expected, record);
  return unmet;
}

std::string LayerBuilder::build(const ResolvedLayer& wanted,
                                base::Observer& observer,
                                std::stop_token stop,
                                AfterFailure after) const {
  if (const auto ready = find_ready(wanted.lock)) {
    require_expected(*ready, wanted, observer, stop, after);
    return ready->folder.prefix().string();
  }
  for (const std::string& reason : look_below(wanted.lock).refused) {
    observer.warn(
        place_of(wanted.lock.name) + ": is ready in another cache and not used: " + reason,
        "\"environments\": {\"trusted_owners\": ...} of the configuration names whom you "
        "trust");
  }
  wanted.layer.require_tools(wanted.context);
  const KeyFolder folder = folder_of(wanted.lock);
  prepare(folder, wanted.lock, observer, after);
  const AttemptFolder attempt = folder.begin();
  AttemptRecord record;
  std::optional<base::Error> unmet;
  bool is_first = false;
  try {
    record = begin(attempt, wanted);
    unmet = run(attempt, wanted, record, observer, stop);
    is_first = folder.publish(attempt);
  } catch (const base::Error& error) {
    const auto full = full_disk(error.what());
    if (error.kind() == base::ErrorKind::environment && full) {
      base::remove_own_tree(attempt.path);
      throw base::Error(base::ErrorKind::storage,
                        first_line(error.what()) + " (" + *full + ")",
                        "make room and run the command again; the cache is " + root_.string() +
                            ", what was built there until then was removed");
    }
    if (error.kind() == base::ErrorKind::environment) {
      keep_failure(attempt, record, error.what());
      throw with_remains(error, "what was built until then stays to be looked at", attempt);
    }
    base::remove_own_tree(attempt.path);
    throw;
  } catch (...) {
    base::remove_own_tree(attempt.path);
    throw;
  }
  if (unmet) {
    if (is_first) throw with_remains(*unmet, "the prefix stays, to be checked again", attempt);
    base::remove_own_tree(attempt.path);
    throw base::Error(*unmet);
  }
  if (is_first) return attempt.prefix().string();
  observer.note(place_of(wanted.lock.name) + ": somebody else built it meanwhile");
  base::remove_own_tree(attempt.path);
  if (const auto ready = find_ready(wanted.lock)) {
    require_expected(*ready, wanted, observer, stop, after);
    return ready->folder.prefix().string();
  }
  throw_environment(place_of(wanted.lock.name) + ": was removed as soon as it was built",
                    "run the command again");
}

void LayerBuilder::prepare(const KeyFolder& folder,
                           const spec::LayerLock& lock,
                           base::Observer& observer,
                           AfterFailure after) const {
  const std::string place = place_of(lock.name);
  require_usable_path(folder.path(), place);
  make_own_folder(folder.path());
  if (auto reason = base::why_untrusted(folder.path(), options_.trust)) {
    refuse_untrusted(*reason, lock.name);
  }
  for (const FoundAttempt& before : folder.attempts()) {
    if (before.record.state != "failed") continue;
    if (after == AfterFailure::refuse)
      refuse_again(place + ": its build",
                   before.record.started,
                   before.record.problem,
                   before.folder.log().string());
    observer.note(place + ": trying again what failed at " + before.record.started);
  }
  const auto out_of_sight = std::max<std::chrono::seconds>(
      std::chrono::hours(24), 2 * options_.limits.wall.value_or(usual_build_time));
  folder.remove_remains(clock_.now(), out_of_sight);
}

AttemptRecord LayerBuilder::begin(const AttemptFolder& attempt, const ResolvedLayer& wanted) const {
  AttemptRecord record;
  record.layer = {.lock = wanted.lock,
                  .prefix = attempt.prefix().string(),
                  .variables = wanted.context.spec.variables};
  wanted.layer.describe(wanted.context, record.layer);
  record.builder = base::ProcessIdentity::current();
  record.started = base::format_rfc3339(clock_.now());
  write_attempt_record(attempt.beginning(), record);
  return record;
}

std::optional<base::Error> LayerBuilder::run(const AttemptFolder& attempt,
                                             const ResolvedLayer& wanted,
                                             AttemptRecord& record,
                                             base::Observer& observer,
                                             std::stop_token stop) const {
  observer.note("building " + place_of(wanted.lock.name) + ", " +
                std::string(wanted.layer.description()));
  for (const auto& [name, value] : wanted.context.left_out) {
    observer.warn(place_of(wanted.lock.name) + ": " + name + "=" + base::printable(value) +
                      ", which an earlier layer sets, is left out from here on",
                  "it would lead to other packages than those that were locked; where you want "
                  "it, the layer itself says so: \"variables\": {\"" +
                      name + "\": \"$" + name + "\"}");
  }
  const base::SteadyTime start = clock_.steady();
  const LayerBuild build{
      {wanted.context, attempt.work(), observer, std::move(stop), options_.bring, options_.limits},
      wanted.lock,
      attempt.prefix(),
      attempt.log()};
  record.present = wanted.layer.build(build);
  for (const auto& [name, value] : wanted.context.left_out)
    record.present["left_out." + name] = value;
  seal_prefix(attempt.prefix());
  record.size = measure_prefix(attempt.prefix());
  require_trusted(attempt.prefix(), options_.trust, wanted.lock.name);
  auto unmet = check(attempt, wanted, build);
  record.build_s = std::chrono::duration<double>(clock_.steady() - start).count();
  base::remove_own_tree(attempt.work());
  wanted.layer.describe(wanted.context, record.layer);
  record.state = "ready";
  write_attempt_record(attempt.record(), record);
  return unmet;
}

}  // namespace sabath::env
