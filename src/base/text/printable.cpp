#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace sabath::base {
namespace {

/// Length of the valid UTF-8 sequence at the front of `text`, or 0.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t length = 0;
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xC2 && byte(0) <= 0xDF) length = 2;
  if (byte(0) >= 0xE0 && byte(0) <= 0xEF) length = 3;
  if (byte(0) >= 0xF0 && byte(0) <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const bool overlong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool surrogate = byte(0) == 0xED && byte(1) > 0x9F;
  const bool beyond = byte(0) == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

/// Of a valid sequence.
std::uint32_t code_point(std::string_view sequence) {
  constexpr unsigned masks[] = {0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = static_cast<unsigned char>(sequence[0]) & masks[sequence.size() - 1];
  for (const char c : sequence.substr(1))
    code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

/// Invisible characters, and characters that change how the text around them is shown: marks and
/// overrides of direction, line separators, blanks without width, tags, and non-characters.
/// Source: Unicode 15, Default_Ignorable_Code_Point and Bidi_Control, less variation selectors.
bool is_deceptive(std::uint32_t code) {
  constexpr std::uint32_t ranges[][2] = {{0x00AD, 0x00AD},
                                         {0x034F, 0x034F},
                                         {0x061C, 0x061C},
                                         {0x115F, 0x1160},
                                         {0x17B4, 0x17B5},
                                         {0x180B, 0x180F},
                                         {0x200B, 0x200F},
                                         {0x2028, 0x202E},
                                         {0x2060, 0x206F},
                                         {0x3164, 0x3164},
                                         {0xFEFF, 0xFEFF},
                                         {0xFFA0, 0xFFA0},
                                         {0xFFF0, 0xFFFB},
                                         {0xFFFE, 0xFFFF},
                                         {0xE0000, 0xE0FFF}};
  for (const auto& range : ranges) {
    if (code >= range[0] && code <= range[1]) return true;
  }
  return (code & 0xFFFEU) == 0xFFFEU;
}

/// C0, DEL and C1: some terminals obey U+0080 to U+009F too.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

/// Copies `text`. `escape` returns the text for each character that must not leave as it came:
/// it gets the bytes, and the code point or nothing for an invalid byte.
template <class Escape>
std::string escaped(std::string_view text, bool keep_white, const Escape& escape) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const auto harmless = [keep_white](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return (byte >= 0x20 && byte < 0x7F) || (keep_white && (c == '\n' || c == '\t'));
    };
    const auto end = std::find_if_not(text.begin(), text.end(), harmless);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    safe += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = sequence_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const std::uint32_t code = length == 0 ? 0 : code_point(character);
    if (length == 0 || is_control(code) || is_deceptive(code)) {
      safe += escape(character, length == 0 ? nullptr : &code);
    } else {
      safe += character;
    }
    text.remove_prefix(character.size());
  }
  return safe;
}

/// "\u202e", or a pair of surrogates.
std::string json_escape(std::uint32_t code) {
  if (code < 0x10000) return fmt::format("\\u{:04x}", code);
  const std::uint32_t rest = code - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10U), 0xDC00 + (rest & 0x3FFU));
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_utf8_without_controls(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(code_point(text.substr(0, length)))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, bool keep_newlines) {
  return escaped(text, keep_newlines, [](std::string_view bytes, const std::uint32_t* code) {
    if (code != nullptr && !is_control(*code)) return fmt::format("\\u{{{:04x}}}", *code);
    std::string visible;
    for (const char c : bytes)
      visible += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return visible;
  });
}

std::string printable_word(std::string_view text) {
  std::string bare;
  for (const char c : text) {
    if (c == '\\' || c == '\'') bare += '\\';
    bare += c;
  }
  const auto octal = [](std::string_view bytes, const std::uint32_t*) {
    if (bytes == "\n") return std::string("\\n");
    if (bytes == "\t") return std::string("\\t");
    std::string digits;
    for (const char c : bytes)
      digits += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    return digits;
  };
  return "$'" + escaped(bare, false, octal) + "'";
}

std::string printable_json(std::string_view json) {
  return escaped(json, true, [](std::string_view, const std::uint32_t* code) {
    return json_escape(code == nullptr ? 0xFFFD : *code);
  });
}

}  // namespace sabath::base
