#include "run_count_json.hpp"

namespace sabath::spec {

void describe(FieldWriter& io, const LeftOut& left_out) {
  io("reason", left_out.reason);
  io("runs", left_out.runs);
}

void describe(FieldWriter& io, const RunCount& count) {
  io("all", count.all);
  io("counted", count.counted);
  io("left_out", count.left_out);
}

nlohmann::ordered_json to_json(const RunCount& count) {
  return FieldWriter::written(count);
}

}  // namespace sabath::spec
