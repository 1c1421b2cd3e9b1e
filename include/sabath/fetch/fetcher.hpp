#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/partial_file.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

struct RetryPolicy {
  int attempts = 5;  ///< for each source; one with 1 MiB of progress does not count
  std::chrono::milliseconds base{500};
  std::chrono::milliseconds cap{60'000};
  std::chrono::milliseconds longest_wait{600'000};  ///< a longer Retry-After ends the source
};

/// Version of a file from one of its sources, by its validators (RFC 9110, 8.8).
struct KnownVersion {
  std::string url{};  ///< as in `Request::urls`
  std::string etag{};
  std::string last_modified{};
};

/// Request for one file, from any of its sources.
struct Request {
  std::vector<std::string> urls{};            ///< mirrors of the same bytes, in order of preference
  std::optional<std::uint64_t> size_bytes{};  ///< from the document, where it has it
  /// Digests of the bytes. Only with a digest are parts of several mirrors combined, or of attempts
  /// without a provable version: the digest proves the result.
  std::vector<base::Digest> digests{};
  std::string label{};  ///< the task's name in progress; empty: the source
  /// Versions that the caller has. A source need not send such a version again. Only `fetch_many`
  /// over HTTP uses them.
  std::vector<KnownVersion> here{};
  /// For a fetcher with mirrors, which repeats requests itself. `fetch_file` sets this, and repeats
  /// the other fetchers.
  RetryPolicy retries{.attempts = 1};
};

/// Result of a fetch. Only a stop or a full disk throws.
struct Outcome {
  bool ok = false;
  /// The source still has the version of `Request::here`: no byte was written, `ok` is false.
  bool unchanged = false;
  std::string url{};  ///< the source that gave the bytes, or failed last; without user and password
  /// After redirects; without user, password and query (which may have a signature).
  std::string effective_url{};
  std::uint64_t bytes = 0;        ///< size of the whole file
  std::uint64_t transferred = 0;  ///< bytes that crossed the wire
  std::string etag{};             ///< of the bytes in the partial file
  std::string last_modified{};
  std::string problem{};  ///< "server answered 404 Not Found", when not ok
  std::string hint{};
  bool retryable = false;  ///< another attempt may succeed
  bool not_found = false;
  bool access_needed = false;                ///< a login or a consent seems to be needed
  std::chrono::milliseconds retry_after{0};  ///< the server's floor for the next attempt
  /// The complete file has a wrong digest: an error of integrity, not of transfer.
  bool wrong_bytes = false;
  /// Hosts of the sources, where none was found or took a connection.
  std::string unreachable{};
  /// Sources (without user, password and query) that gave wrong bytes, also when others gave the
  /// file.
  std::vector<std::string> wrong_sources{};
};

/// One file of many beneath a URL.
struct ListedFile {
  std::string path{};  ///< relative to the listed URL
  std::string url{};
  std::optional<std::uint64_t> size_bytes{};
  std::vector<base::Digest> digests{};

  bool operator==(const ListedFile&) const = default;
};

/// List of files to fetch. Each is opened when its transfer begins, so that only a few are open.
/// Thread safety: all members are called on the thread that called `fetch_files`.
class FileList {
 public:
  virtual ~FileList() = default;
  virtual std::size_t size() const = 0;
  /// Returns the request for file `index`. May be called more than once.
  virtual Request request(std::size_t index) = 0;
  /// Returns the target of its bytes, valid until `done(index)`. Called once for each file, before
  /// its first request.
  virtual base::PartialFile& open(std::size_t index) = 0;
  /// Called once for each file, when its transfer has ended. With `outcome.ok` the file is complete
  /// and its digests were not found wrong. An exception ends `fetch_files`.
  virtual void done(std::size_t index, const Outcome& outcome) = 0;
};

/// Transfers files from sources of its schemes. May keep connections open between calls. Thread
/// safety: one thread at a time.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  virtual std::vector<std::string_view> schemes() const = 0;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  /// Can one call of `fetch` use several sources of a file? If not, it gets one URL.
  virtual bool takes_mirrors() const { return false; }
  /// Makes one attempt at one file, from `urls` (never empty; of this fetcher's schemes) into `to`.
  /// Present bytes are kept where the source or a digest proves their version. Every response is
  /// checked before a byte is written. Checks `stop` at least once a second, and reports progress
  /// about ten times a second. Throws Error{interrupted|storage}.
  virtual Outcome fetch(const std::vector<std::string>& urls,
                        const Request& request,
                        base::PartialFile& to,
                        base::Observer& observer,
                        std::stop_token stop) = 0;
  /// Can `fetch_many` fetch several files at once?
  virtual bool takes_many() const { return false; }
  /// Fetches several files at a time: those of `indices`, which are small or of unknown size. Each
  /// has a source of this fetcher's schemes; other sources are ignored. A failed file is an
  /// outcome. Throws Error{interrupted} and what `files` throws.
  virtual void fetch_many(FileList& files,
                          const std::vector<std::size_t>& indices,
                          const RetryPolicy& policy,
                          base::Observer& observer,
                          std::stop_token stop);
  /// Does `url` still give `version`? Asks the source without a download. Returns nothing without a
  /// clear answer, or for another scheme.
  virtual std::optional<bool> still_has(const std::string& /*url*/,
                                        const base::ByteSource& /*version*/,
                                        std::stop_token /*stop*/) {
    return std::nullopt;
  }
  /// Returns size and digests of one file from the service of `url`. Returns nothing without such a
  /// service or answer. Throws as `list`.
  virtual std::optional<ListedFile> published(const std::string& /*url*/,
                                              std::stop_token /*stop*/) {
    return std::nullopt;
  }
  /// Does `url` name many files (a prefix, a folder, a repository)?
  virtual bool names_many(const std::string& /*url*/) const { return false; }
  /// Returns the first `limit` files beneath `url`, sorted by path. Throws Error{usage} where this
  /// fetcher cannot list, Error{transfer|not_found|access|interrupted}.
  virtual std::vector<ListedFile> list(const std::string& url,
                                       std::optional<std::uint64_t> limit,
                                       base::Observer& observer,
                                       std::stop_token stop);
  /// Is `fetch_tree` better than a fetch file by file?
  virtual bool takes_trees() const { return false; }
  /// Downloads all files beneath `url` to `folder`, which exists and may have files of an earlier
  /// attempt. Throws as `fetch`.
  virtual Outcome fetch_tree(const std::string& url,
                             const std::filesystem::path& folder,
                             base::Observer& observer,
                             std::stop_token stop);

  std::set<std::string> preferred{};  ///< schemes for which it comes before other fetchers
};

/// Returns the fetchers that take the scheme of `url`, preferred ones first.
std::vector<Fetcher*> fetchers_for(const std::vector<std::unique_ptr<Fetcher>>& fetchers,
                                   const std::string& url);

/// Secrets for one host.
struct Credentials {
  std::string user{};
  std::string password{};
  std::string bearer{};                ///< a token (RFC 6750)
  std::vector<std::string> headers{};  ///< "X-Api-Key: secret"
};

struct EngineOptions {
  std::chrono::seconds connect_timeout{30};
  std::chrono::seconds silence{60};  ///< without a byte, after which the attempt fails
  std::string user_agent{};
  std::string ca_file{};   ///< certificates to trust instead of the system's; empty: the system's
  bool allow_file = true;  ///< file: sources come only from the user's own documents
  unsigned connections_per_host = 16;  ///< at most
  /// Returns the secrets of a host ("data.example.org", or "127.0.0.1:8080" where the URL names a
  /// port). Called for the host of each redirect, so that a host gets only its own secrets. Not
  /// called for unencrypted connections.
  std::function<Credentials(std::string_view scheme, std::string_view host)> credentials_for{};
  bool secrets_on_loopback = false;  ///< also without TLS, to this machine
};

/// Makes the built-in fetchers. Initialises nothing before the first transfer.
std::vector<std::unique_ptr<Fetcher>> builtin_fetchers(const EngineOptions& options,
                                                       base::Clock& clock);

/// Fetches one file. A fetcher with mirrors gets all its sources together, at the place of the
/// first. Other sources are tried in order, with pauses (uniform in [floor, floor + backoff];
/// Retry-After is the floor). If all fail, `problem` names every source with its problem. An
/// unknown scheme is an outcome too, with the known schemes as hint. If the complete file has a
/// wrong digest, bytes are fetched again from other sources to find the wrong source, which is
/// named in a warning. Always ends the progress task. Throws as Fetcher::fetch.
Outcome fetch_file(const Request& request,
                   const std::vector<std::unique_ptr<Fetcher>>& fetchers,
                   base::PartialFile& to,
                   const RetryPolicy& policy,
                   base::Clock& clock,
                   base::Observer& observer,
                   std::stop_token stop);

/// Fetches many files. Small ones go several at a time over few connections, where their fetcher
/// can. Others go one by one through `fetch_file`, the largest first where sizes are known. Every
/// file has its own outcome, retries and mirrors. The progress task `label` counts bytes where all
/// sizes are known; else it counts files, and each large file has its own task. Throws as
/// Fetcher::fetch and `files`.
void fetch_files(FileList& files,
                 const std::string& label,
                 const std::vector<std::unique_ptr<Fetcher>>& fetchers,
                 const RetryPolicy& policy,
                 base::Clock& clock,
                 base::Observer& observer,
                 std::stop_token stop);

}  // namespace sabath::fetch
