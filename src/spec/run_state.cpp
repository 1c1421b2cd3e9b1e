#include <sabath/base/file.hpp>
#include <sabath/spec/run_state.hpp>

#include <algorithm>

namespace sabath::spec {
namespace {

constexpr std::string_view run_id_end = "-YYYYMMDD-hhmmss-llllllll";

bool fits(char form, char c) {
  if (form == '-') return c == '-';
  if (form == 'l') return c >= 'a' && c <= 'z';
  return c >= '0' && c <= '9';
}

}  // namespace

bool is_run_id(std::string_view text) {
  if (text.size() <= run_id_end.size()) return false;
  const std::string_view end = text.substr(text.size() - run_id_end.size());
  return base::is_safe_name(text.substr(0, text.size() - run_id_end.size())) &&
         std::equal(run_id_end.begin(), run_id_end.end(), end.begin(), fits);
}

}  // namespace sabath::spec
