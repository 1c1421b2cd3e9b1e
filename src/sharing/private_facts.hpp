#pragma once

#include <set>
#include <string>
#include <string_view>

namespace sabath::sharing {

/// What documents say of the place where a run was made.
struct PrivateFacts {
  std::set<std::string> users{};
  std::set<std::string> hosts{};
  std::set<std::string> paths{};  ///< absolute, as far as two folders deep
};

/// Adds users and hosts of a JSON document: by the names of its members. A text that is none adds
/// nothing.
void add_private_members(std::string_view document, PrivateFacts& facts);

/// Adds the absolute paths of a text, without those that every system has (/usr/bin, /dev ...).
void add_private_paths(std::string_view text, PrivateFacts& facts);

/// The digests of a session's variables in the text of a record, such as that of HF_TOKEN. Their
/// key stays in the home, so that they tell nobody a secret.
std::set<std::string> session_digests(std::string_view record);

}  // namespace sabath::sharing
