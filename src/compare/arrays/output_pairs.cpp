#include "array_findings.hpp"
#include "array_pair.hpp"
#include "nothing_held.hpp"
#include "result_items.hpp"
#include "tree_pair.hpp"

#include <sabath/base/process/reader_ended.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/array_trees.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

namespace sabath::compare {
namespace {

using Outputs = std::map<std::string, OutputSide>;

constexpr std::array array_endings{".h5",
                                   ".hdf5",
                                   ".hdf",
                                   ".nc",
                                   ".nc4",
                                   ".npy",
                                   ".npz",
                                   ".csv",
                                   ".tsv",
                                   ".safetensors",
                                   ".onnx",
                                   ".keras"};

/// Outputs of the record, with the functions of the caller to open them.
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

/// Whether an output without content would have been compared by arrays.
bool is_named_as_arrays(const spec::OutputRule& rule, const std::string& name) {
  if (rule.compares_arrays()) return true;
  const auto has_ending = [&](const char* ending) { return name.ends_with(ending); };
  return rule.as.empty() && std::ranges::any_of(array_endings, has_ending);
}

std::string bytes_differ(const OutputSide& a, const OutputSide& b) {
  return fmt::format("bytes differ ({} in A, {} in B)",
                     base::counted(a.size_bytes, "byte"),
                     base::counted(b.size_bytes, "byte"));
}

/// Where nobody asked for bytes.
std::string text_differs(const OutputSide& a, const OutputSide& b) {
  return bytes_differ(a, b) + "; only arrays and metrics have a tolerance";
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
  OutputPairs(const Outputs& of_a, const Outputs& of_b, const Rules& rules, const Options& options)
      : of_a_(of_a), of_b_(of_b), rules_(rules), options_(options) {}

  void add(const std::string& name) {
    const OutputSide* const a = find(of_a_, name);
    const OutputSide* const b = find(of_b_, name);
    if (a == nullptr || b == nullptr) {
      Finding finding = whole_file(a == nullptr ? "only in B" : "only in A");
      finding.item.compared = 0;
      finding.item.different = 0;
      finding.item.missing = 1;
      return keep(name, std::move(finding));
    }
    for (const OutputSide* const side : {a, b}) {
      if (side->unknown.empty()) continue;
      findings_.not_evaluated.push_back(fmt::format("the output {}: {}", name, side->unknown));
      return;
    }
    const OutputRules rules = rules_for(rules_, name);
    if (a->digest == b->digest && !a->digest.hex.empty()) {
      const bool leads_out = note_outside(name, a->outside ? *a : *b, rules.rule);
      note_values(name, a->open || a->trees ? *a : *b, rules.rule, leads_out);
      return keep(name, whole_file({}));
    }
    if (!rules.conflict.empty()) {
      findings_.not_evaluated.push_back(
          fmt::format("the output {} differs: {}", name, rules.conflict));
      return;
    }
    if (rules.rule.as == "bytes") return keep(name, whole_file(bytes_differ(*a, *b)));
    try {
      add_different(name, *a, *b, rules);
    } catch (const base::ReaderEnded& ended) {
      findings_.not_evaluated.push_back(
          fmt::format("the output {} {} ({})", name, ended.why(), ended.file()));
    }
  }

  Findings take() { return std::move(findings_); }

 private:
  void keep(const std::string& name, Finding finding) {
    finding.item.name = name;
    finding.stage = stage_of(name);
    findings_.items.push_back(std::move(finding));
  }

  static const OutputSide* find(const Outputs& outputs, const std::string& name) {
    const auto found = outputs.find(name);
    return found == outputs.end() ? nullptr : &found->second;
  }

  /// Adds outputs with different bytes, whose values may still be equal.
  void add_different(const std::string& name,
                     const OutputSide& a,
                     const OutputSide& b,
                     const OutputRules& rules) {
    // Made of one side's values, they are rounded as the other's were.
    const auto trees_of_a = trees_of(a, b, rules.rule, rules.tolerance.of_b());
    const auto trees_of_b = trees_of(b, a, rules.rule, rules.tolerance.one);
    if (!a.open || !b.open) {
      if (trees_of_a && trees_of_b) {
        return add(
            name,
            compare_trees(name, *trees_of_a, *trees_of_b, rules.tolerance, options_.tolerance));
      }
      if (!is_named_as_arrays(rules.rule, name)) return keep(name, whole_file(text_differs(a, b)));
      findings_.not_evaluated.push_back(
          fmt::format("the output {} differs and its content is not there any more", name));
      return;
    }
    const auto from_a = a.open(rules.rule);
    const auto from_b = b.open(rules.rule);
    if (!from_a || !from_b) return keep(name, whole_file(text_differs(a, b)));
    const TreePair trees{trees_of_a ? &*trees_of_a : nullptr, trees_of_b ? &*trees_of_b : nullptr};
    Findings arrays =
        compare_arrays(name, *from_a, *from_b, rules.tolerance, options_.tolerance, trees);
    add_churn(name, *from_a, *from_b, rules.rule, arrays);
    add(name, std::move(arrays));
  }

  /// Equal bytes that say where values are do not say that these are equal.
  /// Returns whether values lie there.
  bool note_outside(const std::string& name, const OutputSide& side, const spec::OutputRule& rule) {
    if (!side.outside) return false;
    UnreadableArrays unreadable;
    std::vector<base::OutsideValues> outside;
    try {
      outside = side.outside(rule);
    } catch (const base::ReaderEnded& ended) {
      unreadable.add("whether the output " + name + " has values in other files", ended.why());
    }
    for (const base::OutsideValues& values : outside) {
      const std::filesystem::path folder = std::filesystem::path(name).parent_path();
      const std::string file = (folder / values.file).lexically_normal().string();
      if (find(of_a_, file) != nullptr && find(of_b_, file) != nullptr) continue;
      unreadable.add(name + ":/" + base::printable(values.array),
                     "has its values in '" + base::printable(values.file) +
                         "', which is not a declared output");
    }
    add_unreadable(name, unreadable);
    return !outside.empty();
  }

  /// Equal bytes do not prove that values, or numbers among them, exist.
  void note_values(const std::string& name,
                   const OutputSide& side,
                   const spec::OutputRule& rule,
                   bool leads_out) {
    const Values found = values_of(side, rule);
    if (found.none && !leads_out && !side.is_marker)
      findings_.not_evaluated.push_back(nothing_held_text("the output " + name));
    UnreadableArrays unreadable;
    for (const std::string& path : found.only_nan)
      unreadable.add(name + ":/" + base::printable(path), only_nan);
    add_unreadable(name, unreadable);
  }

  void add_unreadable(const std::string& name, UnreadableArrays& unreadable) {
    for (std::string& text : unreadable.take(name))
      findings_.not_evaluated.push_back(std::move(text));
  }

  struct Values {
    bool none = false;
    std::vector<std::string> only_nan{};  ///< paths of arrays
  };

  static Values values_of(const OutputSide& side, const spec::OutputRule& rule) {
    const auto is_empty = [&] {
      return side.holds_nothing ? side.holds_nothing() : side.size_bytes == 0;
    };
    if (rule.as == "bytes") return {is_empty(), {}};
    const auto trees = side.trees ? side.trees() : std::nullopt;
    if (trees) return {hold_nothing(*trees), arrays_of_only_nan(*trees)};
    if (!side.open) return {is_empty(), {}};
    try {
      const auto source = side.open(rule);
      if (!source) return {is_empty(), {}};
      return {hold_nothing(source->list()), arrays_of_only_nan(*source)};
    } catch (const base::Error& error) {
      if (error.kind() != base::ErrorKind::integrity) throw;
      return {is_empty(), {}};  // equal damage is equal
    }
  }

  /// The trees that were kept; else made from the values, where only the other side's are gone.
  static std::optional<spec::OutputTrees> trees_of(const OutputSide& side,
                                                   const OutputSide& other,
                                                   const spec::OutputRule& rule,
                                                   const spec::Tolerance& tolerance) {
    auto trees = side.trees ? side.trees() : std::nullopt;
    if (trees || !side.open || other.open || !other.trees) return trees;
    const auto source = side.open(rule);
    if (source) trees = make_trees(*source, tolerance);
    return trees;
  }

  void add(const std::string& name, Findings arrays) {
    for (Finding& finding : arrays.items) {
      finding.stage = stage_of(name);
      findings_.items.push_back(std::move(finding));
    }
    findings_.not_evaluated.insert(
        findings_.not_evaluated.end(), arrays.not_evaluated.begin(), arrays.not_evaluated.end());
  }

  const Outputs& of_a_;
  const Outputs& of_b_;
  const Rules& rules_;
  const Options& options_;
  Findings findings_{};
};

}  // namespace

Findings compare_outputs(const PairToCompare& compared, const StageOrder& stages) {
  const auto& [a, b, rules, options] = compared;
  const Outputs of_a = outputs_of(a);
  const Outputs of_b = outputs_of(b);
  std::set<std::pair<std::size_t, std::string>> names;
  for (const auto* outputs : {&of_a, &of_b}) {
    for (const auto& [name, output] : *outputs)
      names.emplace(stages.place(stage_of(name)), name);
  }
  OutputPairs pairs(of_a, of_b, rules, options);
  for (const auto& [place, name] : names)
    pairs.add(name);
  return pairs.take();
}

}  // namespace sabath::compare
