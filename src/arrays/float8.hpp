#pragma once

#include <array>

namespace sabath::arrays {

/// What each byte is worth as a number of 32 bits, which hold all of the 8-bit formats exactly.
/// Different bytes give different bits, those that are no number too.
using Float8Table = std::array<float, 256>;

/// The formats of "FP8 Formats for Deep Learning" (arXiv 2209.05433), as ONNX and PyTorch call
/// them: `fn` has no infinity, `uz` no negative zero. E8M0 are the scales of OCP's MX formats.
const Float8Table& float8_e4m3fn();
const Float8Table& float8_e4m3fnuz();
const Float8Table& float8_e5m2();
const Float8Table& float8_e5m2fnuz();
const Float8Table& float8_e8m0();

}  // namespace sabath::arrays
