#include <sabath/base/text/json_members.hpp>

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sabath::base {
namespace {

using rapidjson::SizeType;
using Parts = std::span<const JsonPart>;

/// Writes what is wanted of the values that a reader finds. Numbers stay as they are written.
class MemberFilter : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, MemberFilter> {
 public:
  explicit MemberFilter(Parts parts) : next_(parts) {}

  std::string kept() const { return {buffer_.GetString(), buffer_.GetSize()}; }

  bool Null() { return skips() || writer_.Null(); }
  bool Bool(bool flag) { return skips() || writer_.Bool(flag); }
  bool RawNumber(const char* text, SizeType size, bool) {
    return skips() || writer_.RawValue(text, size, rapidjson::kNumberType);
  }
  bool String(const char* text, SizeType size, bool) {
    return skips() || writer_.String(text, size);
  }
  bool Key(const char* text, SizeType size, bool) {
    if (skipped_ > 0) return true;
    const Parts parts = open_.back().parts;
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const JsonPart& one) {
      return one.key == std::string_view(text, size);
    });
    is_wanted_ = parts.empty() || part != parts.end();
    next_ = part != parts.end() ? part->parts : Parts();
    return !is_wanted_ || writer_.Key(text, size);
  }
  bool StartObject() { return begin(false); }
  bool EndObject(SizeType) { return end(); }
  bool StartArray() { return begin(true); }
  bool EndArray(SizeType) { return end(); }

 private:
  /// An object or array that is written; `parts` are wanted of it, or of its items.
  struct Level {
    Parts parts{};
    bool is_array = false;
  };

  bool skips() const { return skipped_ > 0 || !is_wanted_; }

  bool begin(bool is_array) {
    if (skips()) {
      ++skipped_;
      return true;
    }
    // An array in an array is wanted whole.
    const bool is_item = !open_.empty() && open_.back().is_array;
    const Parts parts = !is_item ? next_ : is_array ? Parts() : open_.back().parts;
    open_.push_back({parts, is_array});
    return is_array ? writer_.StartArray() : writer_.StartObject();
  }

  bool end() {
    if (skipped_ > 0) {
      --skipped_;
      return true;
    }
    const bool is_array = open_.back().is_array;
    open_.pop_back();
    is_wanted_ = true;
    return is_array ? writer_.EndArray() : writer_.EndObject();
  }

  rapidjson::StringBuffer buffer_{};
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
  std::vector<Level> open_{};
  Parts next_;               ///< wanted of the next member's value
  bool is_wanted_ = true;    ///< that value, or the items of this array
  std::size_t skipped_ = 0;  ///< open objects and arrays that are not written
};

}  // namespace

std::optional<std::string> json_members(std::string_view text, Parts parts) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  MemberFilter filter(parts);
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  constexpr unsigned flags = rapidjson::kParseNumbersAsStringsFlag |
                             rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag;
  if (reader.Parse<flags>(stream, filter).IsError()) return std::nullopt;
  std::string kept = filter.kept();
  return kept.starts_with('{') ? std::optional(std::move(kept)) : std::nullopt;
}

}  // namespace sabath::base
