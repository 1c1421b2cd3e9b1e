#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::arrays {

/// A literal of Python as NPY headers have them.
struct PythonLiteral {
  enum class Kind { none, boolean, integer, text, sequence, dictionary };
  Kind kind = Kind::none;
  std::uint64_t number = 0;  ///< of an integer (never negative here) or a boolean
  std::string text{};
  std::vector<PythonLiteral>
      items{};  ///< of a tuple, a list; keys and values in turn of a dictionary

  bool is(Kind wanted) const { return kind == wanted; }
  /// The value under a key of a dictionary, or null.
  const PythonLiteral* find(std::string_view key) const;
};

/// Throws Error{integrity} "place: ..." for anything else, and for what is nested too deep.
PythonLiteral parse_python_literal(std::string_view text, const std::string& place);

}  // namespace sabath::arrays
