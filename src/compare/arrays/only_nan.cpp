#include "only_nan.hpp"

#include "statistics/tally.hpp"
#include "tolerance.hpp"

#include <algorithm>
#include <cstddef>

namespace sabath::compare {
namespace {

/// Most arrays have a number among their first values; those that have none are read faster.
constexpr std::uint64_t first_block = 512;
constexpr std::uint64_t nan_block_bytes = 1U << 20U;

bool is_only_nan(base::ArraySource& source, const base::ArrayInfo& info) {
  switch (info.type) {
    case base::ArrayType::float64:
    case base::ArrayType::float32:
    case base::ArrayType::float16:
    case base::ArrayType::bfloat16:
      break;
    default:
      return false;
  }
  const std::uint64_t size = base::size_of(info.type);
  const std::uint64_t elements = info.elements();
  const spec::Tolerance tolerance = applied_tolerance(info.type, {}, {});
  std::vector<std::byte> block;
  for (std::uint64_t at = 0; at < elements;) {
    const std::uint64_t most = at == 0 ? first_block : nan_block_bytes / size;
    const std::uint64_t alike = elements - at > most ? source.unwritten(info, at) : 0;
    const std::uint64_t count = alike > most ? 1 : std::min(most, elements - at);
    block.resize(count * size);
    source.read(info, at, count, block);
    Tally tally(info.type, tolerance, count);
    tally.add(block, block);
    if (tally.finish({}).nan_pairs != count) return false;
    at += alike > most ? alike : count;
  }
  return elements > 0;
}

}  // namespace

std::vector<std::string> arrays_of_only_nan(base::ArraySource& source) {
  std::vector<std::string> paths;
  for (const base::ArrayInfo& info : source.list()) {
    if (!info.is_attribute && info.unreadable.empty() && is_only_nan(source, info))
      paths.push_back(info.path);
  }
  return paths;
}

std::vector<std::string> arrays_of_only_nan(const spec::OutputTrees& trees) {
  std::vector<std::string> paths;
  for (const spec::ArrayTree& tree : trees.arrays) {
    const std::uint64_t elements =
        base::ArrayInfo{tree.path, base::ArrayType::float64, tree.shape}.elements();
    std::uint64_t nans = 0;
    for (const spec::ChunkDigest& chunk : tree.chunks)
      nans += chunk.nans.value_or(0);
    if (!tree.is_attribute && elements > 0 && nans == elements) paths.push_back(tree.path);
  }
  return paths;
}

}  // namespace sabath::compare
