#pragma once

#include "answer.hpp"
#include "curl_answer.hpp"
#include "curl_handle.hpp"
#include "failure.hpp"
#include "netrc.hpp"
#include "source_url.hpp"

#include <sabath/base/bytes.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <array>
#include <exception>
#include <string_view>

namespace sabath::fetch {

/// Streams that share a connection (HTTP/2) suit many small files. Bulk is faster over connections
/// of its own (curl issues 460 and 13403).
enum class Sharing { own_connection, shared_connection };

/// Requests and answers of one libcurl easy handle, one at a time. The body goes to a receiver. One
/// TransferLoop runs several streams. Redirects are followed here: libcurl would send custom
/// headers to other hosts.
class HttpStream {
 public:
  /// Throws Error{internal}.
  HttpStream(const EngineOptions& options, base::Clock& clock);
  ~HttpStream() = default;
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  /// Prepares one request. Ownership: all arguments outlive the request.
  void prepare(const SourceUrl& source,
               const Asked& asked,
               Receiver& receiver,
               Sharing sharing = Sharing::own_connection);

  CURL* handle() const { return easy_.get(); }
  /// Time of the last bytes of the server; before them, the start.
  base::SteadyTime last_sign() const { return last_sign_; }
  /// Did the server send less than 4 KiB within `EngineOptions::silence`?
  bool is_stuck() const;
  Failure stuck_failure() const;

  enum class Ending {
    clean,      ///< the body ended as its protocol demands
    broken,     ///< see failure()
    elsewhere,  ///< a redirect: the handle is ready for the next request and must run again
  };
  /// Called when the transfer has ended with `code`. Rethrows what the receiver threw.
  Ending finish(CURLcode code);
  /// Rethrows what the receiver threw in a cancelled transfer.
  void rethrow() const;
  const Failure& failure() const { return failure_; }
  /// URL of the answer, after redirects.
  const SourceUrl& place() const { return place_; }
  bool was_redirected() const { return redirects_ > 0; }
  /// Time from the request to its answer, without the time to connect.
  std::chrono::nanoseconds response_time() const;

 private:
  static std::size_t on_header(char* data,
                               std::size_t size,
                               std::size_t count,
                               void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;

  void set_up();
  bool take(base::ByteView bytes);
  void note_bytes(std::size_t bytes);
  void note_header(std::string_view line);
  void give_answer(bool has_body);
  bool is_http_redirect() const { return !is_ftp_ && is_redirect(easy_.get()); }
  Ending follow();

  const EngineOptions& options_;
  base::Clock& clock_;
  CurlEasy easy_;
  CurlList headers_{};
  Netrc netrc_{};
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  SourceUrl place_{};
  Asked asked_{};
  Receiver* receiver_ = nullptr;
  Sharing sharing_ = Sharing::own_connection;
  bool is_ftp_ = false;
  bool has_answer_ = false;
  bool header_ended_ = false;
  int redirects_ = 0;
  std::size_t ignored_bytes_ = 0;
  std::size_t header_bytes_ = 0;
  std::size_t new_bytes_ = 0;  ///< since last_progress_
  Failure failure_{};
  std::exception_ptr thrown_{};
  base::SteadyTime last_sign_;
  base::SteadyTime last_progress_;
};

}  // namespace sabath::fetch
