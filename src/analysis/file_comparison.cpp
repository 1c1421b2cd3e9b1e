#include <sabath/analysis/file_comparison.hpp>
#include <sabath/arrays/array_file.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/compare_runs.hpp>
#include <sabath/execution/empty_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;

[[noreturn]] void refuse(const std::string& as) {
  std::vector<std::string> formats = spec::OutputRule::formats();
  std::ranges::replace(formats, "raw", "raw:float32, raw:int16:big ...");
  throw Error(
      ErrorKind::usage,
      "--as: unknown format '" + base::printable(as) + "'",
      base::did_you_mean(
          as, spec::OutputRule::formats(), fmt::format("one of {}", fmt::join(formats, ", "))));
}

spec::OutputRule rule_of(const std::string& as) {
  spec::OutputRule rule;
  constexpr std::string_view raw = "raw:";
  if (as.starts_with(raw)) {
    std::string type = as.substr(raw.size());
    const auto colon = type.find(':');
    const std::string order = colon == std::string::npos ? "" : type.substr(colon + 1);
    type.resize(std::min(colon, type.size()));
    const auto known = base::parse_array_type(type);
    if (!known || base::size_of(*known) == 0) refuse(as);
    if (!order.empty() && order != "big" && order != "little") refuse(as);
    rule.as = "raw";
    rule.raw = spec::RawLayout{*known, order == "big", {}};
    return rule;
  }
  const auto& formats = spec::OutputRule::formats();
  const bool is_known = std::ranges::find(formats, as) != formats.end();
  if ((!as.empty() && !is_known) || as == "raw") refuse(as);
  rule.as = as;
  return rule;
}

/// Reads tables again, which are tried by their ending alone. Throws Error{integrity} with what is
/// wrong in one.
void refuse_damaged_tables(const FilesRequest& request) {
  for (const auto* file : {&request.a, &request.b}) {
    const auto ending = file->extension();
    if (ending != ".csv" && ending != ".tsv") continue;
    try {
      arrays::open_arrays(*file, rule_of("csv"));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::integrity) throw;
      throw Error(error.kind(),
                  error.what(),
                  "'--as bytes' compares the bytes of files that are not tables");
    }
  }
}

spec::Comparison compare_bytes(const FilesRequest& request) {
  spec::ItemComparison item;
  item.name = "the bytes of the file";
  item.compared = 1;
  const bool equal = base::digest_file(request.a) == base::digest_file(request.b);
  item.different = equal ? 0 : 1;
  if (equal) item.strongest = spec::Rung::bitwise;
  if (!equal) item.structure = "they differ";
  spec::Comparison comparison;
  comparison.required = request.require.value_or(spec::Rung::tolerance);
  comparison.required_from = request.require ? "--require" : "default";
  comparison.strongest = item.strongest;
  comparison.result = equal ? spec::Verdict::pass : spec::Verdict::fail;
  if (!equal && request.as.empty()) refuse_damaged_tables(request);
  comparison.reason = equal
                          ? "the bytes of the files are equal"
                          : "the bytes of the files differ, and they are not both files of arrays; "
                            "only arrays have a tolerance, and --as raw:TYPE reads bare numbers";
  if (equal && execution::holds_nothing(request.a)) {
    comparison.result = spec::Verdict::inconclusive;
    comparison.reason = "both files are empty: there is nothing to compare";
  }
  comparison.outputs.push_back(std::move(item));
  return comparison;
}

}  // namespace

spec::Comparison compare_files(const FilesRequest& request) {
  const spec::OutputRule rule = rule_of(request.as);
  const auto a = arrays::open_arrays(request.a, rule);
  const auto b = arrays::open_arrays(request.b, rule);
  spec::Comparison comparison =
      a && b ? compare::compare_files(*a, *b, request.require, request.tolerance)
             : compare_bytes(request);
  comparison.a = request.a.string();
  comparison.b = request.b.string();
  return comparison;
}

}  // namespace sabath::analysis
