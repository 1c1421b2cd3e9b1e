#pragma once

#include <locale.h>

#include <clocale>
#include <initializer_list>

namespace sabath::base {

/// libarchive converts names to the locale's character set; under LC_ALL=C, as batch jobs have it,
/// it would lose all that is not ASCII. So this thread has a UTF-8 locale for as long as this
/// lives.
class Utf8Names {
 public:
  Utf8Names() {
    for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
      if (locale_ == nullptr) locale_ = ::newlocale(LC_CTYPE_MASK, name, nullptr);
    }
    if (locale_ != nullptr) old_ = ::uselocale(locale_);
  }
  ~Utf8Names() {
    if (locale_ == nullptr) return;
    ::uselocale(old_);
    ::freelocale(locale_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t locale_ = nullptr;
  locale_t old_ = nullptr;
};

}  // namespace sabath::base
