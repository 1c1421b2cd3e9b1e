#pragma once

#include "answer.hpp"

#include <sabath/base/bytes.hpp>

namespace sabath::fetch {

/// Who takes what a request brings.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// What the server said; before any byte of the body.
  virtual void begin(const Answer& answer) = 0;
  /// The next bytes of the body. False: there is no use for more; the transfer should end.
  virtual bool take(base::ByteView bytes) = 0;
};

}  // namespace sabath::fetch
