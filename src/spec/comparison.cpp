#include <sabath/spec/comparison.hpp>

#include <fmt/format.h>

#include <array>

namespace sabath::spec {

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 4> words{
      "PASS", "FAIL", "INCONCLUSIVE", "NOT-COMPARABLE"};
  return words.at(static_cast<std::size_t>(verdict));
}

std::string_view to_string(Repetition repetition) {
  static constexpr std::array<std::string_view, 6> words{
      "repeat", "resample", "reproduce", "revise", "replicate", "different"};
  return words.at(static_cast<std::size_t>(repetition));
}

std::string_view to_string(PerformanceKind kind) {
  static constexpr std::array<std::string_view, 4> words{
      "whole_run", "speed", "time_to_quality", "quality"};
  return words.at(static_cast<std::size_t>(kind));
}

std::string Divergence::text_a() const {
  return whole_a ? *whole_a : fmt::format("{}", a);
}

std::string Divergence::text_b() const {
  return whole_b ? *whole_b : fmt::format("{}", b);
}

}  // namespace sabath::spec
