#include "placeholder.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>

namespace sabath::spec {
namespace {

using Kind = TemplatePiece::Kind;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

/// Length of the name between the braces at the start of `text`; 0 when it is not a placeholder.
std::size_t name_length(std::string_view text) {
  const auto end = std::find_if_not(text.begin() + 1, text.end(), is_name_character);
  if (end == text.end() || *end != '}') return 0;
  return static_cast<std::size_t>(end - text.begin()) - 1;
}

/// Takes the first piece off `text`, which is not empty.
TemplatePiece next_piece(std::string_view& text) {
  const auto take = [&](Kind kind, std::string_view piece, std::size_t used) {
    TemplatePiece result{kind, std::string(piece)};
    text.remove_prefix(used);
    return result;
  };
  const std::size_t brace = std::min(text.find_first_of("{}"), text.size());
  if (brace > 0) return take(Kind::literal, text.substr(0, brace), brace);
  const std::string_view first = text.substr(0, 1);
  if (text.size() > 1 && text[1] == text[0]) return take(Kind::literal, first, 2);
  const std::size_t length = text[0] == '{' ? name_length(text) : 0;
  if (length > 0) return take(Kind::placeholder, text.substr(1, length), length + 2);
  return take(Kind::stray, first, 1);
}

bool is_known(const std::string& name, const KnownPlaceholders& known) {
  if (std::find(known.names.begin(), known.names.end(), name) != known.names.end()) return true;
  return std::any_of(known.prefixes.begin(), known.prefixes.end(), [&](const std::string& prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix);
  });
}

TemplateProblem unknown(const std::string& name, const KnownPlaceholders& known) {
  std::string guess = base::nearest(name, known.names);
  std::string forms;
  for (const std::string& one : known.names) {
    if (guess.empty() && one.ends_with("." + name)) guess = one;
    forms += "{" + one + "}, ";
  }
  for (const std::string& prefix : known.prefixes)
    forms += "{" + prefix + "NAME}, ";
  if (!forms.empty()) forms = "known are " + forms.substr(0, forms.size() - 2) + "; ";
  return {"unknown placeholder '{" + name + "}'",
          guess.empty() ? forms + "for literal braces write '{{" + name + "}}'"
                        : "did you mean '{" + guess + "}'?"};
}

TemplateProblem stray(const std::string& brace) {
  return {"a single '" + brace + "' that is not part of a placeholder",
          "for a literal brace write '" + brace + brace + "'"};
}

}  // namespace

std::vector<TemplatePiece> template_pieces(std::string_view text) {
  std::vector<TemplatePiece> pieces;
  while (!text.empty())
    pieces.push_back(next_piece(text));
  return pieces;
}

std::vector<TemplateProblem> template_problems(std::string_view text,
                                               const KnownPlaceholders& known) {
  std::vector<TemplateProblem> problems;
  for (const TemplatePiece& piece : template_pieces(text)) {
    if (piece.kind == Kind::stray) problems.push_back(stray(piece.text));
    if (piece.kind == Kind::placeholder && !is_known(piece.text, known)) {
      problems.push_back(unknown(piece.text, known));
    }
  }
  return problems;
}

std::vector<std::string> placeholders_of(std::string_view text) {
  std::vector<std::string> names;
  for (TemplatePiece& piece : template_pieces(text)) {
    if (piece.kind == Kind::placeholder) names.push_back(std::move(piece.text));
  }
  return names;
}

std::string expand(std::string_view text,
                   const std::map<std::string, std::string>& values,
                   const std::string& place) {
  KnownPlaceholders known;
  for (const auto& [name, value] : values)
    known.names.push_back(name);
  const auto problems = template_problems(text, known);
  if (!problems.empty()) {
    throw base::Error(base::ErrorKind::usage,
                      place + ": " + base::printable(problems.front().problem),
                      problems.front().hint);
  }
  std::string result;
  for (const TemplatePiece& piece : template_pieces(text)) {
    result += piece.kind == Kind::placeholder ? values.at(piece.text) : piece.text;
  }
  return result;
}

}  // namespace sabath::spec
