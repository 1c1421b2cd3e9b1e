#include "output_pairs.hpp"

#include "array_pair.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace sabath::compare {
namespace {

using Outputs = std::map<std::string, OutputSide>;

/// What the record says was made, with the means to open it where the caller has any.
Outputs outputs_of(const Side& side) {
  Outputs outputs = side.outputs;
  for (const spec::OutputRecord& output : side.record.outputs) {
    outputs.try_emplace(output.stage + "/" + output.path,
                        OutputSide{output.digest, output.size_bytes, {}});
  }
  return outputs;
}

std::string stage_of(const std::string& name) {
  return name.substr(0, name.find('/'));
}

/// The rule for "stage/path": under that name, else under the declared path.
spec::OutputRule rule_for(const Rules& rules, const std::string& name) {
  for (const std::string& key : {name, name.substr(name.find('/') + 1)}) {
    const auto found = rules.outputs.find(key);
    if (found != rules.outputs.end()) return found->second;
  }
  return {};
}

bool is_hdf5(const spec::OutputRule& rule, const std::string& name) {
  if (!rule.as.empty()) return rule.as == "hdf5";
  return name.ends_with(".h5") || name.ends_with(".hdf5") || name.ends_with(".hdf");
}

Finding whole_file(std::string structure) {
  Finding finding;
  finding.item.compared = 1;
  finding.item.structure = std::move(structure);
  if (finding.item.structure.empty()) {
    finding.item.strongest = spec::Rung::bitwise;
  } else {
    finding.item.different = 1;
  }
  return finding;
}

class OutputPairs {
 public:
  OutputPairs(const Rules& rules, const Options& options) : rules_(rules), options_(options) {}

  void add(const std::string& name, const OutputSide* a, const OutputSide* b) {
    if (a == nullptr || b == nullptr) {
      Finding finding = whole_file(a == nullptr ? "only in B" : "only in A");
      finding.item.compared = 0;
      finding.item.different = 0;
      finding.item.missing = 1;
      return keep(name, std::move(finding));
    }
    if (a->digest == b->digest && !a->digest.hex.empty()) return keep(name, whole_file({}));
    const spec::OutputRule rule = rule_for(rules_, name);
    if (!is_hdf5(rule, name)) {
      return keep(
          name,
          whole_file(fmt::format("bytes differ ({} in A, {} in B)", a->size_bytes, b->size_bytes)));
    }
    if (!a->open || !b->open) {
      findings_.not_evaluated.push_back(
          fmt::format("the output {} differs and its content is not there any more", name));
      return;
    }
    add_arrays(name, *a->open(), *b->open(), rule);
  }

  Findings take() { return std::move(findings_); }

 private:
  void keep(const std::string& name, Finding finding) {
    finding.item.name = name;
    finding.stage = stage_of(name);
    findings_.items.push_back(std::move(finding));
  }

  void add_arrays(const std::string& name,
                  base::ArraySource& a,
                  base::ArraySource& b,
                  const spec::OutputRule& rule) {
    std::vector<Finding> arrays = compare_arrays(name, a, b, rule.tolerance, options_.tolerance);
    if (arrays.empty()) {
      findings_.not_evaluated.push_back(fmt::format("the output {} holds no arrays", name));
    }
    for (Finding& finding : arrays) {
      finding.stage = stage_of(name);
      findings_.items.push_back(std::move(finding));
    }
  }

  const Rules& rules_;
  const Options& options_;
  Findings findings_{};
};

const OutputSide* find(const Outputs& outputs, const std::string& name) {
  const auto found = outputs.find(name);
  return found == outputs.end() ? nullptr : &found->second;
}

}  // namespace

Findings compare_outputs(const Side& a,
                         const Side& b,
                         const Rules& rules,
                         const Options& options,
                         const StageOrder& stages) {
  const Outputs of_a = outputs_of(a);
  const Outputs of_b = outputs_of(b);
  std::set<std::pair<std::size_t, std::string>> names;
  for (const auto* outputs : {&of_a, &of_b}) {
    for (const auto& [name, output] : *outputs)
      names.emplace(stages.place(stage_of(name)), name);
  }
  OutputPairs pairs(rules, options);
  for (const auto& [place, name] : names)
    pairs.add(name, find(of_a, name), find(of_b, name));
  return pairs.take();
}

}  // namespace sabath::compare
