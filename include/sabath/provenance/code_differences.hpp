#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>

namespace sabath::provenance {

/// A run's record and folder.
struct CodeSide {
  const spec::RunRecord& record;
  std::filesystem::path run_directory{};
};

/// Fills in the files in which the code of two runs of one recipe differs, where their facets say
/// that it does: from what both kept of the recipe's folder, which must still be what the records
/// speak of; else from their recipe documents, and `code_note` says why. Never throws for what
/// cannot be read: that proves nothing, and changes no verdict.
void add_code_differences(const CodeSide& a, const CodeSide& b, spec::Comparison& comparison);

}  // namespace sabath::provenance
