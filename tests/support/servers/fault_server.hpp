#pragma once

#include "support/servers/loopback.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sabath::test {

/// A request that the server saw. Header names in lower case.
struct SeenRequest {
  std::string target{};
  std::map<std::string, std::string> headers{};
  std::string method{};
  std::string body{};  ///< of a request with a Content-Length

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }
};

/// An answer, exactly as scripted: nothing is added but what the fields say.
struct Reply {
  int status = 200;  ///< 0: the connection is closed without an answer
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  bool announce_length = true;                     ///< Content-Length of `body`
  bool chunked = false;                            ///< instead of a length
  std::optional<std::size_t> cut_after_bytes{};    ///< closes after so much of the body
  std::optional<std::size_t> stall_after_bytes{};  ///< says no more after so much of the body
  std::string instead{};  ///< sent instead of all of that, and then the connection is closed
};

/// An HTTP/1.1 server on the loopback interface that behaves (ranges, If-Range, ETags, connections
/// that stay open) until it is told not to.
class FaultServer {
 public:
  FaultServer();

  /// "http://127.0.0.1:port" + target.
  std::string url(const std::string& target) const;
  /// A file that is served properly. Its ETag is the content's digest, and so changes with it.
  void put(const std::string& target, const std::string& content);
  /// The next request for `target` gets this, before the file does; several queue up.
  void once(const std::string& target, const Reply& reply);
  void always(const std::string& target, const Reply& reply);
  /// Each connection gives from now on one MiB in so much time, at least.
  void slow_down(std::chrono::milliseconds each_mebibyte) { each_mebibyte_ = each_mebibyte; }
  /// The proper answer of today for the whole file, and for the bytes [begin, end) of it.
  Reply whole(const std::string& target) const;
  Reply part(const std::string& target, std::size_t begin, std::size_t end) const;

  std::vector<SeenRequest> requests() const;
  int connections() const { return loopback_.connections(); }

 private:
  struct File {
    std::string content{};
    std::string etag{};
    std::string last_modified{};
  };

  void serve(Connection& connection);
  Reply answer(const SeenRequest& request);
  static Reply serve_file(const File& file, const SeenRequest& request);
  bool send(Connection& connection, const Reply& reply);

  mutable std::mutex mutex_;
  std::map<std::string, File> files_{};
  std::map<std::string, std::deque<Reply>> once_{};
  std::map<std::string, Reply> always_{};
  std::vector<SeenRequest> requests_{};
  int versions_ = 0;
  std::atomic<std::chrono::milliseconds> each_mebibyte_{};
  Loopback loopback_;  // last: its threads use the others
};

}  // namespace sabath::test
