#pragma once

#include "tool_run.hpp"

#include <sabath/fetch/fetcher.hpp>
#include <sabath/spec/configuration.hpp>

#include <memory>

namespace sabath::fetch {

// One function a fetcher that runs a program; each in a file of its own.
std::unique_ptr<Fetcher> make_curl_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_wget_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_aria2_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_rsync_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_scp_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_sftp_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_s3_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_globus_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_gridftp_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_git_tool(const ToolContext& context);
std::unique_ptr<Fetcher> make_own_tool(const spec::ToolFetcher& description,
                                       const ToolContext& context);

}  // namespace sabath::fetch
