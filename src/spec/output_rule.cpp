#include <sabath/spec/output_rule.hpp>

namespace sabath::spec {

OutputRule rule_for(const std::map<std::string, OutputRule>& rules,
                    const std::string& stage,
                    const std::string& path) {
  for (const std::string& key : {stage + "/" + path, path}) {
    const auto found = rules.find(key);
    if (found != rules.end()) return found->second;
  }
  return {};
}

const std::vector<std::string>& OutputRule::formats() {
  static const std::vector<std::string> all{
      "hdf5", "netcdf", "npy", "npz", "csv", "safetensors", "onnx", "keras", "raw", "bytes"};
  return all;
}

}  // namespace sabath::spec
