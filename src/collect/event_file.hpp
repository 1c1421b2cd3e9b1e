#pragma once

#include <sabath/base/text/exact_number.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::collect {

/// One scalar of TensorBoard.
struct ScalarEvent {
  std::string tag{};
  /// Nothing where the tag holds no scalar (an image, a histogram).
  std::optional<base::ExactNumber> value{};
  std::int64_t step = 0;
  double wall_time_s = 0;
};

/// A file of TensorBoard (events.out.tfevents...): records framed as TFRecord (length, CRC32C of
/// the length, data, CRC32C of the data), each a protobuf message `Event` of TensorFlow
/// (event.proto, summary.proto, tensor.proto), of which just the scalars are decoded. Old files
/// have them as `simple_value`, newer ones as tensors of one element.
class EventFile {
 public:
  enum class Next { record, bad, end };

  /// Throws Error when the file cannot be read.
  explicit EventFile(const std::filesystem::path& path);

  /// The next record. `bad` says `problem()`; where the frame itself is broken there is no way on,
  /// and `end` comes next.
  Next next();
  std::uint64_t number() const { return number_; }  ///< of this record, from 1
  const std::string& problem() const { return problem_; }

  /// Calls `take(ScalarEvent)` for each value of this record. False when it is no `Event`.
  template <class Take>
  bool for_each(Take take) const {
    return visit([](void* context, ScalarEvent& event) { (*static_cast<Take*>(context))(event); },
                 &take);
  }

 private:
  bool visit(void (*take)(void*, ScalarEvent&), void* context) const;
  Next broken(std::string problem);

  std::ifstream stream_;
  std::uint64_t left_bytes_ = 0;
  std::string data_{};
  std::string problem_{};
  std::uint64_t number_ = 0;
};

}  // namespace sabath::collect
