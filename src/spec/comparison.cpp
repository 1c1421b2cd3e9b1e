#include <sabath/spec/comparison.hpp>

#include <fmt/format.h>

namespace sabath::spec {

std::string Divergence::text_a() const {
  return whole_a ? *whole_a : fmt::format("{}", a);
}

std::string Divergence::text_b() const {
  return whole_b ? *whole_b : fmt::format("{}", b);
}

}  // namespace sabath::spec
