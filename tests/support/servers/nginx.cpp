#include "support/servers/nginx.hpp"

#include "support/servers/certificate.hpp"
#include "support/servers/loopback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>

namespace sabath::test {

namespace fs = std::filesystem;

namespace {

constexpr const char* program = "/usr/sbin/nginx";
constexpr const char* last_target = "/the/last/request";

// One process, which needs no rights: it drops none, listens above 1024 and writes beneath its
// prefix only.
constexpr const char* configuration_format = R"(daemon off;
master_process off;
pid nginx.pid;
error_log error.log info;
events {{}}
http {{
  client_body_temp_path temp/body;
  proxy_temp_path temp/proxy;
  fastcgi_temp_path temp/fastcgi;
  uwsgi_temp_path temp/uwsgi;
  scgi_temp_path temp/scgi;
  log_format plain '$status $body_bytes_sent $connection $server_protocol $request_uri';
  access_log access.log plain;
  types {{ text/plain txt; }}
  default_type application/octet-stream;
  {directives}
  server {{
    listen 127.0.0.1:{port};
    listen 127.0.0.1:{tls_port} ssl http2;
    ssl_certificate server.crt;
    ssl_certificate_key server.key;
    root files;
    location / {{
      {for_files}
    }}
  }}
}}
)";

}  // namespace

Nginx::Nginx(const std::string& for_files, const std::string& directives)
    : port_(unused_port()), tls_port_(unused_port()) {
  fs::create_directory(home_ / "files");
  fs::create_directory(home_ / "temp");
  make_certificate(certificate(), home_ / "server.key");
  base::write_file_atomically(
      home_ / "nginx.conf", configuration(for_files, directives), base::Durability::ordered_only);
  start();
}

std::string Nginx::configuration(const std::string& for_files,
                                 const std::string& directives) const {
  return fmt::format(configuration_format,
                     fmt::arg("directives", directives),
                     fmt::arg("for_files", for_files),
                     fmt::arg("port", port_),
                     fmt::arg("tls_port", tls_port_));
}

std::string Nginx::url(const std::string& target) const {
  return fmt::format("http://127.0.0.1:{}{}", port_, target);
}

std::string Nginx::tls_url(const std::string& target) const {
  return fmt::format("https://127.0.0.1:{}{}", tls_port_, target);
}

void Nginx::put(const std::string& target, const std::string& content) {
  const fs::path made = home_ / "made";
  base::write_file_atomically(made, content, base::Durability::ordered_only);
  constexpr auto day = std::chrono::hours(24);
  fs::last_write_time(made, fs::file_time_type::clock::now() - ++versions_ * day);
  const fs::path path = (home_ / "files").concat(target);
  fs::create_directories(path.parent_path());
  fs::rename(made, path);
}

void Nginx::start() {
  fs::remove(home_ / "access.log");
  const std::string prefix = home_.path().string() + "/";
  daemon_ = std::make_unique<Daemon>(
      std::vector<std::string>{
          program, "-e", "error.log", "-p", prefix, "-c", prefix + "nginx.conf"},
      tls_port_);
}

void Nginx::stop() {
  daemon_.reset();
}

std::vector<LoggedRequest> Nginx::finish() {
  // It handles what happens in order: what was closed before this request is logged before it.
  base::Command last;
  last.argv = {"curl", "-q", "-s", "-o", "/dev/null", url(last_target)};
  base::SystemProcessRunner().run(last);
  stop();
  std::istringstream log(base::read_file(home_ / "access.log"));
  std::vector<LoggedRequest> all;
  LoggedRequest one;
  while (log >> one.status >> one.body_bytes >> one.connection >> one.protocol >> one.target) {
    if (one.target != last_target) all.push_back(one);
  }
  return all;
}

std::uint64_t body_bytes(const std::vector<LoggedRequest>& requests) {
  std::uint64_t bytes = 0;
  for (const LoggedRequest& request : requests)
    bytes += request.body_bytes;
  return bytes;
}

std::set<int> connections(const std::vector<LoggedRequest>& requests) {
  std::set<int> all;
  for (const LoggedRequest& request : requests)
    all.insert(request.connection);
  return all;
}

std::set<std::string> protocols(const std::vector<LoggedRequest>& requests) {
  std::set<std::string> all;
  for (const LoggedRequest& request : requests)
    all.insert(request.protocol);
  return all;
}

std::size_t count_status(const std::vector<LoggedRequest>& requests, int status) {
  const auto has_status = [=](const LoggedRequest& request) { return request.status == status; };
  return static_cast<std::size_t>(std::count_if(requests.begin(), requests.end(), has_status));
}

}  // namespace sabath::test
