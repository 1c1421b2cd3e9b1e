#pragma once

#include <string_view>

namespace sabath::base {

/// Whether a variable, key or option of this name holds a secret, by its last word: "HF_TOKEN",
/// "db-password", "apiKey"; not "max_tokens", "tokenizer", "password_file".
bool names_a_secret(std::string_view name);
/// Whether a secret is the only meaning of the name: a "token" may be a word of text as well.
bool names_a_password(std::string_view name);

}  // namespace sabath::base
