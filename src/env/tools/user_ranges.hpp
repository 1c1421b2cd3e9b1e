#pragma once

namespace sabath::env {

/// Has this user ranges of further user ids and group ids (/etc/subuid, /etc/subgid)?
bool has_user_ranges();

}  // namespace sabath::env
