#include <sabath/spec/run_purpose.hpp>

#include <algorithm>
#include <string_view>

namespace sabath::spec {
namespace {

bool is_hybrid_tag(std::string_view tag) {
  constexpr std::string_view prefix = "hybrid-";
  constexpr std::size_t digits = 16;  // as app::explain_pair writes them
  if (!tag.starts_with(prefix) || tag.size() != prefix.size() + digits) return false;
  return tag.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}

}  // namespace

RunPurpose purpose_of(const std::vector<std::string>& tags) {
  bool is_explain = false;
  bool is_hybrid = false;
  for (const std::string& tag : tags) {
    if (tag.starts_with("asset:")) return RunPurpose::asset;
    is_explain = is_explain || tag == "explain";
    is_hybrid = is_hybrid || is_hybrid_tag(tag);
  }
  return is_explain && is_hybrid ? RunPurpose::explanation : RunPurpose::requested;
}

}  // namespace sabath::spec
