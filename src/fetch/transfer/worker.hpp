#pragma once

#include "coverage.hpp"
#include "http/answer.hpp"
#include "http/exchange.hpp"
#include "http/receiver.hpp"
#include "mirror.hpp"

#include <sabath/base/staged_file.hpp>

#include <functional>
#include <optional>
#include <string>

namespace sabath::fetch {

/// One connection's worth of work: asks a mirror for a range and puts the bytes where they belong.
class Worker final : public Receiver {
 public:
  /// Decides about an answer that may be taken; false: it is of no use after all.
  using Accept = std::function<bool(Worker&, const Answer&)>;

  Worker(const EngineOptions& options,
         base::Clock& clock,
         base::StagedFile& to,
         Coverage& there,
         Accept accept)
      : exchange(options, clock),
        clock_(clock),
        to_(to),
        there_(there),
        accept_(std::move(accept)) {}

  /// Makes the exchange ready to ask `from` for what `what` says.
  void start(Mirror& from, const Asked& what, base::ByteRange wanted);

  void begin(const Answer& answer) override;
  bool take(base::ByteView bytes) override;

  /// What is still to come and belongs to nobody else.
  base::ByteRange rest() const { return {std::min(position, range.end), range.end}; }
  bool is_done() const { return position >= range.end; }
  /// Bytes per second, of late; 0: none came.
  double rate() const { return rate_; }
  void measure(base::SteadyTime now);

  Exchange exchange;
  Mirror* mirror = nullptr;
  Asked asked{};
  base::ByteRange range{};     ///< of the file; its end may come nearer
  std::uint64_t position = 0;  ///< where the next byte of the body belongs
  bool is_active = false;
  bool is_cancelled = false;   ///< nobody wants what it brings
  bool has_delivered = false;  ///< since it has had work without a pause
  bool from_resolved = false;  ///< asked where redirects led before
  bool resolves = false;       ///< others wait for where it is redirected to

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
  base::StagedFile& to_;
  Coverage& there_;
  Accept accept_;
  double rate_ = 0;
  std::uint64_t measured_bytes_ = 0;
  base::SteadyTime measured_{};
};

}  // namespace sabath::fetch
