#include <sabath/base/text/display_width.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>

#include <locale.h>

#include <algorithm>
#include <cwchar>
#include <vector>

namespace sabath::base {
namespace {

struct Character {
  std::string_view bytes{};
  std::size_t columns = 0;
};

/// wcwidth goes by the thread's locale, and batch jobs have "C".
class Utf8Locale {
 public:
  Utf8Locale() : old_(::uselocale(utf8())) {}
  ~Utf8Locale() { ::uselocale(old_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  static locale_t utf8() {
    static locale_t const locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }
  locale_t old_;
};

std::vector<Character> characters_of(std::string_view text) {
  const Utf8Locale locale;
  std::vector<Character> characters;
  std::mbstate_t state{};
  while (!text.empty()) {
    wchar_t wide = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the state is this function's own
    const std::size_t length = std::mbrtowc(&wide, text.data(), text.size(), &state);
    const bool known = length != 0 && length <= text.size();
    if (!known) state = {};
    const int columns = known ? ::wcwidth(wide) : 1;
    characters.push_back({text.substr(0, known ? length : 1),
                          columns < 0 ? std::size_t{1} : static_cast<std::size_t>(columns)});
    text.remove_prefix(characters.back().bytes.size());
  }
  return characters;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for (const Character& character : characters_of(text))
    columns += character.columns;
  return columns;
}

std::string cut_to_width(std::string_view text, std::size_t columns) {
  const std::vector<Character> characters = characters_of(text);
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  // The end of a name tells more (its number, its suffix): it gets the larger part.
  const std::size_t for_begin = (columns - 1) / 3;
  const std::size_t for_end = columns - 1 - for_begin;
  std::string begin;
  std::size_t taken = 0;
  for (const Character& character : characters) {
    if (taken + character.columns > for_begin) break;
    taken += character.columns;
    begin += character.bytes;
  }
  std::size_t first = characters.size();
  for (std::size_t left = for_end; first > 0 && characters[first - 1].columns <= left; --first)
    left -= characters[first - 1].columns;
  // A combining mark without its letter would change the one before.
  while (first < characters.size() && characters[first].columns == 0)
    ++first;
  std::string cut = begin + "…";
  for (; first < characters.size(); ++first)
    cut += characters[first].bytes;
  return cut;
}

std::string cut_long_words(std::string_view text) {
  constexpr std::size_t longest = 400;
  if (text.size() <= longest) return std::string(text);
  std::string cut;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_of(" \n"), text.size());
    cut += cut_to_width(text.substr(0, length), longest);
    const std::size_t end = std::min(length + 1, text.size());
    cut += text.substr(length, end - length);
    text.remove_prefix(end);
  }
  return cut;
}

std::string message_text(std::string_view text) {
  std::string indented;
  for (const char c : printable(redact(text), true)) {
    if (indented.ends_with('\n') && c != ' ' && c != '\n') indented += "  ";
    indented += c;
  }
  return cut_long_words(indented);
}

}  // namespace sabath::base
