#include "written_reports_json.hpp"

#include "documents/document_json.hpp"

// Reports that are only written: a report that is wanted again is made again.

namespace sabath::spec {

nlohmann::ordered_json to_json(const RunCount& count) {
  return FieldWriter::written(count);
}

nlohmann::ordered_json to_json(const Comparison& comparison) {
  return document_of(comparison);
}

nlohmann::ordered_json to_json(const GroupComparison& comparison) {
  return document_of(comparison);
}

nlohmann::ordered_json to_json(const Ranking& ranking) {
  return document_of(ranking);
}

nlohmann::ordered_json to_json(const Explanation& explanation) {
  return document_of(explanation);
}

nlohmann::ordered_json to_json(const CheckReport& report) {
  return document_of(report);
}

}  // namespace sabath::spec
