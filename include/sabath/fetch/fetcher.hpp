#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/staged_file.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

/// What is wanted: one file, from any of its sources.
struct Request {
  std::vector<std::string> urls{};            ///< mirrors of the same bytes, in order of preference
  std::optional<std::uint64_t> size_bytes{};  ///< where the document says
  /// What the bytes must have. Only then may parts of several mirrors, or of several attempts whose
  /// source proves nothing, be put together: what comes out is proved by the digest.
  std::vector<base::Digest> digests{};
  std::string label{};  ///< the task's name in progress; empty: the source
};

/// What came of one source. An outcome is a value; only a stop or a full disk throws.
struct Outcome {
  bool ok = false;
  std::string url{};  ///< the source that gave the bytes, or failed last; without user and password
  /// After redirects; without user and password, and without the query (there signatures live).
  std::string effective_url{};
  std::uint64_t bytes = 0;        ///< size of the whole file
  std::uint64_t transferred = 0;  ///< bytes that crossed the wire
  std::string etag{};             ///< of the version whose bytes the staged file has now
  std::string last_modified{};
  std::string problem{};  ///< "server answered 404 Not Found", when not ok
  std::string hint{};
  bool retryable = false;  ///< another attempt may succeed
  bool not_found = false;
  bool access_needed = false;                ///< a login or a consent seems to be needed
  std::chrono::milliseconds retry_after{0};  ///< the server's floor for the next attempt
};

/// One file of many beneath a URL.
struct ListedFile {
  std::string path{};  ///< relative to what was listed
  std::string url{};
  std::optional<std::uint64_t> size_bytes{};
  std::vector<base::Digest> digests{};

  bool operator==(const ListedFile&) const = default;
};

/// Moves bytes from a source of some scheme. One is used by one thread at a time; it may keep
/// connections open between calls.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  virtual std::vector<std::string_view> schemes() const = 0;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  /// Can one call of `fetch` use several sources of a file at once? Others get one URL a call.
  virtual bool takes_mirrors() const { return false; }
  /// One attempt at one file, from `urls` (never empty; sources of this fetcher's schemes) into
  /// `to`. What is there already is kept where the source proves that it belongs to the same
  /// version, or where a digest will. Every response is checked before a byte is written.
  /// Checks `stop` at least once a second; tells `observer` of progress about ten times a second.
  /// Throws Error{interrupted|storage}.
  virtual Outcome fetch(const std::vector<std::string>& urls,
                        const Request& request,
                        base::StagedFile& to,
                        base::Observer& observer,
                        std::stop_token stop) = 0;
  /// Does `url` name many files (a prefix, a folder, a repository)?
  virtual bool names_many(const std::string& url) const;
  /// The first `limit` files beneath `url`, sorted by path. Throws Error{usage} where this fetcher
  /// cannot list, Error{transfer|not_found|access|interrupted}.
  virtual std::vector<ListedFile> list(const std::string& url,
                                       std::optional<std::uint64_t> limit,
                                       base::Observer& observer,
                                       std::stop_token stop);
  /// Can `fetch_tree` bring all that `url` names at once, better than file by file?
  virtual bool takes_trees() const { return false; }
  /// Brings all that is beneath `url` into `folder`, which exists and may have what an earlier
  /// attempt left. Throws as `fetch`.
  virtual Outcome fetch_tree(const std::string& url,
                             const std::filesystem::path& folder,
                             base::Observer& observer,
                             std::stop_token stop);
};

struct RetryPolicy {
  int attempts = 5;  ///< for each source; one that brought at least 1 MiB nearer does not count
  std::chrono::milliseconds base{500};
  std::chrono::milliseconds cap{60'000};
  std::chrono::milliseconds longest_wait{600'000};  ///< a Retry-After beyond it gives the source up
};

struct EngineOptions {
  std::chrono::seconds connect_timeout{30};
  std::chrono::seconds silence{60};  ///< no byte for so long: the attempt has failed
  std::string user_agent{};
  std::string ca_file{};   ///< certificates to trust instead of the system's; empty: the system's
  bool allow_file = true;  ///< file: sources come only from the user's own documents
};

/// The only list of fetchers. Cheap: nothing is initialised before the first transfer.
std::vector<std::unique_ptr<Fetcher>> builtin_fetchers(const EngineOptions& options,
                                                       base::Clock& clock);

/// Tries the sources in order, each with back-off (uniform in [floor, floor + backoff], Retry-After
/// is the floor), until one gives the file or all have failed; the outcome's `problem` then names
/// every source and its problem. An unknown scheme is an outcome too, with the known ones as hint.
/// Ends the progress task whatever comes of it. Throws as Fetcher::fetch.
Outcome fetch_file(const Request& request,
                   const std::vector<std::unique_ptr<Fetcher>>& fetchers,
                   base::StagedFile& to,
                   const RetryPolicy& policy,
                   base::Clock& clock,
                   base::Observer& observer,
                   std::stop_token stop);

}  // namespace sabath::fetch
