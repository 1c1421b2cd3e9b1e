// Random and damaged requests at the real socket, and frames of pipes. SABATH_FUZZ_SECONDS makes it
// longer than a moment.
#include "serve/multiplexer.hpp"
#include "unit/serve/served.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

using namespace sabath;
using test::Served;

namespace {

std::chrono::seconds fuzz_time() {
  const char* const text = std::getenv("SABATH_FUZZ_SECONDS");
  return std::chrono::seconds(text == nullptr ? 2 : std::atoi(text));
}

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t end) { return end == 0 ? 0 : engine_() % end; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  char byte() { return static_cast<char>(below(256)); }
  const std::string& of(const std::vector<std::string>& all) { return all[below(all.size())]; }

 private:
  std::mt19937 engine_;
};

/// A request that is right or nearly so.
std::string likely_request(Chance& chance, const std::string& token) {
  static const std::vector<std::string> methods{
      "GET", "GET", "GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE", "CONNECT", "get", "", "G\0T"};
  static const std::vector<std::string> targets{"/",
                                                "/api/value",
                                                "/api/value?since=1",
                                                "/api/part?from=0",
                                                "/api/heavy",
                                                "/api/ticket?path=out.html",
                                                "/d/00000000000000000000000000000000",
                                                "/view.css",
                                                "/vendor/uplot-1.6.32/uPlot.esm.js",
                                                "/../../etc/passwd",
                                                "/%2e%2e/%2e%2e/etc/passwd",
                                                "/api/value?a=%00&b=%zz&c",
                                                "http://localhost/api/value",
                                                "*",
                                                "//evil.test/api/value",
                                                "/api/value#x",
                                                "/o?t=0123456789abcdef"};
  static const std::vector<std::string> headers{"Host: localhost",
                                                "Host: 127.0.0.1:1",
                                                "Host: evil.test",
                                                "Host: [::1]:99999999999",
                                                "Connection: close",
                                                "Connection: keep-alive, Upgrade",
                                                "Upgrade: h2c",
                                                "Origin: null",
                                                "Sec-Fetch-Site: same-origin",
                                                "Sec-Fetch-Site: cross-site",
                                                "Accept-Encoding: gzip;q=0, br",
                                                "Accept-Encoding: gzip",
                                                "Content-Length: 18446744073709551616",
                                                "Content-Length: -1",
                                                "Transfer-Encoding: chunked",
                                                "Expect: 100-continue",
                                                "Range: bytes=0-0,-1",
                                                "X: \tfolded\r\n more",
                                                "Authorization: Bearer",
                                                "Authorization: Bearer 0000"};
  std::string text = chance.of(methods) + " " + chance.of(targets) +
                     (chance.one_in(20) ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  if (!chance.one_in(8)) text += "Host: localhost\r\n";
  if (chance.one_in(2)) text += "Authorization: Bearer " + token + "\r\n";
  for (std::size_t more = chance.below(5); more > 0; --more)
    text += chance.of(headers) + "\r\n";
  return text + "\r\n";
}

void damage(Chance& chance, std::string& text) {
  for (std::size_t times = chance.below(6); times > 0 && !text.empty(); --times) {
    const std::size_t at = chance.below(text.size());
    const std::size_t length = 1 + chance.below(std::min<std::size_t>(text.size() - at, 40));
    switch (chance.below(6)) {
      case 0:
        text[at] = chance.byte();
        break;
      case 1:
        text.insert(at, 1 + chance.below(4), chance.byte());
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, std::string(chance.below(12000), chance.byte()));
    }
  }
}

/// Sends bytes to a socket, ends the sending side, and reads all that comes within ten seconds.
std::string talk(int socket, const std::string& bytes) {
  if (socket < 0) return {};
  const timeval limit{10, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  ::shutdown(socket, SHUT_WR);
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::read(socket, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(socket);
  return text;
}

void put_number(std::string& text, std::uint32_t number) {
  for (int i = 0; i < 4; ++i)
    text += static_cast<char>(number >> (8 * i));
}

std::string likely_frames(Chance& chance, const std::string& token) {
  std::string text;
  for (std::size_t frames = 1 + chance.below(12); frames > 0; --frames) {
    const auto kind =
        static_cast<char>(chance.one_in(30) ? chance.below(256) : 1 + chance.below(5));
    std::string body;
    if (kind == 2) body = likely_request(chance, token);
    text += kind;
    put_number(text, static_cast<std::uint32_t>(chance.below(4)));
    const std::size_t number = kind == 2 ? body.size() : chance.below(1U << 20U);
    put_number(text, static_cast<std::uint32_t>(chance.one_in(40) ? 0xffffffffU : number));
    text += body;
  }
  return text;
}

}  // namespace

TEST_CASE("server: damaged requests never end it, and tell nothing without the token") {
  const test::TempHome home;
  serve::ServerOptions options;
  // A port of loopback costs a look at the table of connections for each.
  const bool is_socket = GENERATE(true, false);
  options.transport = is_socket ? serve::Transport::socket : serve::Transport::tcp;
  if (is_socket) options.socket = home / "view.sock";
  Served served(options);
  served.source.value = "\"the secret of the source\"";
  const std::string token = served.server->token();
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> answered{0};
  std::atomic<std::uint64_t> told{0};
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(fuzz_time()) / (is_socket ? 1 : 4);
  std::vector<std::thread> clients;
  for (unsigned client = 0; client < 3; ++client) {
    clients.emplace_back([&, client] {
      Chance chance(client);
      while (std::chrono::steady_clock::now() < end) {
        std::string bytes = likely_request(chance, token);
        if (chance.one_in(3)) bytes += likely_request(chance, token);
        damage(chance, bytes);
        const std::string answer = talk(served.try_connect(), bytes);
        ++sent;
        if (answer.starts_with("HTTP/1.1 ")) ++answered;
        const bool has_token = bytes.find(token) != std::string::npos;
        if (answer.find("the secret") != std::string::npos && !has_token) ++told;
      }
    });
  }
  for (std::thread& client : clients)
    client.join();
  CHECK(told == 0);
  CHECK(answered > sent / 4);
  CHECK(served.get("/api/value").find("the secret") != std::string::npos);
  WARN(sent << " requests, " << answered << " with an answer");
}

TEST_CASE("frames: damaged ones end their pipe at most, and the server goes on") {
  const test::TempHome home;
  serve::ServerOptions options;
  options.transport = serve::Transport::socket;
  options.socket = home / "view.sock";
  Served served(options);
  const std::string token = served.server->token();
  Chance chance(7);
  std::uint64_t pipes = 0;
  std::uint64_t bytes = 0;
  const auto end = std::chrono::steady_clock::now() + fuzz_time();
  while (std::chrono::steady_clock::now() < end) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    serve::Multiplexer pipe(ends[0], ends[0], [&] { return served.try_connect(); });
    std::thread carrier([&] {
      pipe.run();
      ::shutdown(ends[0], SHUT_RDWR);
    });
    std::string frames = likely_frames(chance, token);
    damage(chance, frames);
    talk(ends[1], frames);
    pipe.end();
    carrier.join();
    ::close(ends[0]);
    ++pipes;
    bytes += frames.size();
  }
  CHECK(served.get("/api/value").starts_with("HTTP/1.1 200"));
  WARN(pipes << " pipes, " << bytes << " bytes of frames");
}
