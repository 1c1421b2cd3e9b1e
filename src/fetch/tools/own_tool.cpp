// Fetchers that the user has described in the configuration.

#include "builtin_tools.hpp"
#include "file_tool.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/spec/recipe.hpp>

namespace sabath::fetch {

namespace {

class OwnTool final : public FileTool {
 public:
  OwnTool(const spec::ToolFetcher& description, const ToolContext& context)
      : FileTool({.name = description.name,
                  .program = description.command.front(),
                  .package = "what the configuration's \"fetchers\" name",
                  .description = "the user's own: " + description.command.front(),
                  .schemes = {description.scheme}},
                 context),
        own_(description) {}

 protected:
  std::variant<ToolCall, Failure> call_for(const ToolJob& job) override {
    const ToolUrl& url = job.url();
    const std::map<std::string, std::string> values{{"url", url.plain},
                                                    {"output", job.output.string()},
                                                    {"host", url.authority()},
                                                    {"path", url.path},
                                                    {"user", url.user}};
    ToolCall call;
    for (const std::string& argument : own_.command)
      call.argv.push_back(spec::expand(argument, values, "fetcher '" + own_.name + "'"));
    call.grows = job.output;
    call.total_bytes = job.size_bytes;
    call.percentage = own_.progress;
    return call;
  }

  Failure failure_of(const ToolEnd& end, const ToolJob&) override {
    return failure_by_words(traits().program, end);
  }

 private:
  spec::ToolFetcher own_;
};

}  // namespace

std::unique_ptr<Fetcher> make_own_tool(const spec::ToolFetcher& description,
                                       const ToolContext& context) {
  return std::make_unique<OwnTool>(description, context);
}

}  // namespace sabath::fetch
