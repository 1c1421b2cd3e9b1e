#include <sabath/base/text/pieces.hpp>
#include <sabath/exchange/asset_names.hpp>

namespace sabath::exchange {

std::string asset_name_of(std::string_view text) {
  constexpr std::size_t longest = 64;
  std::string name;
  for (const char c : base::lower_case(text)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool may_follow = c == '.' || c == '_' || c == '-';
    if (is_plain || (may_follow && !name.empty())) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() == longest) break;
  }
  while (name.ends_with('-') || name.ends_with('.'))
    name.pop_back();
  return name.empty() ? "asset" : name;
}

}  // namespace sabath::exchange
