#pragma once

#include "answer.hpp"
#include "curl_handle.hpp"
#include "failure.hpp"
#include "netrc.hpp"
#include "receiver.hpp"
#include "source_url.hpp"

#include <sabath/base/bytes.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::fetch {

/// Streams that share a connection (HTTP/2) suit many small files; bulk is faster over connections
/// of its own (curl issues 460 and 13403).
enum class Sharing { own_connection, shared_connection };

/// Requests and their answers over libcurl, one at a time: an easy handle whose body goes to a
/// receiver. Several can be under way in one TransferLoop. Redirects are followed here, not by
/// libcurl, which would send custom headers on to other hosts.
class Exchange {
 public:
  /// Throws Error{internal}.
  Exchange(const EngineOptions& options, base::Clock& clock);
  ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Makes the handle ready for one request. All must outlive it.
  void prepare(const SourceUrl& source,
               const Asked& asked,
               Receiver& receiver,
               Sharing sharing = Sharing::own_connection);

  CURL* handle() const { return easy_.get(); }
  /// When the server last sent something; the start, before it did.
  base::SteadyTime last_sign() const { return last_sign_; }
  /// Did the server send nothing, or next to nothing, for as long as the options allow?
  bool is_stuck() const;
  Failure stuck_failure() const;

  enum class Ending {
    clean,      ///< the body ended as its protocol demands
    broken,     ///< see failure()
    elsewhere,  ///< a redirect: the handle is ready for the next request and must run again
  };
  /// After the transfer has ended with `code`. Rethrows what the receiver threw.
  Ending finish(CURLcode code);
  /// Rethrows what the receiver threw, of a transfer that was given up.
  void rethrow() const;
  const Failure& failure() const { return failure_; }
  /// Where the answer came from, after redirects.
  const SourceUrl& place() const { return place_; }
  bool was_redirected() const { return redirects_ > 0; }
  /// From the request to its answer, without the time it took to connect.
  std::chrono::nanoseconds response_time() const;

 private:
  static std::size_t on_header(char* data,
                               std::size_t size,
                               std::size_t count,
                               void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;

  void set_up();
  void set_up_http();
  void set_up_credentials();
  bool take(base::ByteView bytes);
  void note_bytes(std::size_t bytes);
  void note_header(std::string_view line);
  void give_answer(bool has_body);
  Answer read_http_answer() const;
  Answer read_ftp_answer(bool has_body) const;
  bool is_redirect() const;
  Ending follow();
  std::string header(const char* name) const;
  std::vector<std::string> headers(const char* name) const;
  std::string malformation() const;

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
