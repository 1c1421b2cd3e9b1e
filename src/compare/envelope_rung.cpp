#include "envelope_rung.hpp"

#include "arrays/series_pair.hpp"
#include "output_rules.hpp"
#include "statistics/number_format.hpp"

#include <sabath/base/error.hpp>
#include <sabath/compare/envelope.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace sabath::compare {
namespace {

using base::ArrayInfo;
using base::ArrayType;
using base::Error;
using base::ErrorKind;

/// So many elements of each run are in memory at a time.
constexpr std::uint64_t block_elements = 1 << 16;

/// The reference, what is held against it, and the reruns.
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

/// Where a rerun is not finite nothing can be said, unless the envelope is left elsewhere.
void settle(Finding& finding, EnvelopeFinding found, bool is_required) {
  if (!found.outside && !found.unbounded.empty()) {
    if (is_required) {
      finding.item.undecided = fmt::format(
          "there is no envelope at {}, a perturbed rerun or the reference is not finite there",
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
                  side->record.run_id + ": a perturbed rerun without " + finding.item.name);
    }
    reruns.push_back(series);
  }
  settle(finding,
         hold_to_envelope(*reference, *other, reruns, finding.item.tolerance, sides.reference_is_a),
         sides.is_required);
}

// ---- arrays

template <class T>
void widen(const std::vector<std::byte>& bytes, std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    values[i] = static_cast<double>(value);
  }
}

template <class Format>
void widen_bits(const std::vector<std::byte>& bytes, std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    typename Format::Bits bits{};
    std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
    values[i] = Format::value(bits);
  }
}

/// As doubles.
std::vector<double> read_numbers(base::ArraySource& source,
                                 const ArrayInfo& info,
                                 std::uint64_t first,
                                 std::uint64_t count) {
  std::vector<std::byte> bytes(count * base::size_of(info.type));
  std::vector<double> values(count);
  source.read(info, first, count, bytes);
  switch (info.type) {
    case ArrayType::float64:
      widen<double>(bytes, values);
      break;
    case ArrayType::float32:
      widen<float>(bytes, values);
      break;
    case ArrayType::float16:
      widen_bits<Float16>(bytes, values);
      break;
    case ArrayType::bfloat16:
      widen_bits<Bfloat16>(bytes, values);
      break;
    case ArrayType::int64:
      widen<std::int64_t>(bytes, values);
      break;
    case ArrayType::int32:
      widen<std::int32_t>(bytes, values);
      break;
    case ArrayType::int16:
      widen<std::int16_t>(bytes, values);
      break;
    case ArrayType::int8:
      widen<std::int8_t>(bytes, values);
      break;
    case ArrayType::uint64:
      widen<std::uint64_t>(bytes, values);
      break;
    case ArrayType::uint32:
      widen<std::uint32_t>(bytes, values);
      break;
    case ArrayType::uint16:
      widen<std::uint16_t>(bytes, values);
      break;
    case ArrayType::uint8:
      widen<std::uint8_t>(bytes, values);
      break;
    case ArrayType::text:
    case ArrayType::opaque:
      throw Error(ErrorKind::internal, info.path + ": has no numbers to hold against an envelope");
  }
  return values;
}

/// Is every whole number one that a double holds exactly?
bool are_exact(ArrayType type, const std::vector<double>& values) {
  constexpr double largest_whole = 9007199254740992.0;  // 2^53
  if (type != ArrayType::int64 && type != ArrayType::uint64) return true;
  return std::all_of(
      values.begin(), values.end(), [](double value) { return std::abs(value) < largest_whole; });
}

/// An array of one run's output, ready to be read.
struct OpenArray {
  std::unique_ptr<base::ArraySource> source{};
  ArrayInfo info{};
};

/// Nothing where the run has no such array, or its content is not there.
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

std::string index_text(std::uint64_t position, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = shape[axis] == 0 ? 0 : position % shape[axis];
    position = shape[axis] == 0 ? 0 : position / shape[axis];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

class HeldArray {
 public:
  HeldArray(const Sides& sides, const Rules& rules, const spec::ItemComparison& item)
      : sides_(sides), rules_(rules), item_(item) {}

  /// False where there are no numbers to be read.
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

  /// Were all of its whole numbers held as they are?
  bool is_exact() const { return is_exact_; }

 private:
  void look(std::uint64_t from, std::uint64_t count, EnvelopeFinding& found) {
    std::vector<std::vector<double>> values;
    for (OpenArray& array : arrays_) {
      values.push_back(read_numbers(*array.source, array.info, from, count));
      is_exact_ = is_exact_ && are_exact(array.info.type, values.back());
    }
    const std::vector<double> reference = std::move(values[0]);
    const std::vector<double> other = std::move(values[1]);
    values.erase(values.begin(), values.begin() + 2);
    std::vector<double> floors(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double largest = std::max(std::abs(reference[i]), std::abs(other[i]));
      const auto& tolerance = item_.tolerance;
      floors[i] = std::isfinite(largest) ? *tolerance.absolute + *tolerance.relative * largest : 0;
    }
    const Leaving leaving = find_leaving(make_envelope(reference, values), other, 10, floors);
    const auto& shape = arrays_.front().info.shape;
    if (leaving.unbounded && found.unbounded.empty())
      found.unbounded = index_text(from + *leaving.unbounded, shape);
    const auto at = leaving.outside;
    if (!at) return;
    const double a = sides_.reference_is_a ? reference[*at] : other[*at];
    const double b = sides_.reference_is_a ? other[*at] : reference[*at];
    const Difference difference =
        Float64::difference(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b));
    found.outside = spec::Divergence{index_text(from + *at, shape),
                                     static_cast<std::int64_t>(from + *at),
                                     a,
                                     b,
                                     difference.relative,
                                     difference.ulps};
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

void add_envelope(const Side& a,
                  const Side& b,
                  const Rules& rules,
                  const Options& options,
                  Findings& metrics,
                  Findings& outputs) {
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
