#include <sabath/base/text/codes.hpp>

#include <openssl/evp.h>

#include <cctype>
#include <charconv>

namespace sabath::base {

std::string percent_encoded(std::string_view text, std::string_view plain) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || plain.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += {'%', hex[byte >> 4U], hex[byte & 15U]};
    }
  }
  return result;
}

std::string percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    const bool is_coded = text[i] == '%' && i + 2 < text.size() &&
                          std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    plain += is_coded ? static_cast<char>(byte) : text[i];
    if (is_coded) i += 2;
  }
  return plain;
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace sabath::base
