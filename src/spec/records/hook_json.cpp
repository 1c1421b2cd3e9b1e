#include "hook_json.hpp"

#include <algorithm>

namespace sabath::spec {

bool Hook::is_on(HookEvent event) const {
  return std::ranges::find(on, to_string(event)) != on.end();
}

std::string Hook::label() const {
  if (!command.empty()) return "command " + command.front();
  if (!mail.empty()) return "mail to " + mail;
  const auto begin = post.find("://");
  const auto host = begin == std::string::npos ? 0 : begin + 3;
  std::string authority = post.substr(host, post.find_first_of("/?#", host) - host);
  if (const auto login = authority.rfind('@'); login != std::string::npos)
    authority.erase(0, login + 1);
  return "POST to " + authority;
}

std::optional<HookEvent> event_of(RunState state) {
  switch (state) {
    case RunState::running:
      return HookEvent::started;
    case RunState::failed:
      return HookEvent::failed;
    case RunState::lost:
      return HookEvent::lost;
    case RunState::ok:
    case RunState::stopped:
    case RunState::interrupted:
      return HookEvent::finished;
    case RunState::planned:
    case RunState::unknown:
    case RunState::imported:
      break;
  }
  return std::nullopt;
}

nlohmann::ordered_json to_json(const HookReport& report) {
  return document_of(report);
}

HookReport parse_hook_report(std::string_view text, const std::string& origin) {
  return parse_document<HookReport>(text, origin);
}

}  // namespace sabath::spec
