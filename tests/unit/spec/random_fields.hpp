#pragma once

#include "spec/documents/fields_json.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace sabath::test {

using spec::ParameterValue;

/// Fills described values with anything that their types allow. What must look the same after a
/// round trip through JSON, NaN apart, is compared with ==.
class RandomFields {
 public:
  template <class T>
  using Ref = T&;

  explicit RandomFields(unsigned seed) : engine_(seed) {}

  template <class T>
  T value() {
    if constexpr (std::is_same_v<T, double>) {
      return real();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return text();
    } else if constexpr (std::is_same_v<T, bool>) {
      return below(2) == 1;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(engine_());
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(below(words_of(T{}).size()));
    } else if constexpr (std::is_same_v<T, base::Digest>) {
      return below(4) == 0 ? base::Digest{} : base::sha256_of(text());
    } else if constexpr (std::is_same_v<T, ParameterValue>) {
      return parameter_value();
    } else if constexpr (std::is_same_v<T, std::chrono::seconds>) {
      return std::chrono::seconds(below(100000));
    } else if constexpr (spec::is_vector<T>) {
      T vector;
      for (std::size_t i = below(3); i > 0; --i)
        vector.push_back(value<typename T::value_type>());
      return vector;
    } else if constexpr (spec::is_map<T>) {
      T map;
      for (std::size_t i = below(3); i > 0; --i)
        map[text()] = value<typename T::mapped_type>();
      return map;
    } else {
      T described;
      describe(*this, described);
      return described;
    }
  }

  template <class T>
  void operator()(const char*, T& member, const char* = "") {
    member = value<T>();
  }
  template <class T>
  void operator()(const char*, std::optional<T>& member, const char* = "") {
    if (below(2) == 1) member = value<T>();
  }

  std::size_t below(std::size_t limit) { return engine_() % limit; }

 private:
  /// Any bits, so that subnormal and huge numbers come too; infinities now and then.
  double real() {
    if (below(8) == 0) return std::numeric_limits<double>::infinity() * (below(2) == 0 ? 1 : -1);
    const auto any = std::bit_cast<double>(engine_());
    return std::isfinite(any) ? any : -0.0;
  }

  ParameterValue parameter_value() {
    switch (below(4)) {
      case 0:
        return below(2) == 1;
      case 1:
        return static_cast<std::int64_t>(engine_());
      case 2:
        return static_cast<double>(below(100));
      default:
        return text();
    }
  }

  std::string text() {
    static const std::array<std::string, 8> parts{
        "a", "Z9", " ", "\"\\/", "\n\t", "\xc3\xa9", "\xf0\x9f\x8c\xa9", std::string(1, '\0')};
    std::string result;
    for (std::size_t i = below(6); i > 0; --i)
      result += parts[below(parts.size())];
    return result;
  }

  std::mt19937_64 engine_;
};

}  // namespace sabath::test
