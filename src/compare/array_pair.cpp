#include "array_pair.hpp"

#include "tally.hpp"
#include "tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace sabath::compare {
namespace {

/// Two of these are all that a comparison of arrays holds of them.
constexpr std::uint64_t block_bytes = 4U << 20U;
constexpr std::size_t shown_text = 60;

std::string type_text(base::ArrayType type) {
  switch (type) {
    case base::ArrayType::float64:
      return "float64";
    case base::ArrayType::float32:
      return "float32";
    case base::ArrayType::float16:
      return "float16";
    case base::ArrayType::bfloat16:
      return "bfloat16";
    case base::ArrayType::int64:
      return "int64";
    case base::ArrayType::int32:
      return "int32";
    case base::ArrayType::int16:
      return "int16";
    case base::ArrayType::int8:
      return "int8";
    case base::ArrayType::uint64:
      return "uint64";
    case base::ArrayType::uint32:
      return "uint32";
    case base::ArrayType::uint16:
      return "uint16";
    case base::ArrayType::uint8:
      return "uint8";
    case base::ArrayType::text:
      return "text";
    case base::ArrayType::opaque:
      break;
  }
  return "opaque";
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return shape.empty() ? "a scalar" : fmt::format("[{}]", fmt::join(shape, ", "));
}

/// "[3, 14, 2]" of a flat row-major index.
std::string index_text(std::uint64_t flat, const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index.empty() ? "its value" : fmt::format("[{}]", fmt::join(index, ", "));
}

std::string shortened(const std::string& text) {
  return text.size() <= shown_text ? text : text.substr(0, shown_text) + "...";
}

class ArrayPair {
 public:
  ArrayPair(base::ArraySource& a,
            base::ArraySource& b,
            const spec::Tolerance& recipe,
            const spec::Tolerance& asked)
      : a_(a), b_(b), recipe_(recipe), asked_(asked) {}

  Finding compare(const base::ArrayInfo& of_a, const base::ArrayInfo& of_b) {
    if (of_a.type != of_b.type) {
      return structural(fmt::format("{} in A, {} in B", type_text(of_a.type), type_text(of_b.type)),
                        0);
    }
    if (of_a.shape != of_b.shape) {
      return structural(
          fmt::format("shape {} in A, {} in B", shape_text(of_a.shape), shape_text(of_b.shape)), 0);
    }
    return base::size_of(of_a.type) == 0 ? texts(of_a, of_b) : numbers(of_a, of_b);
  }

  static Finding structural(std::string structure, std::uint64_t missing) {
    Finding finding;
    finding.item.structure = std::move(structure);
    finding.item.missing = missing;
    return finding;
  }

 private:
  Finding numbers(const base::ArrayInfo& of_a, const base::ArrayInfo& of_b) {
    const std::uint64_t elements = of_a.elements();
    const std::size_t size = base::size_of(of_a.type);
    const std::uint64_t block = std::min<std::uint64_t>(elements, block_bytes / size);
    Tally tally(of_a.type, applied_tolerance(of_a.type, recipe_, asked_), elements);
    buffer_a_.resize(block * size);
    buffer_b_.resize(block * size);
    for (std::uint64_t first = 0; first < elements; first += block) {
      const std::uint64_t count = std::min(block, elements - first);
      const std::span from_a(buffer_a_.data(), count * size);
      const std::span from_b(buffer_b_.data(), count * size);
      a_.read(of_a, first, count, from_a);
      b_.read(of_b, first, count, from_b);
      tally.add(from_a, from_b);
    }
    Finding finding;
    finding.item = tally.finish([&](spec::Divergence& divergence) {
      divergence.where = index_text(static_cast<std::uint64_t>(divergence.position), of_a.shape);
    });
    return finding;
  }

  Finding texts(const base::ArrayInfo& of_a, const base::ArrayInfo& of_b) {
    const std::vector<std::string> from_a = a_.read_text(of_a);
    const std::vector<std::string> from_b = b_.read_text(of_b);
    Finding finding;
    finding.item.compared = std::min(from_a.size(), from_b.size());
    for (std::size_t i = 0; i < finding.item.compared; ++i) {
      if (from_a[i] == from_b[i]) continue;
      if (finding.item.different++ > 0) continue;
      finding.item.structure = fmt::format("'{}' in A, '{}' in B at {}",
                                           shortened(from_a[i]),
                                           shortened(from_b[i]),
                                           index_text(i, of_a.shape));
    }
    finding.item.strongest = strongest_rung(finding.item);
    return finding;
  }

  base::ArraySource& a_;
  base::ArraySource& b_;
  const spec::Tolerance& recipe_;
  const spec::Tolerance& asked_;
  std::vector<std::byte> buffer_a_{};
  std::vector<std::byte> buffer_b_{};
};

auto key_of(const base::ArrayInfo& info) {
  return std::tie(info.path, info.is_attribute);
}

}  // namespace

std::vector<Finding> compare_arrays(const std::string& name,
                                    base::ArraySource& a,
                                    base::ArraySource& b,
                                    const spec::Tolerance& recipe,
                                    const spec::Tolerance& asked) {
  ArrayPair pair(a, b, recipe, asked);
  std::vector<Finding> findings;
  const auto add = [&](const base::ArrayInfo& info, Finding finding) {
    finding.item.name = name + ":/" + info.path;
    findings.push_back(std::move(finding));
  };
  const std::vector<base::ArrayInfo> of_a = a.list();
  const std::vector<base::ArrayInfo> of_b = b.list();
  auto at_a = of_a.begin();
  auto at_b = of_b.begin();
  while (at_a != of_a.end() || at_b != of_b.end()) {
    if (at_b == of_b.end() || (at_a != of_a.end() && key_of(*at_a) < key_of(*at_b))) {
      add(*at_a, ArrayPair::structural("only in A", at_a->elements()));
      ++at_a;
    } else if (at_a == of_a.end() || key_of(*at_b) < key_of(*at_a)) {
      add(*at_b, ArrayPair::structural("only in B", at_b->elements()));
      ++at_b;
    } else {
      add(*at_a, pair.compare(*at_a, *at_b));
      ++at_a;
      ++at_b;
    }
  }
  return findings;
}

}  // namespace sabath::compare
