#include "tree_pair.hpp"

#include "array_findings.hpp"
#include "nothing_held.hpp"
#include "tolerance.hpp"

#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace sabath::compare {
namespace {

base::ArrayInfo info_of(const spec::ArrayTree& tree) {
  base::ArrayInfo info{tree.path,
                       base::parse_array_type(tree.type).value_or(base::ArrayType::opaque),
                       tree.shape,
                       tree.is_attribute};
  info.column_major = tree.column_major;
  info.unreadable = tree.unreadable;
  return info;
}

/// Whether chunks with the same index have the same elements.
bool are_cut_alike(const spec::ArrayTree& a, const spec::ArrayTree& b) {
  return a.type == b.type && a.shape == b.shape && a.column_major == b.column_major &&
         a.chunk == b.chunk && a.chunk > 0 && a.chunks.size() == b.chunks.size() &&
         a.unreadable.empty() && b.unreadable.empty();
}

bool is_within(const spec::ChunkDigest& a, const spec::ChunkDigest& b) {
  return a.exact == b.exact || (a.rounded && a.rounded == b.rounded);
}

struct Differing {
  std::uint64_t chunks = 0;
  std::uint64_t beyond = 0;  ///< that may be beyond the tolerance
  std::uint64_t first = 0;
};

Differing differing(const spec::ArrayTree& a, const spec::ArrayTree& b) {
  Differing found;
  if (a.root == b.root) return found;
  for (std::size_t i = 0; i < a.chunks.size(); ++i) {
    if (a.chunks[i].exact == b.chunks[i].exact) continue;
    if (found.chunks++ == 0) found.first = i;
    if (!is_within(a.chunks[i], b.chunks[i])) ++found.beyond;
  }
  return found;
}

Finding compare_tree(const spec::ArrayTree& a,
                     const spec::ArrayTree& b,
                     const SaidTolerance& recipe,
                     const spec::Tolerance& asked) {
  const base::ArrayInfo info = info_of(a);
  Finding finding;
  spec::ItemComparison& item = finding.item;
  item.tolerance = applied_tolerance(info.type, recipe, asked);
  item.compared = info.elements();
  const Differing found = differing(a, b);
  item.different = found.chunks;  // at least one value of each
  if (found.chunks == 0) {
    for (const spec::ChunkDigest& chunk : a.chunks)
      item.nan_pairs += chunk.nans.value_or(0);
    item.strongest = spec::Rung::bitwise;
    return finding;
  }
  const std::uint64_t from = found.first * a.chunk;
  const std::uint64_t to = std::min(from + a.chunk, info.elements()) - 1;
  const bool rounded_to_it = a.absolute == b.absolute && a.relative == b.relative &&
                             a.absolute <= *item.tolerance.absolute &&
                             a.relative <= *item.tolerance.relative;
  const bool holds = rounded_to_it && found.beyond == 0;
  if (holds) item.strongest = spec::Rung::tolerance;
  item.structure = fmt::format(
      "{} of {} chunks differ, the first of them {} to {}{} (by digests: the values are gone)",
      found.chunks,
      a.chunks.size(),
      index_text(index_of(from, info)),
      index_text(index_of(to, info)),
      holds ? ", and the tolerance holds" : "");
  item.undecided = "only digests are left of its values, which do not tell how far apart they are";
  return finding;
}

}  // namespace

Findings compare_trees(const std::string& name,
                       const spec::OutputTrees& a,
                       const spec::OutputTrees& b,
                       const SaidTolerance& recipe,
                       const spec::Tolerance& asked) {
  Findings findings;
  UnreadableArrays unreadable;
  const auto name_of = [&](const spec::ArrayTree& tree) {
    return name + ":/" + base::printable(tree.path);
  };
  const auto add = [&](const spec::ArrayTree& tree, Finding finding) {
    finding.item.name = name_of(tree);
    findings.items.push_back(std::move(finding));
  };
  const auto add_single = [&](const spec::ArrayTree& tree, const char* side) {
    if (is_added_by_reader(tree.path)) {
      unreadable.add(name_of(tree),
                     fmt::format("is known {}: an earlier sabath did not look at it", side));
    } else {
      add(tree, structural(side, info_of(tree).elements()));
    }
  };
  const auto add_both = [&](const spec::ArrayTree& in_a, const spec::ArrayTree& in_b) {
    const std::string& why = in_a.unreadable.empty() ? in_b.unreadable : in_a.unreadable;
    if (!why.empty()) return unreadable.add(name_of(in_a), why);
    const std::string structure = structural_difference(info_of(in_a), info_of(in_b));
    if (!structure.empty()) return add(in_a, structural(structure, 0));
    if (!are_cut_alike(in_a, in_b))
      return unreadable.add(name_of(in_a), "was cut into other chunks on each side");
    Finding finding = compare_tree(in_a, in_b, recipe, asked);
    if (is_all_nan(finding.item) && !in_a.is_attribute) unreadable.add(name_of(in_a), only_nan);
    add(in_a, std::move(finding));
  };
  pair_by_name(a.arrays, b.arrays, add_single, add_both);
  findings.not_evaluated = unreadable.take(name);
  if (hold_nothing(a) && hold_nothing(b)) findings.not_evaluated.push_back(nothing_held_text(name));
  return findings;
}

EqualChunks::EqualChunks(const spec::OutputTrees* a,
                         const spec::OutputTrees* b,
                         const base::ArrayInfo& array)
    : elements_(array.elements()) {
  if (a == nullptr || b == nullptr) return;
  const auto find = [&](const spec::OutputTrees& trees) {
    const auto key = [](const spec::ArrayTree& tree) {
      return std::tie(tree.path, tree.is_attribute);
    };
    const auto found = std::ranges::lower_bound(trees.arrays, key_of(array), {}, key);
    return found != trees.arrays.end() && key(*found) == key_of(array) ? &*found : nullptr;
  };
  const spec::ArrayTree* const of_a = find(*a);
  const spec::ArrayTree* const of_b = find(*b);
  if (of_a == nullptr || of_b == nullptr || !are_cut_alike(*of_a, *of_b)) return;
  if (of_a->type != base::to_string(array.type) || of_a->shape != array.shape ||
      of_a->column_major != array.column_major ||
      of_a->chunks.size() != (elements_ + of_a->chunk - 1) / of_a->chunk) {
    return;
  }
  a_ = of_a;
  b_ = of_b;
}

EqualChunks::Stretch EqualChunks::from(std::uint64_t first) const {
  Stretch equal;
  if (a_ == nullptr) return equal;
  for (std::size_t i = first / a_->chunk; i < a_->chunks.size(); ++i) {
    if (a_->chunks[i].exact != b_->chunks[i].exact) break;
    equal.elements = std::min((i + 1) * a_->chunk, elements_) - first;
    equal.nans += a_->chunks[i].nans.value_or(0);
  }
  return equal;
}

std::uint64_t EqualChunks::to_boundary(std::uint64_t first) const {
  return a_ == nullptr ? std::numeric_limits<std::uint64_t>::max() : a_->chunk - first % a_->chunk;
}

}  // namespace sabath::compare
