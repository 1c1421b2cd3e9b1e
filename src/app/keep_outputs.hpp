#pragma once

#include <sabath/app/run_files.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/cache/cache.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::app {

/// What the outputs were when they were hashed, to notice what has changed since. All members may
/// be called from any thread.
class OutputStamps {
 public:
  void note(const std::filesystem::path& file);
  bool is_unchanged(const std::filesystem::path& file) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::filesystem::path, std::string> stamps_;
};

/// Hashes the output `record` of a stage and notes its stamp; of a large one it is told how far it
/// is. Throws Error{storage|interrupted}.
void hash_output(spec::OutputRecord& record,
                 const std::filesystem::path& file,
                 OutputStamps& stamps,
                 base::Observer& observer,
                 const std::stop_token& stop);

/// Puts an output of a cached stage into the cache, durably. Throws Error{storage}.
void keep_for_reuse(spec::OutputRecord& record,
                    const std::filesystem::path& file,
                    cache::Cache& cache);

/// Once all stages have ended, so that none is kept from writing: outputs up to so many bytes
/// become objects of the cache, and each record says whether, or why not. Nothing here fails a run.
void keep_outputs(std::vector<spec::OutputRecord>& outputs,
                  const OutputStamps& stamps,
                  const RunFiles& files,
                  std::uint64_t largest_bytes,
                  cache::Cache& cache,
                  base::Observer& observer);

}  // namespace sabath::app
