#include "series_pair.hpp"

#include "arrays/value_differences.hpp"
#include "statistics/number_format.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/envelope.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <tuple>

namespace sabath::compare {
namespace {

enum class KeyKind : std::uint8_t { step, epoch, ordinal };

struct Key {
  std::int64_t epoch = base::no_step;  ///< only where steps begin anew in each
  std::int64_t index = 0;
  std::int32_t rank = 0;
  std::uint32_t occurrence = 0;
  std::uint32_t row = 0;
  KeyKind kind = KeyKind::step;

  auto place() const { return std::tie(kind, epoch, index, rank); }
  auto identity() const { return std::tie(kind, epoch, index, rank, occurrence); }
};

using Keys = std::vector<Key>;

Keys keys_of(const spec::Series& series, bool by_epoch) {
  std::vector<Key> keys(series.size());
  std::map<std::int32_t, std::int64_t> ordinals;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    Key& key = keys[row];
    key.row = static_cast<std::uint32_t>(row);
    key.rank = series.rank[row];
    if (series.step[row] != base::no_step) {
      key.index = series.step[row];
      if (by_epoch) key.epoch = series.epoch[row];
    } else if (series.epoch[row] != base::no_step) {
      key.kind = KeyKind::epoch;
      key.index = series.epoch[row];
    } else {
      key.kind = KeyKind::ordinal;
      key.index = ++ordinals[key.rank];
    }
  }
  const auto before = [](const Key& a, const Key& b) { return a.place() < b.place(); };
  if (!std::ranges::is_sorted(keys, before)) std::ranges::stable_sort(keys, before);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].place() == keys[i - 1].place()) keys[i].occurrence = keys[i - 1].occurrence + 1;
  }
  return keys;
}

/// Does it have the same steps in several epochs? Then it is the order of records that tells them
/// apart, and one that is missing would move all that follow.
bool counts_anew(const spec::Series& series, const Keys& keys) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].kind == KeyKind::step && keys[i].occurrence > 0 &&
        series.epoch[keys[i].row] != series.epoch[keys[i - 1].row]) {
      return true;
    }
  }
  return false;
}

bool has_steps_and_epochs(const spec::Series& series) {
  const auto is_known = [](std::int64_t number) { return number != base::no_step; };
  return std::ranges::all_of(series.step, is_known) && std::ranges::all_of(series.epoch, is_known);
}

struct BothKeys {
  Keys a{};
  Keys b{};
  bool by_epoch = false;
};

BothKeys keys_of(const spec::Series& a, const spec::Series& b) {
  BothKeys keys{keys_of(a, false), keys_of(b, false)};
  keys.by_epoch = (counts_anew(a, keys.a) || counts_anew(b, keys.b)) && has_steps_and_epochs(a) &&
                  has_steps_and_epochs(b);
  if (!keys.by_epoch) return keys;
  return {keys_of(a, true), keys_of(b, true), true};
}

struct Pair {
  Key key{};  ///< with the row in A
  std::uint32_t row_b = 0;
  std::int64_t epoch = base::no_step;  ///< where both sides say the same
};

/// Two aligned series: pairs in order of time, and points without a partner.
struct Alignment {
  std::vector<Pair> pairs{};
  Keys only_a{};
  Keys only_b{};
  bool by_epoch = false;  ///< steps begin anew in each
};

/// Orders by epoch, then step, for codes that restart steps in each epoch.
void order_by_epoch(std::vector<Pair>& pairs) {
  const auto unknown = [](const Pair& pair) {
    return pair.epoch == base::no_step || pair.key.kind != KeyKind::step;
  };
  const auto before = [](const Pair& x, const Pair& y) {
    return std::tie(x.epoch, x.key.index, x.key.rank) < std::tie(y.epoch, y.key.index, y.key.rank);
  };
  if (std::ranges::any_of(pairs, unknown)) return;
  if (!std::ranges::is_sorted(pairs, before)) std::ranges::stable_sort(pairs, before);
}

Alignment align(const spec::Series& a, const spec::Series& b) {
  const auto [of_a, of_b, by_epoch] = keys_of(a, b);
  Alignment result;
  result.by_epoch = by_epoch;
  result.pairs.reserve(std::min(of_a.size(), of_b.size()));
  auto at_a = of_a.begin();
  auto at_b = of_b.begin();
  while (at_a != of_a.end() && at_b != of_b.end()) {
    if (at_a->identity() < at_b->identity()) {
      result.only_a.push_back(*at_a++);
    } else if (at_b->identity() < at_a->identity()) {
      result.only_b.push_back(*at_b++);
    } else {
      const bool same_epoch = a.epoch[at_a->row] == b.epoch[at_b->row];
      result.pairs.push_back({*at_a, at_b->row, same_epoch ? a.epoch[at_a->row] : base::no_step});
      ++at_a;
      ++at_b;
    }
  }
  result.only_a.insert(result.only_a.end(), at_a, of_a.end());
  result.only_b.insert(result.only_b.end(), at_b, of_b.end());
  order_by_epoch(result.pairs);
  return result;
}

bool has_ranks(const spec::Series& series) {
  return std::ranges::any_of(series.rank, [](auto rank) { return rank != 0; });
}

/// "step 12 (epoch 1, rank 3)"; `epoch` is no_step where it is not known.
std::string place_text(const Key& key, std::int64_t epoch, bool show_rank) {
  constexpr std::array<const char*, 3> nouns{"step", "epoch", "record"};
  std::string text = fmt::format("{} {}", nouns[static_cast<std::size_t>(key.kind)], key.index);
  std::vector<std::string> details;
  if (key.kind == KeyKind::step && epoch != base::no_step) {
    details.push_back(fmt::format("epoch {}", epoch));
  }
  if (show_rank) details.push_back(fmt::format("rank {}", key.rank));
  if (key.occurrence > 0) details.push_back(fmt::format("report {}", key.occurrence + 1));
  if (!details.empty()) text += fmt::format(" ({})", fmt::join(details, ", "));
  return text;
}

std::string missing_text(const Alignment& alignment, bool show_rank) {
  std::vector<std::string> parts;
  for (const auto& [side, keys] :
       {std::pair("A", &alignment.only_a), std::pair("B", &alignment.only_b)}) {
    if (keys->empty()) continue;
    parts.push_back(fmt::format("{} only in {}, first {}",
                                base::counted(keys->size(), "record"),
                                side,
                                place_text(keys->front(), keys->front().epoch, show_rank)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool same_bits(const base::ExactNumber& a, const base::ExactNumber& b) {
  return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value) &&
         a.rest == b.rest;
}

SeriesPlace place_of(const Pair& pair) {
  switch (pair.key.kind) {
    case KeyKind::step:
      return {pair.key.index, pair.epoch, 0};
    case KeyKind::epoch:
      return {base::no_step, pair.key.index, 0};
    case KeyKind::ordinal:
      break;
  }
  return {base::no_step, base::no_step, pair.key.index};
}

/// Last step of each epoch, from pairs in the order of steps.
std::vector<std::pair<std::int64_t, std::int64_t>> epoch_ends_of(const std::vector<Pair>& pairs) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ends;
  for (const Pair& pair : pairs) {
    if (pair.key.kind != KeyKind::step || pair.epoch == base::no_step) continue;
    if (ends.empty() || ends.back().first != pair.epoch) ends.emplace_back(pair.epoch, 0);
    ends.back().second = pair.key.index;
  }
  return ends;
}

/// Values of a rerun in the order of the reference's rows.
std::vector<double> values_by_row(const spec::Series& of_reference, const spec::Series& rerun) {
  const auto [reference, keys, by_epoch] = keys_of(of_reference, rerun);
  const auto same = [](const Key& a, const Key& b) { return a.identity() == b.identity(); };
  if (!std::ranges::equal(reference, keys, same)) {
    throw base::Error(
        base::ErrorKind::usage,
        fmt::format("a perturbed rerun has other steps of {}/{} than its reference ({} and {})",
                    rerun.stream,
                    rerun.name,
                    keys.size(),
                    reference.size()),
        "reruns are made with the same parameters and seed, and --perturb");
  }
  std::vector<double> values(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    values[reference[i].row] = rerun.value[keys[i].row];
  return values;
}

}  // namespace

EnvelopeFinding hold_to_envelope(
    const std::vector<double>& reference,
    const std::vector<double>& other,
    const std::vector<std::vector<double>>& reruns,
    const spec::Tolerance& tolerance,
    bool reference_is_a,
    const std::function<std::pair<std::string, std::int64_t>(std::size_t)>& place_of) {
  std::vector<double> floors;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double largest = std::max(std::abs(reference[i]), std::abs(other[i]));
    floors.push_back(std::isfinite(largest) ? *tolerance.absolute + *tolerance.relative * largest
                                            : 0);
  }
  const Leaving leaving = find_leaving(make_envelope(reference, reruns), other, 10, floors);
  EnvelopeFinding found;
  if (leaving.unbounded) found.unbounded = place_of(*leaving.unbounded).first;
  if (!leaving.outside) return found;
  const double a = (reference_is_a ? reference : other)[*leaving.outside];
  const double b = (reference_is_a ? other : reference)[*leaving.outside];
  const Difference difference =
      Float64::difference(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b));
  const auto [where, position] = place_of(*leaving.outside);
  found.outside = spec::Divergence{where, position, a, b, difference.relative, difference.ulps};
  return found;
}

EnvelopeFinding hold_to_envelope(const spec::Series& reference,
                                 const spec::Series& other,
                                 const std::vector<const spec::Series*>& reruns,
                                 const spec::Tolerance& tolerance,
                                 bool reference_is_a) {
  const std::vector<Pair> pairs = align(reference, other).pairs;
  std::vector<double> of_reference;
  std::vector<double> of_other;
  for (const Pair& pair : pairs) {
    of_reference.push_back(reference.value[pair.key.row]);
    of_other.push_back(other.value[pair.row_b]);
  }
  std::vector<std::vector<double>> of_reruns;
  for (const spec::Series* rerun : reruns) {
    const std::vector<double> by_row = values_by_row(reference, *rerun);
    std::vector<double>& values = of_reruns.emplace_back();
    for (const Pair& pair : pairs)
      values.push_back(by_row[pair.key.row]);
  }
  const bool show_rank = has_ranks(reference) || has_ranks(other);
  const auto place_of = [&](std::size_t at) {
    const auto& [key, row, epoch] = pairs[at];
    return std::pair(place_text(key, epoch, show_rank), key.index);
  };
  return hold_to_envelope(of_reference, of_other, of_reruns, tolerance, reference_is_a, place_of);
}

Finding compare_series(const spec::Series* a,
                       const spec::Series* b,
                       const spec::Tolerance& tolerance,
                       const std::vector<double>* rests_a,
                       const std::vector<double>* rests_b) {
  return compare_series({a, rests_a, true}, {b, rests_b, true}, tolerance);
}

Finding compare_series(const SeriesSide& a, const SeriesSide& b, const spec::Tolerance& tolerance) {
  const spec::Series none;
  const spec::Series& of_a = a.series == nullptr ? none : *a.series;
  const spec::Series& of_b = b.series == nullptr ? none : *b.series;
  const bool show_rank = has_ranks(of_a) || has_ranks(of_b);
  Alignment alignment = align(of_a, of_b);
  if (!b.has_ended) alignment.only_a.clear();
  if (!a.has_ended) alignment.only_b.clear();
  const auto text_at = [&](std::size_t ordinal) {
    const Pair& pair = alignment.pairs[ordinal];
    return place_text(pair.key, pair.epoch, show_rank);
  };
  std::vector<base::ExactNumber> values_a(alignment.pairs.size());
  std::vector<base::ExactNumber> values_b(alignment.pairs.size());
  for (std::size_t i = 0; i < alignment.pairs.size(); ++i) {
    values_a[i] = spec::number_at(of_a, a.rests, alignment.pairs[i].key.row);
    values_b[i] = spec::number_at(of_b, b.rests, alignment.pairs[i].row_b);
  }
  ValueDifferences differences(base::ArrayType::float64, tolerance, alignment.pairs.size());
  differences.add_exact(values_a, values_b);
  Finding finding;
  finding.item = differences.finish([&](spec::Divergence& divergence) {
    const auto ordinal = static_cast<std::size_t>(divergence.position);
    divergence.position = alignment.pairs[ordinal].key.index;
    divergence.where = text_at(ordinal);
    finding.before[divergence.where] = ordinal == 0 ? "" : text_at(ordinal - 1);
  });
  if (!alignment.pairs.empty()) {
    finding.begins_at = place_of(alignment.pairs.front());
    finding.last = text_at(alignment.pairs.size() - 1);
  }
  if (const auto first =
          std::mismatch(values_a.begin(), values_a.end(), values_b.begin(), same_bits);
      first.first != values_a.end()) {
    const auto ordinal = static_cast<std::size_t>(first.first - values_a.begin());
    finding.from_start = ordinal == 0;
    finding.diverges_at = place_of(alignment.pairs[ordinal]);
    finding.item.comes_back = same_bits(values_a.back(), values_b.back());
  }
  finding.counts_anew = alignment.by_epoch;
  if (!alignment.by_epoch) finding.epoch_ends = epoch_ends_of(alignment.pairs);
  finding.item.missing = alignment.only_a.size() + alignment.only_b.size();
  finding.item.structure = missing_text(alignment, show_rank);
  finding.item.strongest = strongest_rung(finding.item);
  return finding;
}

}  // namespace sabath::compare
