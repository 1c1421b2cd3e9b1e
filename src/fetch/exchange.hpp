#pragma once

#include "answer.hpp"
#include "curl_handle.hpp"
#include "intake.hpp"
#include "source_url.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <array>
#include <exception>
#include <string>

namespace sabath::fetch {

/// One request and its answer over libcurl: an easy handle whose body goes to an intake. Several
/// can be under way in one TransferLoop.
class Exchange {
 public:
  /// Throws Error{internal}.
  Exchange(const SourceUrl& source,
           const Asked& asked,
           Intake& intake,
           const EngineOptions& options,
           base::Clock& clock);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  CURL* handle() const { return easy_.get(); }
  /// When the server last sent something; the start, before it did.
  base::SteadyTime last_sign() const { return last_sign_; }

  /// After the transfer has ended with `code`. Rethrows what the intake threw.
  End finish(CURLcode code);
  /// The loop gave the transfer up for `cause`. Rethrows likewise.
  End abandon(const Failure& cause);
  /// Where the answer came from, fit for display.
  std::string effective_url() const;

 private:
  static std::size_t on_header(char* data,
                               std::size_t size,
                               std::size_t count,
                               void* self) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self) noexcept;

  void set_up(const SourceUrl& source, const EngineOptions& options);
  void set_up_http(const SourceUrl& source, const EngineOptions& options);
  bool take(base::ByteView bytes);
  Answer read_answer(bool has_body) const;
  Answer read_http_answer() const;
  Answer read_ftp_answer(bool has_body) const;
  std::string header(const char* name) const;

  Asked asked_;
  Intake& intake_;
  base::Clock& clock_;
  bool is_ftp_;
  CurlEasy easy_;
  CurlList headers_{};
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  std::exception_ptr thrown_{};
  base::SteadyTime last_sign_;
};

}  // namespace sabath::fetch
