#include "enum_text.hpp"

#include <sabath/spec/metric.hpp>

namespace sabath::spec {

std::string_view to_string(Rung rung) {
  switch (rung) {
    case Rung::tolerance:
      return "tolerance";
    case Rung::ulp:
      return "ulp";
    case Rung::bitwise:
      return "bitwise";
  }
  return "";
}

std::optional<Rung> parse_rung(std::string_view text) {
  return parse_enum<Rung>(text);
}

std::string_view to_string(Better better) {
  switch (better) {
    case Better::none:
      return "none";
    case Better::lower:
      return "lower";
    case Better::higher:
      return "higher";
  }
  return "";
}

}  // namespace sabath::spec
