#pragma once

#include "http/answer.hpp"
#include "http/receiver.hpp"

#include <sabath/base/staged_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sabath::fetch {

enum class End {
  complete,   ///< the staged file is the whole file
  unchanged,  ///< the source has what it was asked about, and nothing came
  more,       ///< bytes were added; the rest is still to be asked for
  again,      ///< nothing usable came, but asking once more from the source's URL may help
  failed,
};

/// Takes the body of one answer into a staged file, once it is proved to belong there. Knows
/// nothing of any protocol.
class Intake final : public Receiver {
 public:
  /// `source` names where the bytes come from, without any secret.
  Intake(const Asked& asked, std::string source, base::StagedFile& to)
      : asked_(asked), source_(std::move(source)), to_(to), validators_(asked.validators) {}

  bool has_answer() const { return answer_.has_value(); }
  /// What the server said; before any byte of the body. May throw what the staged file throws.
  void begin(const Answer& answer) override;
  /// The next bytes of the body. False: there is no use for more; the transfer should end.
  bool take(base::ByteView bytes) override;
  /// The body has ended as its protocol demands.
  End finish();
  /// The transfer broke off, for `cause`. What was taken stays, unless it proved wrong.
  End break_off(const Failure& cause);
  /// What was taken is of no use: forgets it.
  End drop(std::string problem, std::string hint = {});

  std::optional<std::uint64_t> size_bytes() const { return judgement_.size_bytes; }
  /// Bytes of the body that came, useful or not.
  std::uint64_t received_bytes() const { return received_bytes_; }
  /// Of the version that the staged file holds now.
  const Validators& validators() const { return validators_; }
  const Failure& failure() const { return failure_; }

 private:
  End refused();

  Asked asked_;
  std::string source_;
  base::StagedFile& to_;
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
