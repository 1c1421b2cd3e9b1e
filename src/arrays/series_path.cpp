#include "series_path.hpp"

#include <charconv>

namespace sabath::arrays {

std::string link_name(std::string_view name) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (name.empty()) return "%";
  std::string link;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool special = byte < 0x20 || byte == 0x7F || byte == '/' || byte == '%';
    if (special || (byte == '.' && i == 0)) {
      link += '%';
      link += digits[byte >> 4U];
      link += digits[byte & 15U];
    } else {
      link += name[i];
    }
  }
  return link;
}

std::optional<std::string> name_of_link(std::string_view link) {
  if (link == "%") return std::string{};
  std::string name;
  for (std::size_t i = 0; i < link.size(); ++i) {
    if (link[i] != '%') {
      name += link[i];
      continue;
    }
    if (i + 2 >= link.size()) return std::nullopt;
    unsigned byte = 0;
    const char* from = link.data() + i + 1;
    if (std::from_chars(from, from + 2, byte, 16).ptr != from + 2) return std::nullopt;
    name += static_cast<char>(byte);
    i += 2;
  }
  return name;
}

}  // namespace sabath::arrays
