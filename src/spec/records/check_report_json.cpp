#include "baseline_json.hpp"
#include "documents/document_json.hpp"
#include "run_count_json.hpp"

#include <sabath/spec/check_report.hpp>

namespace sabath::spec {

// As a comparison, it is only written.

static void describe(FieldWriter& io, const CheckCase& one) {
  io("kind", one.kind);
  io("name", one.name);
  io("verdict", one.verdict);
  io("counts_as", one.counts_as());
  io("test", one.test);
  io("reason", one.reason);
  io("expectation", one.expectation);
  io("wall_s", one.wall_s);
}

static void describe(FieldWriter& io, const CheckGroup& group) {
  io("recipe", group.recipe);
  io("of", group.of);
  io("runs", group.runs);
  io("against", group.against);
  io("cases", group.cases);
  io("notes", group.notes);
  io("result", group.result);
  io("performance", group.performance);
  io("verdict", group.verdict);
  io("reason", group.reason);
}

static void describe(FieldWriter& io, const CheckReport& report) {
  io("what", report.what);
  io("baseline", report.baseline);
  io("count", report.runs);
  io("groups", report.groups);
  io("notes", report.notes);
  io("result", report.result);
  io("performance", report.performance);
  io("verdict", report.verdict);
  io("reason", report.reason);
}

nlohmann::ordered_json to_json(const CheckReport& report) {
  return document_of(report);
}

}  // namespace sabath::spec
