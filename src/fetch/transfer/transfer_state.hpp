#pragma once

#include "coverage.hpp"
#include "http/answer.hpp"
#include "http/http_stream.hpp"
#include "mirror.hpp"
#include "reachability.hpp"
#include "transfer_loop.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/base/partial_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::fetch {

/// One connection: requests a range from a mirror and writes its bytes to their place.
class Worker final : public Receiver {
 public:
  /// Decides about an acceptable answer. Returns false to reject it.
  using Accept = std::function<bool(Worker&, const Answer&)>;

  Worker(const EngineOptions& options,
         base::Clock& clock,
         base::PartialFile& to,
         Coverage& there,
         Accept accept)
      : stream(options, clock), clock_(clock), to_(to), there_(there), accept_(std::move(accept)) {}

  /// Prepares a request to `from`.
  void start(Mirror& from, const Asked& what, base::ByteRange wanted);

  void begin(const Answer& answer) override;
  bool take(base::ByteView bytes) override;

  /// Range that this worker has still to receive.
  base::ByteRange rest() const { return {std::min(position, range.end), range.end}; }
  bool is_done() const { return position >= range.end; }
  /// Recent bytes per second; 0: none.
  double rate() const { return rate_; }
  void measure(base::SteadyTime now);

  HttpStream stream;
  Mirror* mirror = nullptr;
  Asked asked{};
  base::ByteRange range{};     ///< of the file; its end may decrease
  std::uint64_t position = 0;  ///< where the next byte of the body belongs
  bool is_active = false;
  bool is_cancelled = false;   ///< its bytes are not wanted
  bool has_delivered = false;  ///< since its last pause
  bool from_resolved = false;  ///< requested the target of earlier redirects
  bool resolves = false;       ///< others wait for the target of its redirects

  std::optional<Answer> answer{};
  Judgement judgement{};
  bool is_accepted = false;
  bool sent_too_much = false;
  std::string error_body{};
  std::uint64_t received = 0;
  base::SteadyTime started{};
  base::SteadyTime first_byte{};

 private:
  void put(base::ByteView bytes);

  base::Clock& clock_;
  base::PartialFile& to_;
  Coverage& there_;
  Accept accept_;
  double rate_ = 0;
  std::uint64_t measured_bytes_ = 0;
  base::SteadyTime measured_{};
};

/// Surroundings of a transfer. All references outlive it.
struct TransferTools {
  TransferLoop& loop;
  Reachability& reachability;
  const EngineOptions& options;
  base::Clock& clock;
  base::Observer& observer;
  std::stop_token stop{};
};

/// One file during its transfer: its sources, its connections, and the bytes that are present.
/// The parts of a FileTransfer share it.
struct TransferState {
  TransferState(TransferTools its_tools, const Request& its_request, base::PartialFile& file)
      : tools(std::move(its_tools)), request(its_request), to(file) {}
  /// Ends all connections.
  ~TransferState();
  TransferState(const TransferState&) = delete;
  TransferState& operator=(const TransferState&) = delete;

  /// Does a digest prove the file when it is complete?
  bool is_proved_later() const { return !request.digests.empty(); }
  bool is_complete() const { return size && there.bytes() == *size; }
  std::optional<std::uint64_t> known_size() const { return size ? size : request.size_bytes; }
  bool has_live_mirror() const;
  std::vector<Worker*> active_workers() const;
  unsigned active_on(const Host& host) const;

  void read_present();
  void learn_size(std::uint64_t size_bytes);
  /// Drops all bytes, of all sources.
  void start_over();
  /// Drops the bytes of a source whose file has changed.
  void forget_version(Mirror& mirror);
  /// Cancels the connections of a source, or of all sources, but for one.
  void cancel_all(const Mirror* mirror, const Worker* except = nullptr);
  void release(Worker& worker);

  TransferTools tools;
  const Request& request;
  base::PartialFile& to;
  Coverage there{};
  std::optional<std::uint64_t> size{};
  std::list<Host> hosts{};
  std::list<Mirror> mirrors{};
  std::vector<std::unique_ptr<Worker>> workers{};
  std::uint64_t transferred = 0;
};

}  // namespace sabath::fetch
