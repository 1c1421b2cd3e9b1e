#pragma once

#include "http/answer.hpp"

#include <sabath/base/partial_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sabath::fetch {

enum class End {
  complete,   ///< The partial file is the whole file.
  unchanged,  ///< The source still has the version in question.
  more,       ///< Bytes were added; the rest must be requested.
  again,      ///< Nothing usable came; the same request may succeed.
  failed,
};

/// Writes the body of one answer to a partial file, after a proof that it belongs there.
/// Independent of the protocol.
class ResponseWriter final : public Receiver {
 public:
  /// `source`: name of the source, without secrets.
  ResponseWriter(const Asked& asked, std::string source, base::PartialFile& to)
      : asked_(asked), source_(std::move(source)), to_(to), validators_(asked.validators) {}

  /// Throws what the partial file throws.
  void begin(const Answer& answer) override;
  bool take(base::ByteView bytes) override;
  /// Called when the body has ended correctly.
  End finish();
  /// Called when the transfer broke off. The bytes stay, unless they are proved wrong.
  End break_off(const Failure& cause);
  /// Drops the bytes.
  End drop(std::string problem, std::string hint = {});

  std::optional<std::uint64_t> size_bytes() const { return judgement_.size_bytes; }
  /// All bytes of the body, useful or not.
  std::uint64_t received_bytes() const { return received_bytes_; }
  /// Validators of the partial file.
  const Validators& validators() const { return validators_; }
  const Failure& failure() const { return failure_; }

 private:
  End refused();

  Asked asked_;
  std::string source_;
  base::PartialFile& to_;
  Validators validators_;
  unsigned source_number_ = 0;
  std::optional<Answer> answer_{};
  Judgement judgement_{};
  Failure failure_{};
  std::uint64_t position_bytes_ = 0;  ///< where the next byte of the body belongs
  std::uint64_t received_bytes_ = 0;
  bool too_much_ = false;
  std::string error_body_{};
};

}  // namespace sabath::fetch
