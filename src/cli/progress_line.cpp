#include "progress_line.hpp"

#include <sabath/base/text/display_width.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <chrono>
#include <vector>

namespace sabath::cli {
namespace {

constexpr std::chrono::seconds window(5);
constexpr std::size_t short_name = 12;  ///< columns that a name gets before anything else goes

std::string amount(std::uint64_t value, bool in_bytes) {
  return in_bytes ? base::format_bytes(value) : std::to_string(value);
}

/// Of what is counted one by one, a tenth says more than none: "0.4/s".
std::string rate_text(double rate, bool in_bytes) {
  if (in_bytes || rate >= 10) return amount(static_cast<std::uint64_t>(rate), in_bytes) + "/s";
  return rate < 0.05 ? std::string() : fmt::format("{:.1f}/s", rate);
}

std::string time_left(double seconds) {
  constexpr double longest = 100.0 * 3600;
  if (seconds > longest) return {};
  return base::format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9))) +
         " left";
}

/// The most important first.
std::vector<std::string> facts_of(const base::Progress& progress, const Pace& pace) {
  std::vector<std::string> facts{amount(progress.done, progress.in_bytes)};
  if (progress.total) facts.front() += " of " + amount(*progress.total, progress.in_bytes);
  const auto rate = pace.per_second();
  const std::string pace_text = rate ? rate_text(*rate, progress.in_bytes) : std::string();
  if (!pace_text.empty()) facts.push_back(pace_text);
  if (rate && *rate > 0 && progress.total && *progress.total > progress.done) {
    const std::string left =
        time_left(static_cast<double>(*progress.total - progress.done) / *rate);
    if (!left.empty()) facts.push_back(left);
  }
  if (progress.total && *progress.total > 0) {
    facts.push_back(std::to_string(progress.done * 100 / *progress.total) + "%");
  }
  if (progress.connections > 0) facts.push_back(base::counted(progress.connections, "connection"));
  if (progress.sources > 1) facts.push_back(base::counted(progress.sources, "mirror"));
  return facts;
}

}  // namespace

void Pace::note(base::SteadyTime now, std::uint64_t done) {
  // A file that was begun anew has less than before.
  if (!samples_.empty() && done < samples_.back().done) samples_.clear();
  samples_.push_back({now, done});
  while (samples_.size() > 2 && now - samples_[1].time >= window)
    samples_.pop_front();
}

std::optional<double> Pace::per_second() const {
  if (samples_.size() < 2) return std::nullopt;
  const std::chrono::duration<double> time = samples_.back().time - samples_.front().time;
  if (time.count() < 0.5) return std::nullopt;
  return static_cast<double>(samples_.back().done - samples_.front().done) / time.count();
}

std::string progress_line(const base::Progress& progress, const Pace& pace, std::size_t columns) {
  const std::string name = base::printable(progress.task);
  std::vector<std::string> facts = facts_of(progress, pace);
  const auto text_of = [&] {
    std::string text;
    for (const std::string& fact : facts)
      text += "  " + fact;
    return text;
  };
  const std::size_t wanted = std::min(base::display_width(name), short_name);
  while (facts.size() > 1 && base::display_width(text_of()) + wanted > columns)
    facts.pop_back();
  const std::string text = text_of();
  const std::size_t width = base::display_width(text);
  if (width >= columns) return base::cut_to_width(text.substr(2), columns);
  return base::cut_to_width(name, columns - width) + text;
}

}  // namespace sabath::cli
