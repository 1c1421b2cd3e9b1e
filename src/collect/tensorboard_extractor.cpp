#include "extractors.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/text_table.hpp>

#include <boost/crc.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {
namespace {

/// One scalar of TensorBoard.
struct ScalarEvent {
  std::string tag{};
  /// Nothing if the tag does not hold a scalar (an image, a histogram).
  std::optional<base::ExactNumber> value{};
  std::int64_t step = 0;
  double wall_time_s = 0;
};

/// How a field of a protobuf message is encoded (protobuf.dev/programming-guides/encoding).
enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint64_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t number_value = 0;  ///< the bits, of all types but `bytes`
  std::string_view bytes{};
};

/// Reads the fields of one message, which may hold anything, without ever reading beyond it.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  bool at_end() const { return rest_.empty(); }
  bool is_malformed() const { return is_malformed_; }

  /// Little-endian, of `width` bytes.
  std::optional<std::uint64_t> fixed(std::size_t width) {
    if (rest_.size() < width) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = width; i > 0; --i)
      value = value << 8U | static_cast<unsigned char>(rest_[i - 1]);
    rest_.remove_prefix(width);
    return value;
  }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  /// False at the end, and where the message is malformed.
  bool next(WireField& field) {
    if (at_end() || is_malformed_) return false;
    const auto key = varint();
    is_malformed_ = !key || !read(field, *key);
    return !is_malformed_;
  }

 private:
  bool read(WireField& field, std::uint64_t key) {
    field.number = key >> 3U;
    field.type = static_cast<WireType>(key & 7U);
    field.bytes = {};
    std::optional<std::uint64_t> value;
    switch (field.type) {
      case WireType::fixed64:
        value = fixed(8);
        break;
      case WireType::fixed32:
        value = fixed(4);
        break;
      case WireType::varint:
      case WireType::bytes:
        value = varint();
        break;
    }
    if (!value) return false;
    field.number_value = *value;
    if (field.type != WireType::bytes) return true;
    if (*value > rest_.size()) return false;
    field.bytes = rest_.substr(0, *value);
    rest_.remove_prefix(*value);
    return true;
  }

  std::string_view rest_;
  bool is_malformed_ = false;
};

/// Records above this are images or graphs: no scalar needs as much.
constexpr std::uint64_t max_record_bytes = std::uint64_t{64} << 20U;

/// CRC32C, masked as TensorFlow does (tensorflow/core/lib/hash/crc32c.h).
std::uint32_t masked_crc(std::string_view data) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(data.data(), data.size());
  return std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + 0xA282EAD8U;
}

/// A half (IEEE 754 binary16), exactly.
double half_value(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10U & 31U);
  const auto fraction = static_cast<double>(bits & 1023U);
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

float float_of(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

/// A type of a tensor's elements (tensorflow/core/framework/types.proto) that can be a scalar.
struct ElementType {
  std::uint64_t number;
  std::size_t width_bytes;
  base::ExactNumber (*value)(std::uint64_t bits);
};

constexpr auto element_types = std::to_array<ElementType>({
    {1, 4, [](auto bits) { return base::ExactNumber{float_of(bits)}; }},
    {2, 8, [](auto bits) { return base::ExactNumber{std::bit_cast<double>(bits)}; }},
    {3, 4, [](auto bits) { return base::exact_number(std::int64_t{static_cast<int>(bits)}); }},
    {9, 8, [](auto bits) { return base::exact_number(static_cast<std::int64_t>(bits)); }},
    {14, 2, [](auto bits) { return base::ExactNumber{float_of(bits << 16U)}; }},  // bfloat16
    {19, 2, [](auto bits) { return base::ExactNumber{half_value(bits)}; }},
});

/// The only element of a repeated field of numbers, packed or not; nothing if there are more.
std::optional<std::uint64_t> only_element(const WireField& field) {
  if (field.type != WireType::bytes) return field.number_value;
  WireReader packed(field.bytes);
  const bool is_fixed = field.number == 5 || field.number == 6;
  const auto element = is_fixed ? packed.fixed(field.number == 5 ? 4 : 8) : packed.varint();
  return element && packed.at_end() ? element : std::nullopt;
}

/// A scalar, or nothing; and whether it is there twice.
struct TensorScalar {
  std::optional<base::ExactNumber> value{};
  bool is_twice = false;
};

/// The value of a TensorProto of one element.
TensorScalar tensor_scalar(std::string_view message) {
  std::uint64_t type = 0;
  std::optional<std::uint64_t> bits;
  std::string_view content;
  int types = 0;
  int contents = 0;
  int elements = 0;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        type = field.number_value;
        ++types;
        break;
      case 4:
        content = field.bytes;
        ++contents;
        break;
      case 5:   // float_val
      case 6:   // double_val
      case 7:   // int_val
      case 10:  // int64_val
      case 13:  // half_val
        bits = only_element(field);
        ++elements;
        break;
      default:
        break;
    }
  }
  const auto* const known = std::ranges::find(element_types, type, &ElementType::number);
  if (reader.is_malformed() || known == element_types.end()) return {};
  const bool has_content = content.size() == known->width_bytes;
  if (types > 1 || (has_content && contents + elements > 1)) return {std::nullopt, true};
  if (has_content) bits = *WireReader(content).fixed(known->width_bytes);
  if (!has_content && (elements != 1 || !bits)) return {};
  return {known->value(*bits)};
}

constexpr std::string_view no_event = "holds no event";
constexpr std::string_view value_twice = "has two values where there is one";

/// Reads a Summary.Value. Returns its problem.
std::string_view read_value(std::string_view message, ScalarEvent& event) {
  event.tag.clear();
  event.value.reset();
  int tags = 0;
  int values = 0;  // one of scalar, old histogram, image, histogram, audio and tensor
  bool is_twice = false;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1 && field.type == WireType::bytes) {
      event.tag = field.bytes;
      ++tags;
    }
    if ((field.number >= 2 && field.number <= 6) || field.number == 8) ++values;
    if (field.number == 2 && field.type == WireType::fixed32) {
      event.value = base::ExactNumber{float_of(field.number_value)};
    }
    if (field.number == 8 && field.type == WireType::bytes) {
      const TensorScalar scalar = tensor_scalar(field.bytes);
      event.value = scalar.value;
      is_twice = is_twice || scalar.is_twice;
    }
  }
  if (reader.is_malformed()) return no_event;
  return is_twice || tags > 1 || values > 1 ? value_twice : std::string_view();
}

/// Reader of an event file of TensorBoard (events.out.tfevents...). Its frames are TFRecords:
/// length, CRC32C of the length, data, CRC32C of the data. The data is a protobuf message `Event`
/// of TensorFlow (event.proto, summary.proto, tensor.proto). Decodes scalars only: `simple_value`
/// of old files, tensors of one element of newer ones.
class EventFile {
 public:
  enum class Next { record, bad, end };

  /// Throws Error when the file cannot be read.
  explicit EventFile(const SourceFile& source)
      : stream_(source.path, std::ios::binary), position_(source.position) {
    if (!stream_) base::throw_errno(source.path.string(), "cannot read", errno);
    left_bytes_ = std::filesystem::file_size(source.path);
    if (position_ == nullptr) return;
    number_ = position_->number;
    left_bytes_ -= std::min(left_bytes_, position_->offset);
    stream_.seekg(static_cast<std::streamoff>(position_->offset));
  }

  /// Reads the next record. After `bad`, `problem()` is set; after a broken frame `end` comes next.
  Next next() {
    if (left_bytes_ == 0) return Next::end;
    ++number_;
    std::array<char, 12> head{};
    if (left_bytes_ < head.size() || !stream_.read(head.data(), head.size())) return cut_off();
    left_bytes_ -= head.size();
    const std::string_view length_bytes(head.data(), 8);
    const std::uint64_t length = *WireReader(length_bytes).fixed(8);
    const auto length_crc = *WireReader(std::string_view(head.data() + 8, 4)).fixed(4);
    if (masked_crc(length_bytes) != length_crc) {
      return broken("has a length whose checksum is wrong; nothing behind it can be read");
    }
    if (left_bytes_ < 4 || length > left_bytes_ - 4) return cut_off();
    left_bytes_ -= length + 4;
    if (length > max_record_bytes) {
      data_.clear();
      stream_.seekg(static_cast<std::streamoff>(length + 4), std::ios::cur);
      move_position(length);
      return Next::record;
    }
    data_.resize(length + 4);
    if (!stream_.read(data_.data(), static_cast<std::streamsize>(data_.size()))) return cut_off();
    move_position(length);
    const auto crc = *WireReader(std::string_view(data_).substr(length)).fixed(4);
    data_.resize(length);
    if (masked_crc(data_) == crc) return Next::record;
    problem_ = "has data whose checksum is wrong";
    return Next::bad;
  }

  std::uint64_t number() const { return number_; }  ///< of this record, from 1
  const std::string& problem() const { return problem_; }

  /// Calls `take(ScalarEvent)` for each value of this record. Returns the problem of a record that
  /// is not an `Event`, or that has two values where there is one; empty if it has none. Protobuf
  /// would take the last one.
  template <class Take>
  std::string_view for_each(Take take) const {
    ScalarEvent event;
    // The order of fields is free: step and time first, then the values.
    std::vector<std::string_view> summaries;
    int times = 0;
    int steps = 0;
    WireReader reader(data_);
    WireField field;
    while (reader.next(field)) {
      if (field.number == 1 && field.type == WireType::fixed64) {
        event.wall_time_s = std::bit_cast<double>(field.number_value);
        ++times;
      }
      if (field.number == 2 && field.type == WireType::varint) {
        event.step = static_cast<std::int64_t>(field.number_value);
        ++steps;
      }
      if (field.number == 5 && field.type == WireType::bytes) summaries.push_back(field.bytes);
    }
    if (reader.is_malformed()) return no_event;
    if (times > 1 || steps > 1) return value_twice;
    for (const std::string_view summary : summaries) {
      WireReader values(summary);
      while (values.next(field)) {
        if (field.number != 1 || field.type != WireType::bytes) continue;
        if (const std::string_view problem = read_value(field.bytes, event); !problem.empty())
          return problem;
        take(event);
      }
      if (values.is_malformed()) return no_event;
    }
    return {};
  }

 private:
  Next broken(std::string problem) {
    if (position_ != nullptr) position_->is_over = true;
    problem_ = std::move(problem);
    left_bytes_ = 0;
    return Next::bad;
  }

  /// The last record of a file that grows may be half written.
  Next cut_off() { return position_ != nullptr ? Next::end : broken("is cut off"); }

  void move_position(std::uint64_t length) {
    if (position_ == nullptr) return;
    constexpr std::uint64_t frame_bytes = 16;
    position_->offset += length + frame_bytes;
    position_->number = number_;
  }

  std::ifstream stream_;
  FilePosition* position_;
  std::uint64_t left_bytes_ = 0;
  std::string data_{};
  std::string problem_{};
  std::uint64_t number_ = 0;
};

/// What event files are called wherever they lie.
constexpr const char* usual_files = "*events.out.tfevents.*";
constexpr std::size_t max_tags_shown = 20;

/// Files of one folder are one run of TensorBoard, written one after the other; several folders are
/// ranks.
void rank_by_folder(std::vector<SourceFile>& files) {
  std::map<std::filesystem::path, std::int32_t> ranks;
  for (SourceFile& file : files) {
    const auto next = static_cast<std::int32_t>(ranks.size());
    file.rank = ranks.emplace(file.path.parent_path(), next).first->second;
  }
}

struct Tags {
  std::set<std::string> scalars{};
  std::set<std::string> others{};
};

void read_events(const SourceFile& source,
                 const std::multimap<std::string, std::string>& names,
                 Tags& tags,
                 const PointTarget& target) {
  EventFile events(source);
  for (auto next = events.next(); next != EventFile::Next::end; next = events.next()) {
    source.limits.check(source.path.string());
    std::string problem = next == EventFile::Next::bad ? events.problem() : "";
    const auto take = [&](ScalarEvent& event) {
      auto& seen = event.value ? tags.scalars : tags.others;
      if (seen.size() < max_tags_shown) seen.insert(event.tag);
      if (!event.value) return;
      base::SeriesPoint point;
      point.rank = source.rank;
      point.step = event.step;
      point.time_s = event.wall_time_s;
      const auto [first, last] = names.equal_range(event.tag);
      for (auto name = first; name != last; ++name)
        target.add(name->second, point, *event.value);
    };
    if (problem.empty()) problem = events.for_each(take);
    if (!problem.empty()) note_bad(target.extraction, {source.path, events.number(), problem});
  }
}

/// Tags that are not there, with those that are: names differ in a letter.
void report_tags(const std::multimap<std::string, std::string>& names,
                 const Tags& tags,
                 Extraction& extraction) {
  const std::string known = fmt::format("{}", fmt::join(tags.scalars, ", "));
  for (const auto& [tag, metric] : names) {
    if (tags.scalars.contains(tag) || tags.scalars.size() >= max_tags_shown) continue;
    const bool is_other = tags.others.contains(tag);
    if (!is_other && known.empty()) continue;
    extraction.collected.notes.push_back(
        base::printable("tag '" + tag + "' " +
                        (is_other ? "holds no scalar" : "is not there; scalars are " + known)));
  }
}

class TensorboardExtractor final : public Extractor {
 public:
  TensorboardExtractor(const StageFiles& files, std::vector<spec::MetricSpec> wanted)
      : files_(files), wanted_(std::move(wanted)) {}

  void read(const PointTarget& target) override {
    for (const auto& [file, metrics] : by_file(wanted_)) {
      std::multimap<std::string, std::string> names;
      for (const spec::MetricSpec* metric : metrics)
        names.emplace(metric->key(), metric->name);
      auto sources = source_files(files_, file.empty() ? usual_files : file, target.positions);
      rank_by_folder(sources);
      Tags tags;
      for (SourceFile& source : sources) {
        if (target.begin(source, file)) read_events(source, names, tags, target);
      }
      report_tags(names, tags, target.extraction);
    }
  }

 private:
  const StageFiles& files_;
  std::vector<spec::MetricSpec> wanted_;
};

}  // namespace

std::unique_ptr<Extractor> tensorboard_extractor(const StageFiles& files,
                                                 std::vector<spec::MetricSpec> wanted) {
  return std::make_unique<TensorboardExtractor>(files, std::move(wanted));
}

}  // namespace sabath::collect
