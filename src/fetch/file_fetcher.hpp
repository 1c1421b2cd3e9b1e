#pragma once

#include <sabath/fetch/fetcher.hpp>

namespace sabath::fetch {

/// Makes the fetcher of files of this machine.
std::unique_ptr<Fetcher> make_file_fetcher(bool is_allowed, base::Clock& clock);

}  // namespace sabath::fetch
