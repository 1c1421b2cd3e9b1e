#pragma once

#include <rapidjson/document.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace sabath::collect {

/// The text of a JSON string.
inline std::string_view text_of(const rapidjson::Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

/// Whether `object` has two members called `name`. Readers disagree about which of them counts.
inline bool is_repeated(const rapidjson::Value& object, std::string_view name) {
  const auto is_it = [&](const auto& member) { return text_of(member.name) == name; };
  return std::count_if(object.MemberBegin(), object.MemberEnd(), is_it) > 1;
}

/// The first of `names` that `object` has twice, as a problem; empty if there is none.
inline std::string repeated_among(const rapidjson::Value& object,
                                  std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (is_repeated(object, name)) return "'" + std::string(name) + "' is there twice";
  }
  return {};
}

}  // namespace sabath::collect
