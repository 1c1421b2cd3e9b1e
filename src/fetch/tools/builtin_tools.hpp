#pragma once

#include "tool_run.hpp"

#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/configuration.hpp>
#include <sabath/spec/tool.hpp>

#include <memory>

namespace sabath::fetch {

// One function for each fetcher that runs a program, in a file of its own.
std::unique_ptr<Fetcher> make_rsync_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_s3_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_globus_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_git_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_described_tool(const spec::ToolDescription& tool,
                                             const ToolContext& context);
std::unique_ptr<Fetcher> make_own_tool(const spec::ToolFetcher& own, const ToolContext& context);

}  // namespace sabath::fetch
