#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/staged_file.hpp>

#include <chrono>
#include <cstdint>
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
  /// Validators that a previous partial was fetched with; a source that answers with others has
  /// changed and is read from the start.
  std::string etag{};
  std::string last_modified{};
};

/// What came of one source. An outcome is a value; only a stop or a full disk throws.
struct Outcome {
  bool ok = false;
  std::string url{};              ///< the source that gave the bytes, or failed last
  std::string effective_url{};    ///< after redirects, without user and password
  std::uint64_t bytes = 0;        ///< size of the whole file
  std::uint64_t transferred = 0;  ///< bytes that crossed the wire
  std::string etag{};
  std::string last_modified{};
  std::string problem{};  ///< "server answered 404 Not Found", when not ok
  std::string hint{};
  bool retryable = false;  ///< another attempt may succeed
  bool not_found = false;
  std::chrono::milliseconds retry_after{0};  ///< the server's floor for the next attempt
};

/// Moves bytes from a source of some scheme. Implementations: the built-in libcurl engine; external
/// tools come later.
class Fetcher {
 public:
  virtual ~Fetcher() = default;
  virtual std::vector<std::string_view> schemes() const = 0;
  virtual std::string_view name() const = 0;
  virtual std::string_view description() const = 0;
  /// One attempt at one `url` into `to`, going on after `to.contiguous_bytes()` where the source
  /// can and is unchanged, else from the start. Every response is checked before a byte is written.
  /// Checks `stop` at least once a second. Throws Error{interrupted|storage}.
  virtual Outcome fetch(const std::string& url,
                        const Request& request,
                        base::StagedFile& to,
                        base::Observer& observer,
                        std::stop_token stop) = 0;
};

struct RetryPolicy {
  int attempts = 5;  ///< for each source
  std::chrono::milliseconds base{500};
  std::chrono::milliseconds cap{60'000};
};

struct EngineOptions {
  std::chrono::seconds connect_timeout{30};
  std::chrono::seconds silence{60};  ///< no byte for so long: the attempt has failed
  std::string user_agent{};
  std::string ca_file{};   ///< empty: the system's
  bool allow_file = true;  ///< file: sources come only from the user's own documents
};

/// The only list of fetchers.
std::vector<std::unique_ptr<Fetcher>> builtin_fetchers(const EngineOptions& options,
                                                       base::Clock& clock);

/// Tries the sources in order, each with back-off (uniform in [floor, floor + backoff], Retry-After
/// is the floor), until one gives the file or all have failed; the outcome's `problem` then names
/// every source and its problem. An unknown scheme is an outcome too, with the known ones as hint.
Outcome fetch_file(const Request& request,
                   const std::vector<std::unique_ptr<Fetcher>>& fetchers,
                   base::StagedFile& to,
                   const RetryPolicy& policy,
                   base::Clock& clock,
                   base::Observer& observer,
                   std::stop_token stop);

}  // namespace sabath::fetch
