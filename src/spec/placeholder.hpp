#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// A template taken apart. "{name}" is a placeholder, "{{" and "}}" are literal braces, and any
/// other brace is stray.
struct TemplatePiece {
  enum class Kind { literal, placeholder, stray };
  Kind kind = Kind::literal;
  std::string text{};  ///< the literal text, the placeholder's name, or the brace
};

std::vector<TemplatePiece> template_pieces(std::string_view text);

/// Which placeholders may stand in a template.
struct KnownPlaceholders {
  std::vector<std::string> names{};     ///< "seed", "param.epochs"
  std::vector<std::string> prefixes{};  ///< "arg.": any name after it
};

struct TemplateProblem {
  std::string problem{};
  std::string hint{};
};

/// Everything that is wrong with a template.
std::vector<TemplateProblem> template_problems(std::string_view text,
                                               const KnownPlaceholders& known);

}  // namespace sabath::spec
