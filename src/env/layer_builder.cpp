#include "layer_builder.hpp"

#include "build_steps.hpp"
#include "layer_variables.hpp"
#include "prefix.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Longer ones are cut off in "#!" lines, and many tools have buffers of 256.
constexpr std::size_t max_prefix_length = 200;

void require_usable_path(const fs::path& folder, const std::string& place) {
  const std::string path = folder.string();
  const bool splits = path.find_first_of(":;\n") != std::string::npos;
  const std::size_t length = path.size() + std::string_view("/attempt8/prefix").size();
  if (!splits && length <= max_prefix_length) return;
  throw base::Error(base::ErrorKind::environment,
                    place + ": " + path + ": " +
                        (splits ? "search paths cannot hold ':', ';' or a line break"
                                : "too long: programs there would not find their interpreters"),
                    "choose another folder for the cache");
}

[[noreturn]] void refuse_failed(const FoundAttempt& attempt, const std::string& place) {
  const std::string log = attempt.folder.log().string();
  throw base::Error(base::ErrorKind::environment,
                    place + ": its build failed at " + attempt.record.started +
                        " and is not tried again by itself: " + attempt.record.problem +
                        "; the end of " + log + ":" + tail_of(attempt.folder.log()),
                    "when the cause is mended: sabath env build RECIPE --retry");
}

std::string first_line(const std::string& message) {
  return message.substr(0, message.find('\n'));
}

/// What a tool says in the locale that it is given, when the disk or a quota is full: no property
/// of what was built, so that it is not remembered.
std::optional<std::string> full_disk(std::string_view said) {
  for (const int code : {ENOSPC, EDQUOT}) {
    const std::string text = base::errno_text(code);
    // Programs in Go begin it with a small letter.
    if (said.find(text.substr(1)) != std::string_view::npos) return text;
  }
  return std::nullopt;
}

/// A failure is kept with its log and its work folder until the next try; what is kept badly is
/// only less to look at.
void keep_failure(const AttemptFolder& attempt, AttemptRecord record, const std::string& message) {
  record.state = "failed";
  record.problem = first_line(message);
  try {
    write_attempt_record(attempt.record(), record);
  } catch (const base::Error&) {
    base::remove_tree(attempt.path);
  }
}

}  // namespace

KeyFolder LayerBuilder::folder_of(const spec::LayerLock& lock) const {
  return KeyFolder(root_ / spec::to_string(lock.kind) / KeyFolder::name_of(lock.key));
}

std::optional<std::string> LayerBuilder::find(const spec::LayerLock& lock) const {
  const auto ready = folder_of(lock).ready();
  if (!ready || ready->record.layer.lock.key != lock.key) return std::nullopt;
  const fs::path prefix = ready->folder.prefix();
  if (const auto reason = base::why_untrusted(prefix, options_.trusted_owners))
    refuse_untrusted(*reason, lock.name);
  return prefix.string();
}

std::string LayerBuilder::build(const ResolvedLayer& wanted,
                                base::Observer& observer,
                                std::stop_token stop,
                                AfterFailure after) const {
  if (auto prefix = find(wanted.lock)) return *prefix;
  const KeyFolder folder = folder_of(wanted.lock);
  prepare(folder, wanted.lock, observer, after);
  const AttemptFolder attempt = folder.begin();
  AttemptRecord record;
  try {
    record = begin(attempt, wanted);
    run(attempt, wanted, record, observer, std::move(stop));
    if (folder.publish(attempt)) return attempt.prefix().string();
  } catch (const base::Error& error) {
    const auto full = full_disk(error.what());
    if (error.kind() == base::ErrorKind::environment && full) {
      base::remove_tree(attempt.path);
      throw base::Error(base::ErrorKind::storage,
                        first_line(error.what()) + " (" + *full + ")",
                        "make room and run the command again; the cache is " + root_.string() +
                            ", what was built there until then was removed");
    }
    if (error.kind() == base::ErrorKind::environment) {
      keep_failure(attempt, record, error.what());
    } else {
      base::remove_tree(attempt.path);
    }
    throw;
  } catch (...) {
    base::remove_tree(attempt.path);
    throw;
  }
  observer.note(place_of(wanted.lock.name) + ": somebody else built it meanwhile");
  base::remove_tree(attempt.path);
  if (auto prefix = find(wanted.lock)) return *prefix;
  throw base::Error(base::ErrorKind::environment,
                    place_of(wanted.lock.name) + ": was removed as soon as it was built",
                    "run the command again");
}

void LayerBuilder::prepare(const KeyFolder& folder,
                           const spec::LayerLock& lock,
                           base::Observer& observer,
                           AfterFailure after) const {
  const std::string place = place_of(lock.name);
  require_usable_path(folder.path(), place);
  make_own_folder(folder.path());
  if (auto reason = base::why_untrusted(folder.path(), options_.trusted_owners)) {
    refuse_untrusted(*reason, lock.name);
  }
  for (const FoundAttempt& before : folder.attempts()) {
    if (before.record.state != "failed") continue;
    if (after == AfterFailure::refuse) refuse_failed(before, place);
    observer.note(place + ": trying again what failed at " + before.record.started);
  }
  const auto out_of_sight =
      std::max<std::chrono::seconds>(std::chrono::hours(24), 2 * options_.limits.wall);
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

void LayerBuilder::run(const AttemptFolder& attempt,
                       const ResolvedLayer& wanted,
                       AttemptRecord& record,
                       base::Observer& observer,
                       std::stop_token stop) const {
  observer.note("building " + place_of(wanted.lock.name) + ", " +
                std::string(wanted.layer.description()));
  const base::SteadyTime start = clock_.steady();
  record.present = wanted.layer.build({wanted.context,
                                       wanted.lock,
                                       attempt.prefix(),
                                       attempt.work(),
                                       attempt.log(),
                                       options_.limits,
                                       observer,
                                       std::move(stop),
                                       options_.bring});
  record.build_s = std::chrono::duration<double>(clock_.steady() - start).count();
  seal_prefix(attempt.prefix());
  record.size = measure_prefix(attempt.prefix());
  require_trusted(attempt.prefix(), options_.trusted_owners, wanted.lock.name);
  base::remove_tree(attempt.work());
  wanted.layer.describe(wanted.context, record.layer);
  record.state = "ready";
  write_attempt_record(attempt.record(), record);
}

}  // namespace sabath::env
