#include "basic_authorization.hpp"

#include <openssl/evp.h>

#include <vector>

namespace sabath::fetch {

std::string basic_authorization(const std::string& user, const std::string& password) {
  const std::string plain = user + ":" + password;
  std::vector<unsigned char> text(plain.size() / 3 * 4 + 5);
  const int length = EVP_EncodeBlock(text.data(),
                                     reinterpret_cast<const unsigned char*>(plain.data()),
                                     static_cast<int>(plain.size()));
  return "Authorization: Basic " + std::string(text.begin(), text.begin() + length);
}

}  // namespace sabath::fetch
