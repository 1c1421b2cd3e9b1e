#pragma once

#include "crate_content.hpp"

#include <sabath/sharing/export_run.hpp>
#include <sabath/spec/asset.hpp>
#include <sabath/spec/run_record.hpp>

#include <filesystem>
#include <vector>

namespace sabath::sharing {

/// Adds the documents of a run's inputs, and returns them. Warns of one that is gone.
std::vector<spec::Asset> add_inputs(const std::filesystem::path& run,
                                    const spec::RunRecord& record,
                                    const CrateTools& tools,
                                    CrateContent& content);

/// Adds the files of a run's inputs. Throws Error{not_found} where they are not here any more.
void add_input_files(const spec::RunRecord& record, CrateContent& content);

/// Makes the files of inputs that came in a crate sources like others, before them. `crate` has
/// `assets/` and `inputs/`, and is going to be `final_crate`. Throws Error{usage|storage}.
void prefer_inputs(const spec::RunRecord& record,
                   const std::filesystem::path& crate,
                   const std::filesystem::path& final_crate);

}  // namespace sabath::sharing
