#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sabath::serve {

/// Carries many connections over one pair of pipes, in frames of at most 16 KiB that take turns:
/// a long answer blocks no short one. Each direction of each connection has at most 256 KiB under
/// way. Both sides are alike; who accepts connections opens channels. The form of frames:
/// docs/formats/live.md.
class Multiplexer {
 public:
  /// Returns a descriptor that is connected to what the other side opened; -1 refuses it.
  using Accept = std::function<int()>;

  /// Does not own the pipes.
  Multiplexer(int from, int to, Accept accept);
  ~Multiplexer();
  Multiplexer(const Multiplexer&) = delete;
  Multiplexer& operator=(const Multiplexer&) = delete;

  /// Gives the other end a new connection: takes over the descriptor of a stream socket.
  void open(int socket);

  /// Carries until the pipe from the other side ends, or `end` is called. Returns what is wrong
  /// with what came; empty: nothing.
  std::string run();
  /// Ends `run`, from any thread.
  void end();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sabath::serve
