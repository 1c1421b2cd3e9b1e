#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

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

/// What lstat said of the outputs before they were hashed, to notice what has changed since. All
/// members may be called from any thread.
class OutputStamps {
 public:
  void note(const std::filesystem::path& file, const struct stat& hashed);
  /// Nothing: it was not hashed here.
  std::optional<struct stat> find(const std::filesystem::path& file) const;
  /// Of an output that was hashed.
  struct stat of(const std::filesystem::path& file) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::filesystem::path, struct stat> stamps_;
};

/// Hashes the output `record` of a stage and notes its stamp; of a large one it is told how far it
/// is. One that changes meanwhile is hashed again; one that never holds still is only hashed, and
/// its record says so. Throws Error{storage|interrupted}.
void hash_output(spec::OutputRecord& record,
                 const std::filesystem::path& file,
                 OutputStamps& stamps,
                 base::Observer& observer,
                 const std::stop_token& stop);

/// Of a file whose digest is known without hashing it. Throws Error{storage}.
void note_known(const std::filesystem::path& file, OutputStamps& stamps);

/// Is the file gone, or another than when it was hashed? So is one that was not hashed here.
bool is_changed(const std::filesystem::path& file, const OutputStamps& stamps);

/// Puts an output of a cached stage into the cache, durably, unless it was changed since it was
/// hashed; its record says so then. Throws Error{storage}.
void keep_for_reuse(spec::OutputRecord& record,
                    const std::filesystem::path& file,
                    OutputStamps& stamps,
                    cache::Cache& cache);
/// Are its bytes in the cache?
bool is_in_cache(const spec::OutputRecord& record);

/// Before somebody else goes on with them: outputs that were changed since they were hashed are
/// only hashed, and their records say so.
void mark_changed(std::vector<spec::OutputRecord>& outputs,
                  const OutputStamps& stamps,
                  const home::RunFiles& files);

/// Once all stages have ended: outputs that are others by now than when their own stage had ended
/// are hashed again, and told. What cannot be hashed is left as mark_changed does; nothing here
/// fails a run.
void take_changes(std::vector<spec::OutputRecord>& outputs,
                  OutputStamps& stamps,
                  const home::RunFiles& files,
                  const std::string& recipe_text,
                  base::Observer& observer,
                  const std::stop_token& stop);

/// Once all stages have ended, so that none is kept from writing: outputs up to so many bytes
/// become objects of the cache, and each record says whether, or why not. Nothing here fails a run.
void keep_outputs(std::vector<spec::OutputRecord>& outputs,
                  const OutputStamps& stamps,
                  const home::RunFiles& files,
                  std::uint64_t largest_bytes,
                  cache::Cache& cache,
                  base::Observer& observer);

}  // namespace sabath::execution
