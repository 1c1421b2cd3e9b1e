#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "support/temp_home.hpp"
#include "unit/serve/served.hpp"

#include <sabath/serve/server.hpp>
#include <sabath/serve/server_record.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace sabath;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using test::Served;

namespace {

std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

}  // namespace

TEST_CASE("server: answers on a port of loopback, and one request follows another") {
  Served served;
  CHECK(served.server->port() > 0);
  CHECK_THAT(served.get("/api/value"), StartsWith("HTTP/1.1 200 OK") && Contains("\r\n\r\n1"));
  const std::string request =
      "GET /api/value HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
      served.server->token() + "\r\n";
  const std::string two = served.send(request + "\r\n" + request + "Connection: close\r\n\r\n");
  CHECK(two.find("HTTP/1.1 200 OK") != two.rfind("HTTP/1.1 200 OK"));
  const std::string head =
      served.send("HEAD /api/value HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK_THAT(head, StartsWith("HTTP/1.1 401"));
  CHECK(body_of(head).empty());
}

TEST_CASE("server: long texts are compressed where the client takes that") {
  Served served;
  CHECK(body_of(served.get("/api/big")).size() > (4U << 20U));
  const std::string packed = served.get("/api/big", "Accept-Encoding: gzip\r\n");
  CHECK_THAT(packed, Contains("Content-Encoding: gzip"));
  CHECK(packed.size() < 100'000);
}

TEST_CASE("server: a download has the bytes of the file") {
  Served served;
  const std::string ticket = served.get("/api/ticket?path=out.html");
  const std::size_t at = ticket.find("d/");
  const std::string file = served.get("/" + ticket.substr(at, 34));
  CHECK_THAT(file, StartsWith("HTTP/1.1 200 OK") && Contains("Content-Length: 3000000"));
  CHECK(body_of(file).size() == 3'000'000);
}

TEST_CASE("server: requests that no server should take are refused, and it goes on") {
  Served served;
  const std::string head = " HTTP/1.1\r\nHost: localhost\r\n";
  const std::vector<std::pair<std::string, std::string>> requests{
      {"POST /api/value" + head + "Content-Length: 3\r\n\r\nabc", "HTTP/1.1 405"},
      {"TRACE /" + head + "\r\n", "HTTP/1.1 405"},
      {"GET http://localhost/" + head + "\r\n", "HTTP/1.1 400"},
      {"GET /../x" + head + "\r\n", "HTTP/1.1 400"},
      {"GET /%2e%2e/x" + head + "\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n\r\n", "HTTP/1.1 400"},
      {"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", "HTTP/1.1 403"},
      {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
      {"GET /" + head + "Origin: null\r\n\r\n", "HTTP/1.1 403"},
      {"GET /" + head + "Sec-Fetch-Site: same-site\r\n\r\n", "HTTP/1.1 403"},
      {"GET /" + head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "HTTP/1.1 400"},
      {"GET /" + head + "X: " + std::string(9000, 'x') + "\r\n\r\n", "HTTP/1.1 431"},
      {"nonsense\r\n\r\n", "HTTP/1.1 400"},
      {std::string("\x16\x03\x01\0\0\r\n\r\n", 9), "HTTP/1.1 400"},
  };
  for (const auto& [bytes, begin] : requests) {
    CAPTURE(bytes.substr(0, 60));
    // What is refused for its form also ends the connection: what follows is no request.
    const std::string sent =
        bytes.find("Connection") == std::string::npos && begin != "HTTP/1.1 431" &&
                bytes.find("\r\n\r\n") != std::string::npos
            ? bytes.substr(0, bytes.find("\r\n\r\n")) + "\r\nConnection: close" +
                  bytes.substr(bytes.find("\r\n\r\n"))
            : bytes;
    CHECK_THAT(served.send(sent), StartsWith(begin));
  }
  CHECK_THAT(served.get("/api/value"), StartsWith("HTTP/1.1 200"));
}

TEST_CASE("server: a head that comes too slowly is given up") {
  Served served;
  const int socket = served.connect();
  ::send(socket, "GET / HT", 8, MSG_NOSIGNAL);
  const auto begin = std::chrono::steady_clock::now();
  char byte = 0;
  CHECK(::read(socket, &byte, 1) <= 0);
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took > 8s);
  CHECK(took < 30s);
  ::close(socket);
}

TEST_CASE("server: the number of connections has a limit, and those that end free their place") {
  Served served;
  std::vector<int> sockets;
  for (int i = 0; i < 70; ++i)
    sockets.push_back(served.connect());
  std::this_thread::sleep_for(200ms);
  char byte = 0;
  CHECK(::recv(sockets.back(), &byte, 1, 0) == 0);
  for (const int socket : sockets)
    ::close(socket);
  std::this_thread::sleep_for(200ms);
  CHECK_THAT(served.get("/api/value"), StartsWith("HTTP/1.1 200"));
}

TEST_CASE("server: a Unix socket is for its owner alone, and goes with the server") {
  const test::TempHome home;
  serve::ServerOptions options;
  options.transport = serve::Transport::socket;
  options.socket = home / "view.sock";
  {
    Served served(options);
    struct stat status {};
    REQUIRE(::stat(options.socket.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
    CHECK_THAT(served.get("/api/value"), StartsWith("HTTP/1.1 200"));
  }
  CHECK_FALSE(std::filesystem::exists(options.socket));
}

TEST_CASE("server: a socket's path that is too long is refused with its limit") {
  test::SmallSource source;
  base::SystemClock clock;
  serve::ServerOptions options;
  options.transport = serve::Transport::socket;
  options.socket = "/tmp/" + std::string(200, 'x');
  const auto error = test::error_of([&] { serve::Server server(options, source, clock); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK_THAT(error.hint(), Contains("--socket") && Contains("107"));
}

TEST_CASE("server: without a request it ends after its time") {
  test::SmallSource source;
  base::SystemClock clock;
  serve::ServerOptions options;
  options.idle = 1s;
  serve::Server server(options, source, clock);
  const auto begin = std::chrono::steady_clock::now();
  server.run();
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
}

TEST_CASE("server place: one server has it, and others find its record") {
  const test::TempHome home;
  serve::ServerPlace first(home.path(), "/home/of/runs");
  serve::ServerPlace second(home.path(), "/home/of/runs");
  serve::ServerPlace other(home.path(), "/another/home");
  REQUIRE(first.take());
  CHECK_FALSE(second.take());
  CHECK(other.take());
  REQUIRE(second.read());
  CHECK(second.read()->token.empty());  // it is starting
  serve::ServerRecord record{base::ProcessIdentity::current(), "http://127.0.0.1:1/", "", "abc"};
  first.write(record);
  struct stat status {};
  REQUIRE(::stat(first.file().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600U);
  REQUIRE(second.read());
  CHECK(second.read()->token == "abc");
  base::write_file_atomically(first.file(), "half a rec");
  CHECK_FALSE(second.read());
  record.process.pid = 999'999'999;
  first.write(record);
  CHECK_FALSE(second.read());
  CHECK(second.take());
  CHECK(second.file() != first.file());
}

TEST_CASE("server place: who ends gives it to the next, and of many at once one takes it") {
  const test::TempHome home;
  {
    serve::ServerPlace first(home.path(), "/home/of/runs");
    REQUIRE(first.take());
    first.forget();
  }
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&] {
      serve::ServerPlace place(home.path(), "/home/of/runs");
      taken += place.take() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  CHECK(taken == 1);
}
