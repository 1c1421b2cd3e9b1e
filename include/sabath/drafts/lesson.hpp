#pragma once

#include <string_view>

namespace sabath::drafts {

/// The script of the tutorial (lesson.py): it learns one number in Python without packages.
std::string_view lesson_script();

}  // namespace sabath::drafts
