#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/staged_file.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

struct RetryPolicy {
  int attempts = 5;  ///< for each source; one that brought at least 1 MiB nearer does not count
  std::chrono::milliseconds base{500};
  std::chrono::milliseconds cap{60'000};
  std::chrono::milliseconds longest_wait{600'000};  ///< a Retry-After beyond it gives the source up
};

/// The version of a file that one of its sources gave, by what its answer said (RFC 9110, 8.8).
struct KnownVersion {
  std::string url{};  ///< as in `Request::urls`
  std::string etag{};
  std::string last_modified{};
};

/// What is wanted: one file, from any of its sources.
struct Request {
  std::vector<std::string> urls{};            ///< mirrors of the same bytes, in order of preference
  std::optional<std::uint64_t> size_bytes{};  ///< where the document says
  /// What the bytes must have. Only then may parts of several mirrors, or of several attempts whose
  /// source proves nothing, be put together: what comes out is proved by the digest.
  std::vector<base::Digest> digests{};
  std::string label{};  ///< the task's name in progress; empty: the source
  /// Versions that the caller has: a source that still has its own need not send it. Only
  /// `fetch_many` over HTTP asks so; the others send what they have.
  std::vector<KnownVersion> here{};
  /// For a fetcher that takes mirrors: it asks a source again while others go on. `fetch_file` sets
  /// this; the others are repeated by it.
  RetryPolicy retries{.attempts = 1};
};

/// What came of one source. An outcome is a value; only a stop or a full disk throws.
struct Outcome {
  bool ok = false;
  /// The source still has the version of `Request::here`; no byte was written, and it is not ok.
  bool unchanged = false;
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
  /// All bytes came and are not those of the digests: of kind integrity, not transfer.
  bool wrong_bytes = false;
  /// The hosts of the sources, where none of them was found or took a connection.
  std::string unreachable{};
  /// Sources (without user, password and query) that were found to give wrong bytes, also when the
  /// file was had from the others.
  std::vector<std::string> wrong_sources{};
};

/// One file of many beneath a URL.
struct ListedFile {
  std::string path{};  ///< relative to what was listed
  std::string url{};
  std::optional<std::uint64_t> size_bytes{};
  std::vector<base::Digest> digests{};

  bool operator==(const ListedFile&) const = default;
};

/// Many files that are wanted, given out as their transfers begin, so that neither the caller nor
/// the engine holds more than a few of them. All members are called on the thread that called
/// `fetch_files`.
class FileList {
 public:
  virtual ~FileList() = default;
  virtual std::size_t size() const = 0;
  /// What is wanted of file `index`; may be asked for more than once.
  virtual Request request(std::size_t index) = 0;
  /// Where its bytes go: valid until `done(index)`. Called once for each file, right before its
  /// first request.
  virtual base::StagedFile& open(std::size_t index) = 0;
  /// Its transfer has ended, once for each file; where `outcome.ok`, all bytes are there and the
  /// digests were not found wrong. What this throws ends `fetch_files`.
  virtual void done(std::size_t index, const Outcome& outcome) = 0;
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
  /// Can `fetch_many` fetch several files at once?
  virtual bool takes_many() const { return false; }
  /// Fetches the files of these `indices`, which are small or of unknown size and have at least one
  /// source of this fetcher's schemes (the others are left alone), several at a time. A file that
  /// cannot be had is an outcome. Throws Error{interrupted} and what `files` throws.
  virtual void fetch_many(FileList& files,
                          const std::vector<std::size_t>& indices,
                          const RetryPolicy& policy,
                          base::Observer& observer,
                          std::stop_token stop);
  /// Does `url` still give `version`? Asks the source without fetching; nothing where it does not
  /// say, is of another scheme, or cannot be reached.
  virtual std::optional<bool> still_has(const std::string& url,
                                        const base::ByteSource& version,
                                        std::stop_token stop);
  /// What the service that `url` is of says of this one file: its size and digests. Nothing where
  /// there is no such service, or it says nothing. Throws as `list`.
  virtual std::optional<ListedFile> published(const std::string& url, std::stop_token stop);
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

/// What a host wants to see before it gives a file.
struct Credentials {
  std::string user{};
  std::string password{};
  std::string bearer{};                ///< a token (RFC 6750)
  std::vector<std::string> headers{};  ///< "X-Api-Key: secret"
};

struct EngineOptions {
  std::chrono::seconds connect_timeout{30};
  std::chrono::seconds silence{60};  ///< no byte for so long: the attempt has failed
  std::string user_agent{};
  std::string ca_file{};   ///< certificates to trust instead of the system's; empty: the system's
  bool allow_file = true;  ///< file: sources come only from the user's own documents
  unsigned connections_per_host = 16;  ///< at most
  /// The secrets bound to a host ("data.example.org", or "127.0.0.1:8080" where the URL names a
  /// port). Asked anew for the host of each redirect, so that no host sees those of another; not
  /// asked where the way there is not encrypted.
  std::function<Credentials(std::string_view scheme, std::string_view host)> credentials_for{};
  bool secrets_on_loopback = false;  ///< also without TLS, to this machine itself
};

/// The only list of fetchers. Cheap: nothing is initialised before the first transfer.
std::vector<std::unique_ptr<Fetcher>> builtin_fetchers(const EngineOptions& options,
                                                       base::Clock& clock);

/// Gets one file. A fetcher that takes mirrors gets all its sources together, in the place of the
/// first; the others are tried in order, each with back-off (uniform in [floor, floor + backoff],
/// Retry-After is the floor), until one gives the file or all have failed; the outcome's `problem`
/// then names every source and its problem. An unknown scheme is an outcome too, with the known
/// ones as hint. A complete file with the wrong digest is blamed on a source: its bytes are fetched
/// again from the others, which names the culprit with a warning. Ends the progress task whatever
/// comes of it. Throws as Fetcher::fetch.
Outcome fetch_file(const Request& request,
                   const std::vector<std::unique_ptr<Fetcher>>& fetchers,
                   base::StagedFile& to,
                   const RetryPolicy& policy,
                   base::Clock& clock,
                   base::Observer& observer,
                   std::stop_token stop);

/// Gets many files: the small ones several at a time over few connections, where their fetcher can,
/// the others one after the other by `fetch_file`, largest first where sizes are known. Every file
/// has its own outcome, retries and mirrors. Progress: a task named `label`, in bytes where all
/// sizes are known, else in files beside a task a large one. Throws as Fetcher::fetch and `files`.
void fetch_files(FileList& files,
                 const std::string& label,
                 const std::vector<std::unique_ptr<Fetcher>>& fetchers,
                 const RetryPolicy& policy,
                 base::Clock& clock,
                 base::Observer& observer,
                 std::stop_token stop);

}  // namespace sabath::fetch
