#include "array_pair.hpp"

#include "array_findings.hpp"
#include "arrays/value_differences.hpp"
#include "nothing_held.hpp"
#include "tolerance.hpp"
#include "tree_pair.hpp"

#include <sabath/base/process/reader_ended.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace sabath::compare {
namespace {

/// A comparison holds two such blocks; small enough for a cache.
constexpr std::uint64_t block_bytes = 1U << 20U;
constexpr std::uint64_t texts_in_block = 256;
constexpr std::size_t shown_text = 60;

std::int64_t row_major(const std::vector<std::uint64_t>& index,
                       const std::vector<std::uint64_t>& shape) {
  std::uint64_t flat = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    flat = flat * shape[i] + index[i];
  return static_cast<std::int64_t>(flat);
}

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// What is shown of a text that another differs from at byte `first_difference`: from shortly
/// before it.
std::string shown_of(const std::string& text, std::size_t first_difference) {
  if (text.size() <= shown_text) return base::printable(text);
  std::size_t first = first_difference <= shown_text / 2 ? 0 : first_difference - shown_text / 4;
  while (first > 0 && !begins_character(text[first]))
    --first;
  const std::string_view rest = std::string_view(text).substr(first);
  return base::printable(fmt::format("{}{}{}",
                                     first == 0 ? "" : "...",
                                     rest.substr(0, shown_text),
                                     rest.size() > shown_text ? "..." : ""));
}

/// Why numbers were compared as text; empty for other texts.
std::string as_text_note(const std::string& a, const std::string& b) {
  const auto of_a = base::number_in<double>(a);
  const auto of_b = base::number_in<double>(b);
  if (!of_a || !of_b) return {};
  const bool is_beyond = std::max(std::abs(*of_a), std::abs(*of_b)) >= base::first_inexact_whole;
  return is_beyond ? ", compared as text: whole numbers beyond 2^53" : ", compared as text";
}

class ArrayPair {
 public:
  ArrayPair(base::ArraySource& a,
            base::ArraySource& b,
            const SaidTolerance& recipe,
            const spec::Tolerance& asked,
            const TreePair& trees)
      : a_(a), b_(b), recipe_(recipe), asked_(asked), trees_(trees) {}

  Finding compare(base::ArrayInfo of_a, base::ArrayInfo of_b) {
    const std::string structure = structural_difference(of_a, of_b);
    if (!structure.empty()) return structural(structure, 0);
    if (of_a.column_major != of_b.column_major) of_a.column_major = of_b.column_major = false;
    return base::size_of(of_a.type) == 0 ? texts(of_a, of_b) : numbers(of_a, of_b);
  }

 private:
  Finding numbers(const base::ArrayInfo& of_a, const base::ArrayInfo& of_b) {
    const std::uint64_t elements = of_a.elements();
    const EqualChunks equal(trees_.a, trees_.b, of_a);
    ValueDifferences differences(
        of_a.type, applied_tolerance(of_a.type, recipe_, asked_), elements);
    for (std::uint64_t first = 0; first < elements;) {
      const EqualChunks::Stretch known = equal.from(first);
      differences.add_equal(known.elements, known.nans);
      first += known.elements;
      const std::uint64_t differing = std::min(elements - first, equal.to_boundary(first));
      add_numbers(differences, of_a, of_b, first, differing);
      first += differing;
    }
    Finding finding;
    finding.item = differences.finish([&](spec::Divergence& divergence) {
      const auto index = index_of(static_cast<std::uint64_t>(divergence.position), of_a);
      divergence.where = index_text(index);
      divergence.position = row_major(index, of_a.shape);
    });
    return finding;
  }

  void add_numbers(ValueDifferences& differences,
                   const base::ArrayInfo& of_a,
                   const base::ArrayInfo& of_b,
                   std::uint64_t first,
                   std::uint64_t count) {
    const std::size_t size = base::size_of(of_a.type);
    const std::uint64_t block = std::min<std::uint64_t>(count, block_bytes / size);
    buffer_a_.resize(block * size);
    buffer_b_.resize(block * size);
    for (const std::uint64_t end = first + count; first < end;) {
      const std::uint64_t now = std::min(block, end - first);
      if (const std::uint64_t alike = alike_from(of_a, of_b, first, end, now); alike > now) {
        a_.read(of_a, first, 1, std::span(buffer_a_).first(size));
        b_.read(of_b, first, 1, std::span(buffer_b_).first(size));
        differences.add(std::span(buffer_a_).first(size), std::span(buffer_b_).first(size), alike);
        first += alike;
        continue;
      }
      const std::span from_a(buffer_a_.data(), now * size);
      const std::span from_b(buffer_b_.data(), now * size);
      a_.read(of_a, first, now, from_a);
      b_.read(of_b, first, now, from_b);
      differences.add(from_a, from_b);
      first += now;
    }
  }

  /// How many pairs from `first` to before `end` are alike, as neither side was ever written there.
  /// Not asked where no more are left than `at_once`.
  std::uint64_t alike_from(const base::ArrayInfo& of_a,
                           const base::ArrayInfo& of_b,
                           std::uint64_t first,
                           std::uint64_t end,
                           std::uint64_t at_once) {
    if (end - first <= at_once) return 0;
    const std::uint64_t from_a = a_.unwritten(of_a, first);
    return from_a == 0 ? 0 : std::min({from_a, b_.unwritten(of_b, first), end - first});
  }

  Finding texts(const base::ArrayInfo& of_a, const base::ArrayInfo& of_b) {
    Finding finding;
    finding.item.compared = of_a.elements();
    // Either side may give fewer than it was asked for. What the other gave besides is kept: some
    // formats would have to begin anew for it.
    std::vector<std::string> from_a;
    std::vector<std::string> from_b;
    for (std::uint64_t first = 0; first < finding.item.compared;) {
      const std::uint64_t count = std::min(texts_in_block, finding.item.compared - first);
      if (from_a.empty() && from_b.empty()) {
        const std::uint64_t alike = alike_from(of_a, of_b, first, finding.item.compared, count);
        if (alike > count) {
          const auto one = a_.read_texts(of_a, first, 1);
          add_texts(finding.item, of_a, first, one, b_.read_texts(of_b, first, 1), alike);
          first += alike;
          continue;
        }
      }
      if (from_a.empty()) from_a = a_.read_texts(of_a, first, count);
      if (from_b.empty()) from_b = b_.read_texts(of_b, first, count);
      const std::size_t both = std::min(from_a.size(), from_b.size());
      if (both == 0) throw base::Error(base::ErrorKind::internal, of_a.path + ": has no texts");
      add_texts(finding.item, of_a, first, std::span(from_a).first(both), from_b);
      from_a.erase(from_a.begin(), from_a.begin() + static_cast<std::ptrdiff_t>(both));
      from_b.erase(from_b.begin(), from_b.begin() + static_cast<std::ptrdiff_t>(both));
      first += both;
    }
    finding.item.strongest = strongest_rung(finding.item);
    return finding;
  }

  static void add_texts(spec::ItemComparison& item,
                        const base::ArrayInfo& array,
                        std::uint64_t first,
                        std::span<const std::string> of_a,
                        std::span<const std::string> of_b,
                        std::uint64_t times = 1) {
    for (std::size_t i = 0; i < of_a.size(); ++i) {
      if (of_a[i] == of_b[i]) continue;
      const bool is_first = item.different == 0;
      item.different += times;
      if (!is_first) continue;
      const auto equal_bytes = std::ranges::mismatch(of_a[i], of_b[i]).in1 - of_a[i].begin();
      const auto first_difference = static_cast<std::size_t>(equal_bytes);
      item.structure = fmt::format("'{}' in A, '{}' in B at {}{}",
                                   shown_of(of_a[i], first_difference),
                                   shown_of(of_b[i], first_difference),
                                   index_text(index_of(first + i, array)),
                                   as_text_note(of_a[i], of_b[i]));
    }
  }

  base::ArraySource& a_;
  base::ArraySource& b_;
  const SaidTolerance& recipe_;
  const spec::Tolerance& asked_;
  const TreePair& trees_;
  std::vector<std::byte> buffer_a_{};
  std::vector<std::byte> buffer_b_{};
};

}  // namespace

Findings compare_arrays(const std::string& name,
                        base::ArraySource& a,
                        base::ArraySource& b,
                        const SaidTolerance& recipe,
                        const spec::Tolerance& asked,
                        const TreePair& trees) {
  ArrayPair pair(a, b, recipe, asked, trees);
  Findings findings;
  UnreadableArrays unreadable;
  const auto name_of = [&](const base::ArrayInfo& info) {
    return (name.empty() ? "/" : name + ":/") + base::printable(info.path);
  };
  const auto add = [&](const base::ArrayInfo& info, Finding finding) {
    finding.item.name = name_of(info);
    findings.items.push_back(std::move(finding));
  };
  const std::vector<base::ArrayInfo> of_a = a.list();
  const std::vector<base::ArrayInfo> of_b = b.list();
  const auto add_single = [&](const base::ArrayInfo& info, const char* side) {
    add(info, structural(side, info.elements()));
  };
  const auto add_both = [&](const base::ArrayInfo& in_a, const base::ArrayInfo& in_b) {
    const std::string& why = in_a.unreadable.empty() ? in_b.unreadable : in_a.unreadable;
    if (!why.empty()) return unreadable.add(name_of(in_a), why);
    try {
      Finding finding = pair.compare(in_a, in_b);
      if (is_all_nan(finding.item) && !in_a.is_attribute) unreadable.add(name_of(in_a), only_nan);
      add(in_a, std::move(finding));
    } catch (const base::ReaderEnded& ended) {
      unreadable.add(name_of(in_a), ended.why() + " (" + ended.file() + ")");
    }
  };
  pair_by_name(of_a, of_b, add_single, add_both);
  findings.not_evaluated = unreadable.take(name);
  if (hold_nothing(of_a) && hold_nothing(of_b))
    findings.not_evaluated.push_back(nothing_held_text(name));
  return findings;
}

}  // namespace sabath::compare
