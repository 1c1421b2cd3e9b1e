#pragma once

#include <sabath/spec/asset.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/run_record.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

// Every value of an enumeration that documents spell, found by overload; the argument only says
// which one.
constexpr auto all_values(AssetKind) {
  return std::array{AssetKind::dataset, AssetKind::model, AssetKind::tool};
}
constexpr auto all_values(LayerKind) {
  return std::array{LayerKind::host,
                    LayerKind::modules,
                    LayerKind::source,
                    LayerKind::pip,
                    LayerKind::conda,
                    LayerKind::container};
}
constexpr auto all_values(Rung) {
  return std::array{Rung::tolerance, Rung::ulp, Rung::bitwise};
}
constexpr auto all_values(Better) {
  return std::array{Better::none, Better::lower, Better::higher};
}
constexpr auto all_values(SourceKind) {
  return std::array{SourceKind::jsonl,
                    SourceKind::regex,
                    SourceKind::key_value,
                    SourceKind::csv,
                    SourceKind::mllog,
                    SourceKind::tensorboard};
}
constexpr auto all_values(RunState) {
  return std::array{RunState::planned,
                    RunState::running,
                    RunState::ok,
                    RunState::failed,
                    RunState::interrupted,
                    RunState::lost,
                    RunState::unknown,
                    RunState::imported};
}

template <class E>
std::optional<E> parse_enum(std::string_view text) {
  for (const E value : all_values(E{})) {
    if (to_string(value) == text) return value;
  }
  return std::nullopt;
}

/// The words of an enumeration, in order.
template <class E>
std::vector<std::string> enum_words() {
  std::vector<std::string> words;
  for (const E value : all_values(E{}))
    words.emplace_back(to_string(value));
  return words;
}

}  // namespace sabath::spec
