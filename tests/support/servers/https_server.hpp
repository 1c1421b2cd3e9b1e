#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace sabath::test {

/// Files over TLS from cpp-httplib, an implementation of HTTP that is not ours (it knows ranges but
/// not If-Range), with a self-signed certificate for 127.0.0.1 made on the spot.
class HttpsServer {
 public:
  /// Writes certificate and key into `folder`.
  explicit HttpsServer(const std::filesystem::path& folder);
  ~HttpsServer();
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;

  /// What a client must trust.
  std::filesystem::path certificate() const;
  /// "https://127.0.0.1:port" + target.
  std::string url(const std::string& target) const;
  void put(const std::string& path, const std::string& content);
  void redirect(const std::string& path, const std::string& location);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::test
