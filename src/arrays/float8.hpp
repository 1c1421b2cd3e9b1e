#pragma once

#include <array>

namespace sabath::arrays {

/// Value of each byte as a 32-bit number, which holds all 8-bit formats exactly. Different bytes
/// give different bits, for NaN too.
using Float8Table = std::array<float, 256>;

/// The formats of "FP8 Formats for Deep Learning" (arXiv 2209.05433), as ONNX and PyTorch call
/// them: `fn` has no infinity, `uz` no negative zero. E8M0 are the scales of OCP's MX formats.
enum class Float8 { e4m3fn, e4m3fnuz, e5m2, e5m2fnuz, e8m0 };

const Float8Table& float8_table(Float8 format);

}  // namespace sabath::arrays
