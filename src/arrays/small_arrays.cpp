#include "small_arrays.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace sabath::arrays {
namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t small_bytes = 64U << 10U;
constexpr std::uint64_t small_texts = 64;
/// The first of these limits ends a message.
constexpr std::uint64_t message_bytes = 512U << 10U;
constexpr std::chrono::milliseconds message_time{20};
constexpr std::uint64_t least_count = 8;
constexpr std::uint64_t most_count = 1024;

void pack(PayloadWriter& out, base::ArraySource& source, const base::ArrayInfo& array) {
  const std::uint64_t elements = array.elements();
  if (const std::uint64_t size = base::size_of(array.type); size > 0) {
    source.read(array, 0, elements, out.space(elements * size));
    return;
  }
  const std::vector<std::string> texts = source.read_texts(array, 0, elements);
  out.number(texts.size());
  for (const std::string& text : texts)
    out.text(text);
}

}  // namespace

bool is_small(const base::ArrayInfo& array) {
  if (!array.unreadable.empty()) return false;
  const std::uint64_t size = base::size_of(array.type);
  const std::uint64_t elements = array.elements();
  return elements > 0 && elements <= (size > 0 ? small_bytes / size : small_texts);
}

PayloadWriter pack_small_arrays(base::ArraySource& source,
                                std::span<const base::ArrayInfo> list,
                                std::uint64_t first,
                                std::uint64_t most) {
  if (first >= list.size() || !is_small(list[first]))
    throw base::Error(base::ErrorKind::internal, "reader process: no such array");
  const auto begin = steady_clock::now();
  list = list.subspan(first);
  list = list.first(std::clamp<std::uint64_t>(most, 1, list.size()));
  PayloadWriter message;
  pack(message, source, list.front());
  for (const base::ArrayInfo& array : list.subspan(1)) {
    const bool is_full = message.bytes().size() >= message_bytes;
    if (!is_small(array) || is_full || steady_clock::now() - begin > message_time) break;
    const std::size_t before = message.bytes().size();
    try {
      pack(message, source, array);
    } catch (const base::Error&) {
      message.cut(before);
      break;  // it is said when this array is asked for
    }
  }
  return message;
}

void SmallArrays::unpack(std::string payload,
                         std::span<const base::ArrayInfo> list,
                         std::uint64_t first) {
  values_.clear();
  first_ = first;
  payload_ = std::move(payload);
  PayloadReader message(payload_);
  std::vector<Values> values;
  for (std::uint64_t i = first; !message.is_empty(); ++i) {
    if (i >= list.size() || !is_small(list[i])) throw_malformed();
    Values& one = values.emplace_back();
    const std::uint64_t size = base::size_of(list[i].type);
    if (size > 0) {
      one.bytes = message.view();
      if (one.bytes.size() != size * list[i].elements()) throw_malformed();
      continue;
    }
    one.texts.resize(message.count());
    if (one.texts.empty() || one.texts.size() > list[i].elements()) throw_malformed();
    for (std::string& text : one.texts)
      text = message.text();
  }
  if (values.empty()) throw_malformed();
  values_ = std::move(values);
}

SmallArrays::Values* SmallArrays::find(std::uint64_t index) {
  if (!has(index)) return nullptr;
  Values& found = values_[index - first_];
  found.is_used = true;
  return &found;
}

bool SmallArrays::read(std::uint64_t index, std::uint64_t first_byte, std::span<std::byte> out) {
  const Values* const found = find(index);
  if (found == nullptr || first_byte > found->bytes.size() ||
      out.size() > found->bytes.size() - first_byte) {
    return false;
  }
  if (!out.empty()) std::memcpy(out.data(), found->bytes.data() + first_byte, out.size());
  return true;
}

bool SmallArrays::read_texts(std::uint64_t index,
                             std::uint64_t first,
                             std::uint64_t count,
                             std::vector<std::string>& out) {
  const Values* const found = find(index);
  if (found == nullptr || first >= found->texts.size()) return false;
  const auto begin = found->texts.begin() + static_cast<std::ptrdiff_t>(first);
  const std::uint64_t there = std::min(count, found->texts.size() - first);
  out.assign(begin, begin + static_cast<std::ptrdiff_t>(there));
  return true;
}

std::uint64_t SmallArrays::next_count(std::uint64_t index) {
  const auto used = std::ranges::count_if(values_, &Values::is_used);
  const bool is_next = !values_.empty() && index >= first_ + values_.size() &&
                       2 * static_cast<std::size_t>(used) >= values_.size();
  count_ = is_next ? std::min(most_count, 2 * count_) : least_count;
  return count_;
}

}  // namespace sabath::arrays
