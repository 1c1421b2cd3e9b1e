#include <sabath/spec/comparison.hpp>

#include <fmt/format.h>

namespace sabath::spec {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "PASS";
    case Verdict::fail:
      return "FAIL";
    case Verdict::inconclusive:
      return "INCONCLUSIVE";
    case Verdict::not_comparable:
      return "NOT-COMPARABLE";
  }
  return "";
}

std::string_view to_string(Repetition repetition) {
  switch (repetition) {
    case Repetition::repeat:
      return "repeat";
    case Repetition::resample:
      return "resample";
    case Repetition::reproduce:
      return "reproduce";
    case Repetition::revise:
      return "revise";
    case Repetition::replicate:
      return "replicate";
    case Repetition::different:
      return "different";
  }
  return "";
}

std::string_view to_string(PerformanceKind kind) {
  switch (kind) {
    case PerformanceKind::whole_run:
      return "whole_run";
    case PerformanceKind::speed:
      return "speed";
    case PerformanceKind::time_to_quality:
      return "time_to_quality";
    case PerformanceKind::quality:
      return "quality";
  }
  return "";
}

std::string Divergence::text_a() const {
  return whole_a ? *whole_a : fmt::format("{}", a);
}

std::string Divergence::text_b() const {
  return whole_b ? *whole_b : fmt::format("{}", b);
}

}  // namespace sabath::spec
