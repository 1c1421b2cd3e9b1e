#include "array_findings.hpp"

#include <fmt/format.h>

#include <utility>

namespace sabath::compare {
namespace {

constexpr std::size_t most_named = 3;

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return shape.empty() ? "a scalar" : fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

std::vector<std::uint64_t> index_of(std::uint64_t flat, const base::ArrayInfo& array) {
  std::vector<std::uint64_t> index(array.shape.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const std::size_t axis = array.column_major ? i : index.size() - 1 - i;
    index[axis] = flat % array.shape[axis];
    flat /= array.shape[axis];
  }
  return index;
}

std::string index_text(const std::vector<std::uint64_t>& index) {
  return index.empty() ? "its value" : fmt::format("[{}]", fmt::join(index, ", "));
}

std::string structural_difference(const base::ArrayInfo& a, const base::ArrayInfo& b) {
  if (a.type != b.type) {
    return fmt::format("{} in A, {} in B", base::to_string(a.type), base::to_string(b.type));
  }
  if (a.shape == b.shape) return {};
  return fmt::format("shape {} in A, {} in B", shape_text(a.shape), shape_text(b.shape));
}

Finding structural(std::string structure, std::uint64_t missing) {
  Finding finding;
  finding.item.structure = std::move(structure);
  finding.item.missing = missing;
  return finding;
}

void UnreadableArrays::add(const std::string& name, const std::string& why) {
  if (++count_ <= most_named) texts_.push_back(fmt::format("{} {}", name, why));
}

std::vector<std::string> UnreadableArrays::take(const std::string& output) {
  if (count_ > most_named) {
    texts_.push_back(fmt::format("{} more arrays{} cannot be judged",
                                 count_ - most_named,
                                 output.empty() ? "" : " of " + output));
  }
  return std::move(texts_);
}

}  // namespace sabath::compare
