#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

namespace sabath::cli {

/// How fast a task goes now: over the last seconds, so that a stall shows.
class Pace {
 public:
  void note(base::SteadyTime now, std::uint64_t done);
  /// Nothing until there is half a second to judge by.
  std::optional<double> per_second() const;

 private:
  struct Sample {
    base::SteadyTime time{};
    std::uint64_t done = 0;
  };
  std::deque<Sample> samples_{};
};

/// `name  1.2 GiB of 5.5 GiB  22%  105 MiB/s  42 s left  8 connections  2 mirrors` in at most
/// `columns` columns. The name is cut, and what matters less is left out, until it fits.
std::string progress_line(const base::Progress& progress, const Pace& pace, std::size_t columns);

}  // namespace sabath::cli
