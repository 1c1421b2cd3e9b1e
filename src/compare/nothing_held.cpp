#include "nothing_held.hpp"

#include "arrays/value_differences.hpp"
#include "tolerance.hpp"

#include <algorithm>

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
    ValueDifferences differences(info.type, tolerance, count);
    differences.add(block, block);
    if (differences.finish({}).nan_pairs != count) return false;
    at += alike > most ? alike : count;
  }
  return elements > 0;
}

}  // namespace

bool is_added_by_reader(std::string_view path) {
  const std::size_t mark = path.rfind('(');
  return path.ends_with(')') && mark != std::string_view::npos &&
         (mark == 0 || path[mark - 1] == '@');
}

bool hold_nothing(const std::vector<base::ArrayInfo>& arrays) {
  const auto is_array = [](const base::ArrayInfo& info) { return !info.is_attribute; };
  const bool has_arrays = std::ranges::any_of(arrays, is_array);
  return std::ranges::none_of(arrays, [&](const base::ArrayInfo& info) {
    if (info.is_attribute && (has_arrays || is_added_by_reader(info.path))) return false;
    return !info.unreadable.empty() || info.elements() > 0;
  });
}

bool hold_nothing(const spec::OutputTrees& trees) {
  std::vector<base::ArrayInfo> arrays;
  for (const spec::ArrayTree& tree : trees.arrays) {
    arrays.push_back({tree.path, base::ArrayType::opaque, tree.shape, tree.is_attribute});
    arrays.back().unreadable = tree.unreadable;
  }
  return hold_nothing(arrays);
}

std::string nothing_held_text(const std::string& name) {
  return (name.empty() ? "neither file holds a value" : name + " holds no value on either side") +
         ": there is nothing to compare";
}

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
