#include "keep_outputs.hpp"

#include "real_folders.hpp"

#include <sabath/assets/linked_files.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_stamp.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/execution/keep_digest_trees.hpp>
#include <sabath/spec/stage_record.hpp>

#include <cerrno>
#include <chrono>
#include <thread>

#include <sys/stat.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* in_cache = "cache";
/// From this size on the progress of hashing is reported.
constexpr std::uint64_t long_bytes = std::uint64_t{256} << 20U;
constexpr std::uint64_t reported_bytes = std::uint64_t{64} << 20U;

/// Nobody else may write to an output, whatever a record says.
constexpr unsigned most_of_a_mode = 0755;
constexpr int most_hashings = 3;
constexpr const char* hashed_only = "hashed only: ";

struct stat status_of(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) base::throw_errno(file.string(), "cannot read", errno);
  return status;
}

bool is_later(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/// Equal except for mode and names.
bool has_changed(const struct stat& then, const struct stat& now) {
  return then.st_ino != now.st_ino || then.st_size != now.st_size ||
         is_later(now.st_mtim, then.st_mtim) || is_later(then.st_mtim, now.st_mtim);
}

/// A file that moved out of the run with its directory keeps its stamp.
bool is_elsewhere(const spec::OutputRecord& output, const home::RunFiles& files) {
  const fs::path folder = files.outputs(output.stage);
  return way_out(files.directory(), folder, folder / output.path).has_value();
}

/// Times of files move in steps of some milliseconds, and do not show a write within the step of
/// the last change. So this waits for the step to end, but not for the clock of another machine.
struct stat settled_status(const fs::path& file) {
  struct stat status = status_of(file);
  for (int i = 0; i < 20; ++i) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (is_later(now, status.st_mtim) && is_later(now, status.st_ctim)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    status = status_of(file);
  }
  return status;
}

std::string too_large(std::uint64_t size_bytes, std::uint64_t largest_bytes) {
  if (largest_bytes == 0) return "cache.largest_output is 0";
  return base::format_bytes(size_bytes) + " is more than the " + base::format_bytes(largest_bytes) +
         " of cache.largest_output";
}

/// Returns why the file is not in the cache after this; empty where it is.
std::string why_not_kept(const spec::OutputRecord& output,
                         const fs::path& file,
                         const OutputStamps& stamps,
                         std::uint64_t largest_bytes,
                         cache::Cache& cache) {
  if (output.size_bytes > largest_bytes || largest_bytes == 0)
    return too_large(output.size_bytes, largest_bytes);
  try {
    return cache.share(file, output.digest, stamps.of(file), false).value_or("");
  } catch (const Error& error) {
    return error.what();
  }
}

void hash_once(spec::OutputRecord& record,
               const fs::path& file,
               base::Observer& observer,
               const std::stop_token& stop) {
  base::Progress progress{"hashing " + record.path, 0, record.size_bytes};
  if (record.size_bytes >= long_bytes)
    observer.note(progress.task + ", " + base::format_bytes(record.size_bytes));
  record.digest = base::digest_file(file, base::DigestAlgorithm::sha256, [&](std::uint64_t done) {
    if (stop.stop_requested()) {
      throw Error(ErrorKind::interrupted,
                  "interrupted while its output '" + record.path + "' was hashed");
    }
    if (record.size_bytes < long_bytes || done < progress.done + reported_bytes) return;
    progress.done = done;
    observer.progress(progress);
  });
  if (record.size_bytes < long_bytes) return;
  progress.done = record.size_bytes;
  progress.finished = true;
  observer.progress(progress);
}

}  // namespace

void OutputStamps::note(const fs::path& file, const struct stat& hashed) {
  const std::lock_guard lock(mutex_);
  stamps_[file] = hashed;
}

std::optional<struct stat> OutputStamps::find(const fs::path& file) const {
  const std::lock_guard lock(mutex_);
  const auto found = stamps_.find(file);
  return found == stamps_.end() ? std::nullopt : std::optional(found->second);
}

struct stat OutputStamps::of(const fs::path& file) const {
  return find(file).value();
}

void note_known(const fs::path& file, OutputStamps& stamps) {
  stamps.note(file, status_of(file));
}

void hash_output(spec::OutputRecord& record,
                 const fs::path& file,
                 OutputStamps& stamps,
                 base::Observer& observer,
                 const std::stop_token& stop) {
  for (int hashings = 1;; ++hashings) {
    const struct stat before = settled_status(file);
    stamps.note(file, before);
    record.size_bytes = static_cast<std::uint64_t>(before.st_size);
    hash_once(record, file, observer, stop);
    if (base::stamp_from(before) == base::stamp_from(status_of(file))) return;
    if (hashings < most_hashings) continue;
    record.kept = std::string(hashed_only) + "it was written to whenever it was hashed";
    return;
  }
}

bool is_changed(const fs::path& file, const OutputStamps& stamps) {
  const auto then = stamps.find(file);
  struct stat now {};
  return !then || ::lstat(file.c_str(), &now) != 0 || has_changed(*then, now);
}

bool is_in_cache(const spec::OutputRecord& record) {
  return record.kept == in_cache;
}

void put_in_run(const cache::Object& object,
                const fs::path& file,
                unsigned mode,
                cache::Cache& cache) {
  // Objects are not executable.
  if ((mode & 0111U) == 0 && !cache.link(object.digest, file)) return;
  fs::remove(file);
  cache.place(object, file, true);
  fs::permissions(file, static_cast<fs::perms>(mode & most_of_a_mode));
}

void keep_for_reuse(spec::OutputRecord& record,
                    const fs::path& file,
                    OutputStamps& stamps,
                    cache::Cache& cache) {
  if (record.kept) return;  // it never held still
  const struct stat hashed = stamps.of(file);
  if (cache.share(file, record.digest, hashed, true)) {
    // The bytes are stored twice where one copy cannot be shared.
    const bool changed = has_changed(hashed, status_of(file));
    const cache::Object object = changed ? cache::Object{} : cache.publish_file(file);
    if (object.digest != record.digest) {
      record.kept = spec::changed_since_hashed;
      return;
    }
    // Another name of the file, which is not of the run, could change it.
    if (hashed.st_nlink > 1) {
      const bool is_program = (hashed.st_mode & 0111U) != 0;
      put_in_run(object, file, is_program ? hashed.st_mode & 0777U : 0444U, cache);
      note_known(file, stamps);
    }
  }
  record.kept = in_cache;
}

void mark_changed(std::vector<spec::OutputRecord>& outputs,
                  const OutputStamps& stamps,
                  const home::RunFiles& files) {
  for (spec::OutputRecord& output : outputs) {
    if (output.kept && !is_in_cache(output)) continue;
    const fs::path file = files.outputs(output.stage) / output.path;
    if (is_elsewhere(output, files) || is_changed(file, stamps))
      output.kept = spec::changed_since_hashed;
  }
}

void take_changes(std::vector<spec::OutputRecord>& outputs,
                  OutputStamps& stamps,
                  const home::RunFiles& files,
                  const std::string& recipe_text,
                  base::Observer& observer,
                  const std::stop_token& stop) {
  for (spec::OutputRecord& output : outputs) {
    const fs::path file = files.outputs(output.stage) / output.path;
    if (is_elsewhere(output, files)) {
      output.kept = spec::changed_since_hashed;
      continue;
    }
    if (!output.is_outdated() && !is_changed(file, stamps)) continue;
    std::error_code code;
    const fs::file_type type = fs::symlink_status(file, code).type();
    if (type != fs::file_type::regular) {
      const bool is_gone = type == fs::file_type::not_found;
      if (!is_gone) output.kept = spec::changed_since_hashed;
      if (is_gone && !is_in_cache(output))
        output.kept = std::string(hashed_only) + "a later stage of the run removed it";
      continue;
    }
    spec::OutputRecord now{output.stage, output.path, 0, {}, {}, {}, {}, output.part_of};
    try {
      hash_output(now, file, stamps, observer, stop);
      if (now.digest == output.digest) {
        if (output.is_outdated()) output.kept = now.kept;
        continue;
      }
      keep_trees(now, files, recipe_text, observer, stop);
    } catch (const Error&) {
      output.kept = spec::changed_since_hashed;  // the run is stopped, or it cannot be read
      continue;
    }
    if (is_changed(file, stamps)) now.trees.reset();  // of other values, perhaps
    now.as_made = output.digest;
    output = std::move(now);
    observer.warn(
        "output " + output.stage + "/" + output.path + ": a later stage of the run changed it",
        "the record, 'compare' and 'verify' hold what it was when the run ended");
  }
}

void keep_outputs(std::vector<spec::OutputRecord>& outputs,
                  const OutputStamps& stamps,
                  const home::RunFiles& files,
                  std::uint64_t largest_bytes,
                  cache::Cache& cache,
                  base::Observer& observer) {
  for (spec::OutputRecord& output : outputs) {
    if (output.kept) continue;
    const fs::path file = files.outputs(output.stage) / output.path;
    const std::string reason = why_not_kept(output, file, stamps, largest_bytes, cache);
    output.kept = reason.empty() ? in_cache : hashed_only + reason;
    if (!reason.empty())
      observer.note("output " + output.stage + "/" + output.path + ": " + *output.kept);
  }
}

}  // namespace sabath::execution
