#pragma once

#include <rapidjson/document.h>

#include <algorithm>
#include <string_view>

namespace sabath::collect {

/// Whether `object` has two members called `name`. Readers disagree about which of them counts.
inline bool is_repeated(const rapidjson::Value& object, std::string_view name) {
  const auto is_it = [&](const auto& member) {
    return std::string_view(member.name.GetString(), member.name.GetStringLength()) == name;
  };
  const auto found = std::find_if(object.MemberBegin(), object.MemberEnd(), is_it);
  return found != object.MemberEnd() &&
         std::find_if(found + 1, object.MemberEnd(), is_it) != object.MemberEnd();
}

}  // namespace sabath::collect
