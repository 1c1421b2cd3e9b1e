#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/comparison.hpp>

namespace sabath::spec {

void describe(FieldWriter& io, const PerformanceRow& row);

}  // namespace sabath::spec
