#pragma once

#include <sabath/live/view_parts.hpp>
#include <sabath/serve/live_source.hpp>

#include <memory>
#include <string>

namespace sabath::live {

class ViewState;

/// The home as the live view shows it. It only reads: it closes no run, and what it indexes in the
/// catalog any other command would index. Each answer is a JSON document: docs/formats/live.md.
/// Looks at files of those runs only that somebody looks at, with at most 20 metadata operations a
/// second for all pages together.
/// Thread safety: all members.
class LiveView final : public serve::LiveSource {
 public:
  explicit LiveView(ViewParts parts);
  ~LiveView() override;
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  Kind kind_of(const serve::Query& query) const override;
  std::string answer(const serve::Query& query) override;
  serve::Download open(const serve::Query& query) override;

 private:
  std::unique_ptr<ViewState> state_;
};

}  // namespace sabath::live
