#include "keep_outputs.hpp"

#include "local_data.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/hash_file.hpp>
#include <sabath/base/text_table.hpp>

#include <cerrno>

#include <sys/stat.h>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* in_cache = "cache";
/// Hashing so much takes long enough for a person to ask what goes on.
constexpr std::uint64_t long_bytes = std::uint64_t{256} << 20U;
constexpr std::uint64_t told_bytes = std::uint64_t{64} << 20U;

/// Empty where it cannot be looked at.
std::string stamp_of(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return {};
  return fingerprint(status);
}

std::string too_large(std::uint64_t size_bytes, std::uint64_t largest_bytes) {
  if (largest_bytes == 0) return "cache.largest_output is 0";
  return base::format_bytes(size_bytes) + " is more than the " + base::format_bytes(largest_bytes) +
         " of cache.largest_output";
}

/// Why the file is not in the cache after this; empty where it is.
std::string why_not_kept(const spec::OutputRecord& output,
                         const fs::path& file,
                         const OutputStamps& stamps,
                         std::uint64_t largest_bytes,
                         cache::Cache& cache) {
  if (output.size_bytes > largest_bytes || largest_bytes == 0)
    return too_large(output.size_bytes, largest_bytes);
  if (!stamps.is_unchanged(file)) return "it was changed after its stage had ended";
  try {
    return cache.share(file, output.digest, false).value_or("");
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

void OutputStamps::note(const fs::path& file) {
  const std::lock_guard lock(mutex_);
  stamps_[file] = stamp_of(file);
}

bool OutputStamps::is_unchanged(const fs::path& file) const {
  const std::lock_guard lock(mutex_);
  const auto found = stamps_.find(file);
  return found != stamps_.end() && !found->second.empty() && found->second == stamp_of(file);
}

void hash_output(spec::OutputRecord& record,
                 const fs::path& file,
                 OutputStamps& stamps,
                 base::Observer& observer,
                 const std::stop_token& stop) {
  record.size_bytes = fs::file_size(file);
  stamps.note(file);
  base::Progress progress{"hashing " + record.path, 0, record.size_bytes};
  if (record.size_bytes >= long_bytes)
    observer.note(progress.task + ", " + base::format_bytes(record.size_bytes));
  record.digest = base::digest_file(file, base::DigestAlgorithm::sha256, [&](std::uint64_t done) {
    if (stop.stop_requested()) {
      throw Error(ErrorKind::interrupted,
                  "interrupted while its output '" + record.path + "' was hashed");
    }
    if (record.size_bytes < long_bytes || done < progress.done + told_bytes) return;
    progress.done = done;
    observer.progress(progress);
  });
  if (record.size_bytes < long_bytes) return;
  progress.done = record.size_bytes;
  progress.finished = true;
  observer.progress(progress);
}

void keep_for_reuse(spec::OutputRecord& record, const fs::path& file, cache::Cache& cache) {
  if (cache.share(file, record.digest, true)) {
    // The bytes are there twice where they cannot be there once.
    const cache::Object object = cache.publish_file(file);
    fs::remove(file);
    cache.materialise(object, file);
  }
  record.kept = in_cache;
}

void keep_outputs(std::vector<spec::OutputRecord>& outputs,
                  const OutputStamps& stamps,
                  const RunFiles& files,
                  std::uint64_t largest_bytes,
                  cache::Cache& cache,
                  base::Observer& observer) {
  for (spec::OutputRecord& output : outputs) {
    if (output.kept) continue;
    const fs::path file = files.outputs(output.stage) / output.path;
    const std::string reason = why_not_kept(output, file, stamps, largest_bytes, cache);
    output.kept = reason.empty() ? in_cache : "hashed only: " + reason;
    if (!reason.empty())
      observer.note("output " + output.stage + "/" + output.path + ": " + *output.kept);
  }
}

}  // namespace sabath::app
