#include "number_format.hpp"
#include "result_items.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace sabath::compare {
namespace {

using base::ArrayInfo;

constexpr std::uint64_t churn_block_bytes = 1U << 20U;

template <class Format>
class Winners {
 public:
  explicit Winners(std::uint64_t columns) : columns_(columns) {}

  /// Winners of the rows that end in these values.
  std::vector<std::uint64_t> take(std::span<const std::byte> values) {
    std::vector<std::uint64_t> winners;
    typename Format::Bits bits{};
    for (std::size_t at = 0; at < values.size(); at += sizeof bits) {
      std::memcpy(&bits, values.data() + at, sizeof bits);
      if (column_ == 0 || is_greater(bits, best_)) {
        best_ = bits;
        winner_ = column_;
      }
      if (++column_ < columns_) continue;
      winners.push_back(winner_);
      column_ = 0;
    }
    return winners;
  }

 private:
  using Bits = typename Format::Bits;

  static bool is_greater(Bits a, Bits b) {
    if (Format::is_nan(b)) return false;
    if (Format::is_nan(a)) return true;
    if constexpr (requires { Format::value(a); }) {
      return Format::value(a) > Format::value(b);
    } else {
      return a > b;
    }
  }

  std::uint64_t columns_ = 1;
  std::uint64_t column_ = 0;
  std::uint64_t winner_ = 0;
  Bits best_{};
};

template <class Format>
std::uint64_t count_changed(base::ArraySource& a,
                            base::ArraySource& b,
                            ArrayInfo of_a,
                            ArrayInfo of_b) {
  of_a.column_major = of_b.column_major = false;  // the last axis must be the one that runs
  Winners<Format> winners_a(of_a.shape.back());
  Winners<Format> winners_b(of_a.shape.back());
  constexpr std::size_t size = sizeof(typename Format::Bits);
  const std::uint64_t elements = of_a.elements();
  std::vector<std::byte> buffer(std::min<std::uint64_t>(elements * size, churn_block_bytes));
  std::uint64_t changed = 0;
  for (std::uint64_t first = 0; first < elements;) {
    const std::uint64_t now = std::min<std::uint64_t>(buffer.size() / size, elements - first);
    const std::span values(buffer.data(), now * size);
    a.read(of_a, first, now, values);
    const std::vector<std::uint64_t> from_a = winners_a.take(values);
    b.read(of_b, first, now, values);
    const std::vector<std::uint64_t> from_b = winners_b.take(values);
    for (std::size_t i = 0; i < from_a.size(); ++i)
      changed += from_a[i] != from_b[i] ? 1U : 0U;
    first += now;
  }
  return changed;
}

std::uint64_t changed_winners(base::ArraySource& a,
                              base::ArraySource& b,
                              const ArrayInfo& of_a,
                              const ArrayInfo& of_b) {
  std::uint64_t changed = 0;
  with_format(of_a.type,
              [&](auto format) { changed = count_changed<decltype(format)>(a, b, of_a, of_b); });
  return changed;
}

std::optional<ArrayInfo> find(base::ArraySource& source, const std::string& path) {
  for (ArrayInfo& info : source.list()) {
    if (info.path == path && !info.is_attribute) return std::move(info);
  }
  return std::nullopt;
}

/// Why predictions cannot be compared; empty: they can.
std::string obstacle(const std::optional<ArrayInfo>& a,
                     const std::optional<ArrayInfo>& b,
                     spec::Prediction kind) {
  if (!a && !b) return "the array is missing";
  if (!a || !b) return fmt::format("only {} has that array", a ? "A" : "B");
  if (!a->unreadable.empty() || !b->unreadable.empty()) return "it cannot be read";
  if (a->shape != b->shape || a->type != b->type) return "its shape or type is not the same";
  if (a->elements() == 0) return "it is empty";
  if (kind == spec::Prediction::argmax && (a->shape.empty() || base::size_of(a->type) == 0))
    return "the largest of a row needs rows of numbers";
  return {};
}

}  // namespace

void add_churn(const std::string& output,
               base::ArraySource& a,
               base::ArraySource& b,
               const spec::OutputRule& rule,
               Findings& findings) {
  for (const auto& [path, kind] : rule.predictions) {
    const std::string name = output + ":/" + path;
    const auto of_a = find(a, path);
    const auto of_b = find(b, path);
    const std::string why = obstacle(of_a, of_b, kind);
    const auto found = std::ranges::find(
        findings.items, name, [](const Finding& finding) { return finding.item.name; });
    if (!why.empty() || found == findings.items.end()) {
      findings.not_evaluated.push_back(fmt::format("the predictions {}: {}", name, why));
      continue;
    }
    spec::ItemComparison& item = found->item;
    const bool is_argmax = kind == spec::Prediction::argmax;
    item.predictions = is_argmax ? item.compared / of_a->shape.back() : item.compared;
    std::uint64_t changed = item.different;
    if (is_argmax && changed > 0) changed = changed_winners(a, b, *of_a, *of_b);
    item.churn = static_cast<double>(changed) / static_cast<double>(*item.predictions);
  }
}

}  // namespace sabath::compare
