#pragma once

#include "checked_read.hpp"
#include "fields_json.hpp"

#include <sabath/spec/group_comparison.hpp>

namespace sabath::spec {

struct RankingSeedsForm {
  using Value = RankingSeeds;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, RankingSeeds> seeds) {
    io("at_least", seeds.at_least, CountRule{1, 1'000'000, always}, "distinct seeds of a group");
    io("same", seeds.same, FlagRule{}, "must all groups have the seeds that most of them have?");
  }
};

struct RankingTargetForm {
  using Value = RankingTarget;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, RankingTarget> target) {
    io("metric", target.metric, filled_line, "the one that is ranked where not given");
    io("at_most", target.at_most, AmountRule{.may_be_negative = true});
    io("at_least", target.at_least, AmountRule{.may_be_negative = true});
  }
  static void check(RankingTarget& target, base::JsonReader& reader);
};

/// The rules of a ranking.
struct RankingForm {
  using Value = RankingRules;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, RankingRules> rules) {
    io("metric",
       rules.metric,
       filled_line,
       "NAME or STAGE/NAME; the recipe's first with a target or a direction where not given");
    io("better",
       rules.better,
       TextRule{.pattern = "lower|higher",
                .problem = "'%' is not a direction",
                .hint = "one of lower, higher"},
       "of a metric whose recipe does not say it");
    io("by",
       rules.by,
       ListRule<TextRule>{.item = filled_line, .may_be_empty = false},
       "keys whose values make the groups; the parameters that vary where not given");
    io("fixed",
       rules.fixed,
       ListRule<TextRule>{.item = filled_line},
       "keys that must have one value: that of most runs; others are excluded");
    io("seeds", rules.seeds, PartRule<RankingSeedsForm>{});
    io("target", rules.target, PartRule<RankingTargetForm>{}, "that each run of a group reaches");
    io("margin",
       rules.margin,
       AmountRule{},
       "means within it count as equal; that of the recipe where not given");
  }
  static void check(RankingRules& rules, base::JsonReader& reader);
};

}  // namespace sabath::spec
