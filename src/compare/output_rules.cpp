#include "result_items.hpp"

#include <sabath/spec/output_rule.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::compare {
namespace {

spec::OutputRule rule_of(const std::map<std::string, spec::OutputRule>& rules,
                         const std::string& output) {
  const auto slash = output.find('/');
  return spec::rule_for(rules, output.substr(0, slash), output.substr(slash + 1));
}

std::string text_of(const spec::OutputRule& rule) {
  if (!rule.raw) return rule.as;
  return fmt::format("{} ({}{} [{}])",
                     rule.as,
                     base::to_string(rule.raw->type),
                     rule.raw->big_endian ? ", big-endian" : "",
                     fmt::join(rule.raw->shape, ", "));
}

}  // namespace

OutputRules rules_for(const Rules& rules, const std::string& output) {
  OutputRules found;
  found.rule = rule_of(rules.outputs, output);
  found.tolerance.one = found.rule.tolerance;
  if (!rules.outputs_of_b) return found;
  const spec::OutputRule of_b = rule_of(*rules.outputs_of_b, output);
  if (of_b.tolerance != found.rule.tolerance) found.tolerance.other = of_b.tolerance;
  std::string a = text_of(found.rule);
  std::string b = text_of(of_b);
  if (!a.empty() && !b.empty() && a != b) {
    if (b < a) std::swap(a, b);
    found.conflict = fmt::format("one recipe declares it as {}, the other as {}", a, b);
  }
  for (const auto& [array, kind] : of_b.predictions) {
    const auto [known, is_new] = found.rule.predictions.try_emplace(array, kind);
    if (!is_new) known->second = std::min(known->second, kind);
  }
  if (found.rule.as.empty()) {
    found.rule.as = of_b.as;
    found.rule.raw = of_b.raw;
  }
  return found;
}

}  // namespace sabath::compare
