#pragma once

#include "stirring.h"

// The case number `index` of a sequence without end that fills the space of cases evenly
// (Halton, Numerische Mathematik 2, 1960).
struct stirring_case stirring_case_number(int index);

// Each input of a case, mapped to -1 ... 1; the diffusivity by its logarithm.
void stirring_inputs_of(const struct stirring_case* one, double inputs[stirring_inputs]);
