#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// What stands in the place of a secret in all that sabath writes.
inline constexpr std::string_view redacted_mark = "[redacted]";

/// A part of a text that looks like a secret.
struct SecretSpan {
  std::size_t begin = 0;
  std::size_t length = 0;
  std::string_view what{};  ///< "a GitHub token", for a message
  bool is_certain = true;   ///< no, where it may well be something else ("eos_token=endoftext")
};

/// The parts of `text` that look like secrets (docs/secrets.md has the forms), in order, none
/// within another: credentials in URLs, tokens of well-known services, private keys, and values
/// that a name such as "password" stands before.
std::vector<SecretSpan> find_secrets(std::string_view text);
/// `text` with the mark in place of what `find_secrets` finds.
std::string redact(std::string_view text);

/// Does a variable, key or option of this name hold a secret? Its last word says so: "HF_TOKEN",
/// "db-password", "apiKey"; not "max_tokens", "tokenizer", "password_file".
bool names_a_secret(std::string_view name);
/// Could `value` be what such a name has? Not what is short, has blanks, or is a number, a digest
/// that says so ("sha256:..."), a reference ("$TOKEN", "{param.x}", "<pad>") or masked already.
bool can_be_secret(std::string_view value);

}  // namespace sabath::base
