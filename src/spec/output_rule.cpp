#include <sabath/spec/output_rule.hpp>

#include <fnmatch.h>

namespace sabath::spec {

bool is_group(std::string_view declared) {
  return declared.ends_with('/') || declared.find('*') != std::string_view::npos;
}

bool declares(const std::string& declared, const std::string& path) {
  if (declared.find('*') != std::string::npos) {
    std::string pattern;
    for (const char c : declared)
      pattern += c == '?' || c == '[' || c == '\\' ? std::string{'\\', c} : std::string{c};
    return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
  }
  return declared.ends_with('/') ? path.starts_with(declared) : path == declared;
}

OutputRule rule_for(const std::map<std::string, OutputRule>& rules,
                    const std::string& stage,
                    const std::string& path) {
  for (const std::string& key : {stage + "/" + path, path}) {
    const auto found = rules.find(key);
    if (found != rules.end()) return found->second;
  }
  for (const auto& [declared, rule] : rules) {
    if (is_group(declared) && declares(declared, path)) return rule;
  }
  return {};
}

const std::vector<std::string>& OutputRule::formats() {
  static const std::vector<std::string> all{
      "hdf5", "netcdf", "npy", "npz", "csv", "safetensors", "onnx", "keras", "raw", "bytes"};
  return all;
}

}  // namespace sabath::spec
