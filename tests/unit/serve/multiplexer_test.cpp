#include "serve/multiplexer.hpp"

#include "serve/greeting.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace sabath;

namespace {

struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { REQUIRE(::pipe(ends.data()) == 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
};

std::array<int, 2> connected() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  return ends;
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t got = 0; (got = ::read(from, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  return text;
}

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(to, text.data() + done, text.size() - done);
    REQUIRE(wrote > 0);
    done += static_cast<std::size_t>(wrote);
  }
}

/// Two ends of one pair of pipes. Each connection that A opens is served by `handle` at B.
class Ends {
 public:
  explicit Ends(std::function<void(int)> handle)
      : a_(down_.ends[0], up_.ends[1], [] { return -1; }),
        b_(up_.ends[0],
           down_.ends[1],
           [this, handle = std::move(handle)] {
             const auto pair = connected();
             threads_.emplace_back([handle, own = pair[0]] {
               handle(own);
               ::close(own);
             });
             return pair[1];
           }),
        thread_a_([this] { problem_a = a_.run(); }),
        thread_b_([this] { problem_b = b_.run(); }) {}
  ~Ends() {
    a_.end();
    b_.end();
    thread_a_.join();
    thread_b_.join();
    for (std::thread& thread : threads_)
      thread.join();
  }

  int open() {
    const auto pair = connected();
    a_.open(pair[1]);
    return pair[0];
  }

  std::string problem_a{};
  std::string problem_b{};

 private:
  Pipe up_{};
  Pipe down_{};
  std::vector<std::thread> threads_{};
  serve::Multiplexer a_;
  serve::Multiplexer b_;
  std::thread thread_a_;
  std::thread thread_b_;
};

}  // namespace

TEST_CASE("multiplexer: what goes in comes out, with its end") {
  Ends ends([](int socket) { write_all(socket, "heard: " + read_all(socket)); });
  const int socket = ends.open();
  write_all(socket, "hello");
  ::shutdown(socket, SHUT_WR);
  CHECK(read_all(socket) == "heard: hello");
  ::close(socket);
}

TEST_CASE("multiplexer: a long answer that nobody reads blocks no short one") {
  const std::string much(8U << 20U, 'x');
  Ends ends([&](int socket) {
    std::array<char, 1> wish{};
    if (::read(socket, wish.data(), 1) != 1) return;
    if (wish[0] == 's') {
      write_all(socket, "short");
      return;
    }
    for (std::size_t done = 0; done < much.size();) {
      const ssize_t wrote = ::send(socket, much.data() + done, much.size() - done, MSG_NOSIGNAL);
      if (wrote <= 0) return;
      done += static_cast<std::size_t>(wrote);
    }
  });
  const int slow = ends.open();
  write_all(slow, "l");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    const int quick = ends.open();
    write_all(quick, "s");
    CHECK(read_all(quick) == "short");
    ::close(quick);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  CHECK(read_all(slow).size() == much.size());
  ::close(slow);
}

TEST_CASE("multiplexer: who goes away while much is sent frees the sender") {
  std::atomic<int> freed{0};
  Ends ends([&](int socket) {
    const std::string much(64U << 10U, 'x');
    while (::send(socket, much.data(), much.size(), MSG_NOSIGNAL) > 0) {
    }
    ++freed;
  });
  for (int i = 0; i < 100; ++i) {
    const int socket = ends.open();
    char byte = 0;
    REQUIRE(::read(socket, &byte, 1) == 1);
    ::close(socket);
  }
  for (int i = 0; i < 500 && freed < 100; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(freed == 100);
}

TEST_CASE("multiplexer: many connections at a time keep their bytes apart") {
  Ends ends([](int socket) { write_all(socket, read_all(socket)); });
  std::vector<std::thread> clients;
  std::atomic<int> right{0};
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back([&, i] {
      const std::string text(200'000, static_cast<char>('a' + i));
      const int socket = ends.open();
      std::thread writer([&] {
        write_all(socket, text);
        ::shutdown(socket, SHUT_WR);
      });
      right += read_all(socket) == text ? 1 : 0;
      writer.join();
      ::close(socket);
    });
  }
  for (std::thread& client : clients)
    client.join();
  CHECK(right == 20);
}

TEST_CASE("multiplexer: frames that make no sense end it with a reason") {
  const auto problem_of = [](const std::string& bytes) {
    Pipe in;
    Pipe out;
    write_all(in.ends[1], bytes);
    serve::Multiplexer pipes(in.ends[0], out.ends[1], [] { return -1; });
    ::close(in.ends[1]);
    in.ends[1] = ::dup(0);
    return pipes.run();
  };
  CHECK(problem_of(std::string("\x09\0\0\0\0\0\0\0\0", 9)) == "a frame has an unknown kind");
  CHECK(problem_of(std::string("\x02\0\0\0\0\xff\xff\xff\x7f", 9)) == "a frame is too long");
  CHECK(problem_of("").empty());
  CHECK(problem_of("\x01").empty());
  // Frames of channels that are not open are passed over: they may have been closed meanwhile.
  CHECK(
      problem_of(std::string("\x04\x05\0\0\0\xff\xff\xff\xff\x03\x05\0\0\0\0\0\0\0", 18)).empty());
}

TEST_CASE("greeting: a line is read again, and nothing else passes for one") {
  const serve::Greeting greeting{std::string(64, 'a'), "bb", "/portal"};
  const auto again = serve::parse_greeting(serve::greeting_line(greeting));
  REQUIRE(again);
  CHECK(again->token == greeting.token);
  CHECK(again->base_path == "/portal");
  for (const char* line : {"",
                           "Welcome to login03",
                           "sabath-view 2 aa bb /",
                           "sabath-view 1 xyz! bb /",
                           "sabath-view 1 aa",
                           "sabath-view 1 aa bb http://evil/"}) {
    CAPTURE(line);
    CHECK_FALSE(serve::parse_greeting(line));
  }
}
