#include "assignment.hpp"

#include <algorithm>
#include <limits>

namespace sabath::fetch {

namespace {

/// A request costs one response time, in which its connection idles: 5 % of 20 response times.
constexpr double responses_per_range = 20;
/// Smallest range of a request.
constexpr std::uint64_t least_share_bytes = 128U << 10U;
constexpr std::uint64_t share_unit_bytes = 64U << 10U;
/// Cost of a request beyond the response time.
constexpr double overhead_seconds = 0.002;

std::optional<base::ByteRange> lowest_gap(const Coverage& there,
                                          std::uint64_t size_bytes,
                                          const std::vector<InUse>& in_use) {
  std::vector<base::ByteRange> taken;
  for (const InUse& each : in_use)
    taken.push_back(each.rest);
  std::ranges::sort(taken, {}, &base::ByteRange::begin);
  std::uint64_t begin = there.first_missing(0);
  for (const base::ByteRange& range : taken) {
    const std::uint64_t end = std::min(range.begin, there.first_present(begin));
    if (begin < end) return base::ByteRange{begin, end};
    begin = there.first_missing(std::max(begin, range.end));
  }
  const std::uint64_t end = std::min(size_bytes, there.first_present(begin));
  if (begin >= end) return {};
  return base::ByteRange{begin, end};
}

std::uint64_t range_length(std::uint64_t piece_bytes, const Applicant& applicant) {
  if (applicant.rate <= 0) return std::max(piece_bytes, first_range_bytes);
  const double worthwhile = responses_per_range * applicant.response_seconds * applicant.rate;
  return std::max(piece_bytes, static_cast<std::uint64_t>(worthwhile));
}

/// Ends a range at the end of a piece, so that pieces come from one source where possible.
base::ByteRange shortened(base::ByteRange gap, std::uint64_t length, std::uint64_t piece_bytes) {
  if (gap.size() <= length) return gap;
  const std::uint64_t end = (gap.begin + length) / piece_bytes * piece_bytes;
  return {gap.begin, std::min(gap.end, end > gap.begin ? end : gap.begin + piece_bytes)};
}

double seconds_left(const InUse& each) {
  if (each.is_fresh) return 0;
  if (each.rate <= 0) return std::numeric_limits<double>::max();
  return static_cast<double>(each.rest.size()) / each.rate;
}

/// Returns the time until the file is complete, at the current rates.
double seconds_to_end(std::uint64_t missing_bytes, const std::vector<InUse>& in_use) {
  double rate = 0;
  for (const InUse& each : in_use)
    rate += each.rate;
  return static_cast<double>(missing_bytes) / rate;
}

/// Returns a part of the work of the slowest connection if it needs `patience` seconds or more.
std::optional<Assignment> share(std::uint64_t piece_bytes,
                                const std::vector<InUse>& in_use,
                                const Applicant& applicant,
                                double patience) {
  const auto slowest = std::ranges::max_element(
      in_use, [](const InUse& a, const InUse& b) { return seconds_left(a) < seconds_left(b); });
  if (slowest == in_use.end() || slowest->is_fresh) return {};
  // Two connections without a byte would take work from each other for ever.
  if (slowest->rate <= 0 && applicant.rate <= 0) return {};
  const double worthwhile = 2 * (applicant.response_seconds + overhead_seconds);
  if (seconds_left(*slowest) < std::max(worthwhile, patience)) return {};
  const base::ByteRange rest = slowest->rest;
  const auto its_place = static_cast<std::size_t>(slowest - in_use.begin());
  const double mine = applicant.rate > 0 ? applicant.rate : std::max(slowest->rate, 1.0);
  if (slowest->rate > 0 && rest.size() < 2 * least_share_bytes) {
    // Too little for two: all of it, from a connection that the server lets wait.
    const double whole = worthwhile + static_cast<double>(rest.size()) / mine;
    if (seconds_left(*slowest) < 2 * whole) return {};
    return Assignment{rest, its_place};
  }
  const double kept = static_cast<double>(rest.size()) * slowest->rate / (slowest->rate + mine);
  std::uint64_t begin = rest.begin + static_cast<std::uint64_t>(kept);
  const std::uint64_t unit = rest.size() > 8 * piece_bytes ? piece_bytes : share_unit_bytes;
  if (slowest->rate > 0) begin = (begin + unit - 1) / unit * unit;
  if (begin >= rest.end || rest.end - begin < std::min(least_share_bytes, rest.size())) return {};
  return Assignment{{begin, rest.end}, its_place};
}

}  // namespace

std::optional<Assignment> assign(const Coverage& there,
                                 std::uint64_t size_bytes,
                                 std::uint64_t piece_bytes,
                                 const std::vector<InUse>& in_use,
                                 const Applicant& applicant) {
  const auto gap = lowest_gap(there, size_bytes, in_use);
  if (!gap) return share(piece_bytes, in_use, applicant, 0);
  // A silent source may still need its connection.
  const bool all_deliver =
      std::ranges::all_of(in_use, [](const InUse& each) { return each.rate > 0 || each.is_fresh; });
  if (all_deliver) {
    const double patience = seconds_to_end(size_bytes - there.bytes(), in_use) / 2;
    if (const auto shared = share(piece_bytes, in_use, applicant, patience)) return shared;
  }
  return Assignment{shortened(*gap, range_length(piece_bytes, applicant), piece_bytes), {}};
}

}  // namespace sabath::fetch
