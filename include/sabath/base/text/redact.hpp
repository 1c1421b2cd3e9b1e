#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// Replacement of a secret in everything that sabath writes.
inline constexpr std::string_view redacted_mark = "[redacted]";

/// A part of a text that looks like a secret.
struct SecretSpan {
  std::size_t begin = 0;
  std::size_t length = 0;
  std::string_view what{};  ///< "a GitHub token", for a message
  bool is_certain = true;   ///< false if it may be something else ("eos_token=endoftext")
};

/// Finds the parts of `text` that look like secrets (docs/secrets.md lists the forms): credentials
/// in URLs, tokens of well-known services, private keys, and values of names such as "password".
/// Returns them in order, without overlaps.
std::vector<SecretSpan> find_secrets(std::string_view text);
/// `text` with the mark in place of what `find_secrets` finds.
std::string redact(std::string_view text);

/// Whether `value` can be a secret. Not if it is short, has blanks, or is a number, a labelled
/// digest
/// ("sha256:..."), a reference ("$TOKEN", "{param.x}", "<pad>") or masked already.
bool can_be_secret(std::string_view value);

/// Whether a variable, key or option of this name holds a secret, by its last word: "HF_TOKEN",
/// "db-password", "apiKey"; not "max_tokens", "tokenizer", "password_file".
bool names_a_secret(std::string_view name);
/// Whether a secret is the only meaning of the name: a "token" may be a word of text as well.
bool names_a_password(std::string_view name);

}  // namespace sabath::base
