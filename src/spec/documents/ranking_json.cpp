#include "ranking_json.hpp"

#include "document_json.hpp"

#include <algorithm>

namespace sabath::spec {

void RankingTargetForm::check(RankingTarget& target, base::JsonReader& reader) {
  if (target.at_most.has_value() != target.at_least.has_value()) return;
  reader.problem(target.at_most ? "has both 'at_most' and 'at_least'" : "has no bound",
                 R"(write {"at_most": 0.02} or {"at_least": 0.9})");
}

void RankingForm::check(RankingRules& rules, base::JsonReader& reader) {
  const auto refuse_seed = [&](const char* key, const std::vector<std::string>& names) {
    if (std::ranges::find(names, "seed") == names.end()) return;
    reader.optional(key).problem(
        "'seed' cannot be here: seeds are the samples of each group",
        R"("seeds": {"at_least": 3, "same": true} says what they must be)");
  };
  refuse_seed("by", rules.by);
  refuse_seed("fixed", rules.fixed);
  for (const std::string& key : rules.fixed) {
    if (std::ranges::find(rules.by, key) == rules.by.end()) continue;
    reader.optional("fixed").problem("'" + key + "' makes the groups, so that it varies",
                                     "remove it from 'fixed' or from 'by'");
  }
}

RankingRules parse_ranking_rules(std::string_view text, const std::string& origin) {
  return parse_document_as<RankingForm>(text, origin);
}

}  // namespace sabath::spec
