#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/stage_record.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace sabath::execution {

/// File status of outputs when they were hashed, to notice later changes. Thread safety: all
/// members may be called from any thread.
class OutputStamps {
 public:
  void note(const std::filesystem::path& file, const struct stat& hashed);
  /// Returns nothing for a file that was not hashed here.
  std::optional<struct stat> find(const std::filesystem::path& file) const;
  /// For an output that was hashed.
  struct stat of(const std::filesystem::path& file) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::filesystem::path, struct stat> stamps_;
};

/// Hashes the output `record` of a stage, notes its stamp, and reports the progress of a large one.
/// Hashes again a file that changes meanwhile. Where the file keeps changing, the record says that
/// it was only hashed. Throws Error{storage|interrupted}.
void hash_output(spec::OutputRecord& record,
                 const std::filesystem::path& file,
                 OutputStamps& stamps,
                 base::Observer& observer,
                 const std::stop_token& stop);

/// Notes a file whose digest is known without hashing it. Throws Error{storage}.
void note_known(const std::filesystem::path& file, OutputStamps& stamps);

/// Returns true for a file that is gone, was changed since it was hashed, or was not hashed here.
bool is_changed(const std::filesystem::path& file, const OutputStamps& stamps);

/// Puts an object in the place of `file`: as a hard link, else as a copy, for a run outlives the
/// cache. Throws Error{storage|integrity}.
void put_in_run(const cache::Object& object,
                const std::filesystem::path& file,
                unsigned mode,
                cache::Cache& cache);

/// Puts an output of a cached stage into the cache, durably. Where the file was changed since it
/// was hashed, only the record says so. Throws Error{storage}.
void keep_for_reuse(spec::OutputRecord& record,
                    const std::filesystem::path& file,
                    OutputStamps& stamps,
                    cache::Cache& cache);
/// Returns true where the bytes are in the cache.
bool is_in_cache(const spec::OutputRecord& record);

/// Marks outputs that were changed since they were hashed: their records say that they were only
/// hashed.
void mark_changed(std::vector<spec::OutputRecord>& outputs,
                  const OutputStamps& stamps,
                  const home::RunFiles& files);

/// After all stages: hashes outputs again that changed since their own stage ended, and warns. What
/// cannot be hashed is marked as by mark_changed. Never fails a run.
void take_changes(std::vector<spec::OutputRecord>& outputs,
                  OutputStamps& stamps,
                  const home::RunFiles& files,
                  const std::string& recipe_text,
                  base::Observer& observer,
                  const std::stop_token& stop);

/// After all stages, so that no stage is kept from writing: puts outputs of at most `largest_bytes`
/// into the cache. Each record says whether, or why not. Never fails a run.
void keep_outputs(std::vector<spec::OutputRecord>& outputs,
                  const OutputStamps& stamps,
                  const home::RunFiles& files,
                  std::uint64_t largest_bytes,
                  cache::Cache& cache,
                  base::Observer& observer);

}  // namespace sabath::execution
