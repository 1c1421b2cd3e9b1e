#include "documents/document_json.hpp"

#include <sabath/spec/explanation.hpp>

namespace sabath::spec {

// As a comparison, it is only written.

static void describe(FieldWriter& io, const Change& change) {
  io("name", change.name);
  io("a", change.a);
  io("b", change.b);
}

static void describe(FieldWriter& io, const Hybrid& hybrid) {
  io("changes", hybrid.changes);
  io("run", hybrid.run);
  io("reused", hybrid.reused);
  io("verdict", hybrid.verdict);
  io("reason", hybrid.reason);
  io("against_b", hybrid.against_b);
}

static void describe(FieldWriter& io, const SufficientChanges& sufficient) {
  io("changes", sufficient.changes);
  io("minimal", sufficient.minimal);
  io("confirmed", sufficient.confirmed);
}

static void describe(FieldWriter& io, const UntriedChanges& untried) {
  io("sets", untried.sets);
  io("smallest", untried.smallest);
  io("runs", untried.runs);
  io("seconds", untried.seconds);
  io("most_runs", untried.most_runs);
}

static void describe(FieldWriter& io, const Explanation& explanation) {
  io("a", explanation.a);
  io("b", explanation.b);
  io("verdict", explanation.verdict);
  io("verdict_reason", explanation.verdict_reason);
  io("changes", explanation.changes);
  io("impossible", explanation.impossible);
  io("hybrids", explanation.hybrids);
  io("sufficient", explanation.sufficient);
  io("complete", explanation.complete);
  io("assumed", explanation.assumed);
  io("necessary", explanation.necessary);
  io("maybe_necessary", explanation.maybe_necessary);
  io("masking", explanation.masking);
  io("failed", explanation.failed);
  io("unresolved", explanation.unresolved);
  io("untried", explanation.untried);
  io("cause", explanation.cause);
  io("reason", explanation.reason);
}

nlohmann::ordered_json to_json(const Explanation& explanation) {
  return document_of(explanation);
}

}  // namespace sabath::spec
