#include "arrays/array_findings.hpp"
#include "arrays/series_pair.hpp"
#include "result_items.hpp"
#include "statistics/number_format.hpp"

#include <sabath/base/error.hpp>
#include <sabath/compare/envelope.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sabath::compare {
namespace {

using base::ArrayInfo;
using base::ArrayType;
using base::Error;
using base::ErrorKind;

/// Elements of each run in memory at a time.
constexpr std::uint64_t block_elements = 1 << 16;

struct Sides {
  const Side& reference;
  const Side& other;
  const std::vector<const Side*>& reruns;
  bool reference_is_a = true;
  bool is_required = true;  ///< the envelope is; else a rung
};

bool is_held(const Finding& finding) {
  return !finding.item.strongest && finding.item.structure.empty();
}

/// Where a rerun is not finite the item is undecided, unless it leaves the envelope elsewhere.
void settle(Finding& finding, EnvelopeFinding found, bool is_required) {
  if (!found.outside && !found.unbounded.empty()) {
    if (is_required) {
      finding.item.undecided =
          fmt::format("no envelope at {}: a perturbed rerun or the reference is not finite there",
                      found.unbounded);
    }
    return;
  }
  finding.item.within_envelope = !found.outside.has_value();
  finding.item.first_envelope = std::move(found.outside);
}

// ---- metrics

const spec::Series* series_of(const Side& side, const Finding& finding) {
  for (const spec::Series& series : side.series) {
    if (series.stream == finding.stage && series.stream + "/" + series.name == finding.item.name)
      return &series;
  }
  return nullptr;
}

void hold_series(const Sides& sides, Finding& finding) {
  const spec::Series* reference = series_of(sides.reference, finding);
  const spec::Series* other = series_of(sides.other, finding);
  if (reference == nullptr || other == nullptr) return;
  std::vector<const spec::Series*> reruns;
  for (const Side* side : sides.reruns) {
    const spec::Series* series = series_of(*side, finding);
    if (series == nullptr) {
      throw Error(ErrorKind::usage,
                  side->record.run_id + ": this perturbed rerun has no " + finding.item.name,
                  "leave it out of --envelope, or repeat it with the recipe of the others");
    }
    reruns.push_back(series);
  }
  settle(finding,
         hold_to_envelope(*reference, *other, reruns, finding.item.tolerance, sides.reference_is_a),
         sides.is_required);
}

// ---- arrays

std::vector<double> read_as_doubles(base::ArraySource& source,
                                    const ArrayInfo& info,
                                    std::uint64_t first,
                                    std::uint64_t count) {
  std::vector<std::byte> bytes(count * base::size_of(info.type));
  std::vector<double> values(count);
  source.read(info, first, count, bytes);
  const bool are_numbers = with_format(info.type, [&]<class Format>(Format) {
    typename Format::Bits bits{};
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
      values[i] = as_double<Format>(bits);
    }
  });
  if (are_numbers) return values;
  throw Error(ErrorKind::internal, info.path + ": has no numbers to compare with an envelope");
}

/// Whether doubles hold all whole numbers exactly.
bool are_exact(ArrayType type, const std::vector<double>& values) {
  constexpr double largest_whole = 9007199254740992.0;  // 2^53
  if (type != ArrayType::int64 && type != ArrayType::uint64) return true;
  return std::ranges::all_of(values, [](double value) { return std::abs(value) < largest_whole; });
}

struct OpenArray {
  std::unique_ptr<base::ArraySource> source{};
  ArrayInfo info{};
};

/// Returns nothing where the run lacks the array or its content.
std::optional<OpenArray> open_array(const Side& side, const Rules& rules, const std::string& item) {
  for (const auto& [name, output] : side.outputs) {
    if (!item.starts_with(name + ":/") || !output.open) continue;
    OpenArray found{output.open(rules_for(rules, name).rule), {}};
    if (!found.source) return std::nullopt;
    for (const ArrayInfo& info : found.source->list()) {
      if (name + ":/" + info.path != item) continue;
      if (!info.unreadable.empty()) return std::nullopt;
      found.info = info;
      found.info.column_major = false;  // of all runs in one order
      return found;
    }
  }
  return std::nullopt;
}

class HeldArray {
 public:
  HeldArray(const Sides& sides, const Rules& rules, const spec::ItemComparison& item)
      : sides_(sides), rules_(rules), item_(item) {}

  bool open() {
    const auto add = [&](const Side& side) {
      auto array = open_array(side, rules_, item_.name);
      if (!array) return false;
      arrays_.push_back(std::move(*array));
      return true;
    };
    if (!add(sides_.reference) || !add(sides_.other)) return false;
    for (const Side* rerun : sides_.reruns) {
      if (add(*rerun) && arrays_.back().info == arrays_.front().info) continue;
      throw Error(ErrorKind::usage,
                  rerun->record.run_id + ": a perturbed rerun has not the array " + item_.name +
                      " as its reference has it");
    }
    return base::size_of(arrays_.front().info.type) > 0;
  }

  EnvelopeFinding find() {
    EnvelopeFinding found;
    const std::uint64_t elements = arrays_.front().info.elements();
    for (std::uint64_t from = 0; from < elements && !found.outside; from += block_elements)
      look(from, std::min(block_elements, elements - from), found);
    return found;
  }

  bool is_exact() const { return is_exact_; }

 private:
  void look(std::uint64_t from, std::uint64_t count, EnvelopeFinding& found) {
    std::vector<std::vector<double>> values;
    for (OpenArray& array : arrays_) {
      values.push_back(read_as_doubles(*array.source, array.info, from, count));
      is_exact_ = is_exact_ && are_exact(array.info.type, values.back());
    }
    const std::vector<double> reference = std::move(values[0]);
    const std::vector<double> other = std::move(values[1]);
    values.erase(values.begin(), values.begin() + 2);
    const auto place_of = [&](std::size_t i) {
      const auto index = index_of(from + i, arrays_.front().info);
      return std::pair(fmt::format("[{}]", fmt::join(index, ", ")),
                       static_cast<std::int64_t>(from + i));
    };
    EnvelopeFinding part = hold_to_envelope(
        reference, other, values, item_.tolerance, sides_.reference_is_a, place_of);
    if (found.unbounded.empty()) found.unbounded = part.unbounded;
    found.outside = std::move(part.outside);
  }

  const Sides& sides_;
  const Rules& rules_;
  const spec::ItemComparison& item_;
  std::vector<OpenArray> arrays_{};  ///< reference, other, reruns
  bool is_exact_ = true;
};

void hold_array(const Sides& sides, const Rules& rules, Finding& finding) {
  HeldArray array(sides, rules, finding.item);
  const auto undecided = [&](const char* why) {
    if (sides.is_required) finding.item.undecided = why;
  };
  if (!array.open()) {
    return undecided(
        "it is beyond its tolerance, and its values cannot be read again to hold them "
        "against the envelope");
  }
  EnvelopeFinding found = array.find();
  if (!array.is_exact()) {
    return undecided(
        "it is beyond its tolerance, and has whole numbers beyond 2^53, which are not "
        "held against an envelope");
  }
  settle(finding, std::move(found), sides.is_required);
}

}  // namespace

void add_envelope(const PairToCompare& pair, Findings& metrics, Findings& outputs) {
  const auto& [a, b, rules, options] = pair;
  if (options.envelope.empty()) return;
  const bool reference_is_a = options.reference != ReferenceSide::b;
  const Sides sides{reference_is_a ? a : b,
                    reference_is_a ? b : a,
                    options.envelope,
                    reference_is_a,
                    !options.require};
  for (Finding& finding : metrics.items) {
    if (is_held(finding)) hold_series(sides, finding);
  }
  for (Finding& finding : outputs.items) {
    if (is_held(finding)) hold_array(sides, rules, finding);
  }
}

}  // namespace sabath::compare
