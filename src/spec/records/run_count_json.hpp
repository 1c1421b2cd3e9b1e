#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/run_count.hpp>

namespace sabath::spec {

void describe(FieldWriter& io, const LeftOut& left_out);
void describe(FieldWriter& io, const RunCount& count);

}  // namespace sabath::spec
