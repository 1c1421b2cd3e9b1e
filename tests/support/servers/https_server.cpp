#include "support/servers/https_server.hpp"

#include "support/servers/certificate.hpp"

#include <sabath/base/digest.hpp>

#include <fmt/format.h>
#include <httplib.h>

#include <map>
#include <mutex>
#include <thread>

namespace sabath::test {

struct HttpsServer::State {
  std::filesystem::path certificate;
  httplib::SSLServer server;
  int port = 0;
  std::mutex mutex{};
  std::map<std::string, std::string> files{};
  std::map<std::string, std::string> redirects{};
  std::thread thread{};

  State(const std::filesystem::path& certificate_path, const std::filesystem::path& key)
      : certificate(certificate_path), server(certificate_path.c_str(), key.c_str()) {}

  void answer(const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(mutex);
    if (const auto to = redirects.find(request.path); to != redirects.end()) {
      response.set_redirect(to->second);
    } else if (const auto file = files.find(request.path); file != files.end()) {
      response.set_header("ETag", '"' + base::sha256_of(file->second).hex.substr(0, 16) + '"');
      response.set_content(file->second, "application/octet-stream");
    } else {
      response.status = 404;
    }
  }
};

HttpsServer::HttpsServer(const std::filesystem::path& folder) {
  make_certificate(folder / "server.crt", folder / "server.key");
  state_ = std::make_unique<State>(folder / "server.crt", folder / "server.key");
  State& state = *state_;
  state.server.Get(".*", [&state](const httplib::Request& request, httplib::Response& response) {
    state.answer(request, response);
  });
  state.port = state.server.bind_to_any_port("127.0.0.1");
  state.thread = std::thread([&state] { state.server.listen_after_bind(); });
  while (!state.server.is_running())
    std::this_thread::yield();
}

HttpsServer::~HttpsServer() {
  state_->server.stop();
  state_->thread.join();
}

std::filesystem::path HttpsServer::certificate() const {
  return state_->certificate;
}

std::string HttpsServer::url(const std::string& target) const {
  return fmt::format("https://127.0.0.1:{}{}", state_->port, target);
}

void HttpsServer::put(const std::string& path, const std::string& content) {
  const std::lock_guard lock(state_->mutex);
  state_->files[path] = content;
}

void HttpsServer::redirect(const std::string& path, const std::string& location) {
  const std::lock_guard lock(state_->mutex);
  state_->redirects[path] = location;
}

}  // namespace sabath::test
