#include "source_url.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace sabath::fetch {

namespace {

using Fetchers = std::vector<std::unique_ptr<Fetcher>>;

/// A larger file gets its own segments and mirrors.
constexpr std::uint64_t small_bytes = 8U << 20U;
constexpr std::uint64_t unknown_size = std::numeric_limits<std::uint64_t>::max();

/// Hides the progress of small files: the list is the task.
class QuietProgress : public base::Observer {
 public:
  explicit QuietProgress(base::Observer& inner) : inner_(inner) {}
  void note(std::string_view text) override { inner_.note(text); }
  void warn(std::string_view text, std::string_view hint) override { inner_.warn(text, hint); }
  void progress(const base::Progress&) override {}

 private:
  base::Observer& inner_;
};

/// Passes all calls on and reports the progress of the list.
class ReportingList final : public FileList {
 public:
  ReportingList(FileList& inner, std::string label, base::Observer& observer, base::Clock& clock)
      : inner_(inner), label_(std::move(label)), observer_(observer), clock_(clock) {
    for (std::size_t index = 0; index < inner.size(); ++index) {
      sizes_.push_back(inner.request(index).size_bytes.value_or(unknown_size));
    }
    in_bytes_ = std::ranges::find(sizes_, unknown_size) == sizes_.end();
    total_ =
        in_bytes_ ? std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0}) : sizes_.size();
  }
  ~ReportingList() override { report(true); }
  ReportingList(const ReportingList&) = delete;
  ReportingList& operator=(const ReportingList&) = delete;

  std::uint64_t size_of(std::size_t index) const { return sizes_[index]; }
  bool is_large(std::size_t index) const {
    return sizes_[index] != unknown_size && sizes_[index] > small_bytes;
  }
  bool in_bytes() const { return in_bytes_; }  ///< all sizes are known
  std::size_t size() const override { return sizes_.size(); }
  Request request(std::size_t index) override { return inner_.request(index); }
  base::PartialFile& open(std::size_t index) override { return inner_.open(index); }
  void done(std::size_t index, const Outcome& outcome) override {
    inner_.done(index, outcome);
    done_ += in_bytes_ ? sizes_[index] : 1;
    if (clock_.steady() - reported_ >= std::chrono::milliseconds(100)) report(false);
  }
  /// Reports the progress of file `index`: as part of a list in bytes, else as its own task where
  /// it is large.
  void report_part(std::size_t index, const base::Progress& part) {
    if (!in_bytes_) {
      if (is_large(index)) observer_.progress(part);
      return;
    }
    if (part.finished) return;
    observer_.progress({.task = label_,
                        .done = done_ + std::min(part.done, sizes_[index]),
                        .total = total_,
                        .connections = part.connections,
                        .sources = part.sources});
  }

 private:
  void report(bool finished) {
    reported_ = clock_.steady();
    observer_.progress({.task = label_,
                        .done = done_,
                        .total = total_,
                        .in_bytes = in_bytes_,
                        .finished = finished});
  }

  FileList& inner_;
  std::string label_;
  base::Observer& observer_;
  base::Clock& clock_;
  std::vector<std::uint64_t> sizes_{};
  bool in_bytes_ = false;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  base::SteadyTime reported_{};
};

/// Reports the progress of one file to its list.
class PartProgress final : public QuietProgress {
 public:
  PartProgress(ReportingList& list, std::size_t index, base::Observer& inner)
      : QuietProgress(inner), list_(list), index_(index) {}
  void progress(const base::Progress& part) override { list_.report_part(index_, part); }

 private:
  ReportingList& list_;
  std::size_t index_;
};

/// Returns the largest first where all sizes are known, which ends sooner; else as listed.
std::vector<std::size_t> order_of(const ReportingList& files) {
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!files.in_bytes()) return order;
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return files.size_of(a) > files.size_of(b); });
  return order;
}

bool takes(const Fetcher& fetcher, const std::vector<std::string>& urls) {
  const auto schemes = fetcher.schemes();
  return std::ranges::all_of(urls, [&](const std::string& url) {
    return std::ranges::find(schemes, scheme_of(url)) != schemes.end();
  });
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): as fetch_file
void fetch_files(FileList& files,
                 const std::string& label,
                 const Fetchers& fetchers,
                 const RetryPolicy& policy,
                 base::Clock& clock,
                 base::Observer& observer,
                 std::stop_token stop) {
  QuietProgress quiet(observer);
  ReportingList list(files, label, observer, clock);
  std::vector<std::vector<std::size_t>> together(fetchers.size());
  std::vector<std::size_t> alone;
  for (const std::size_t index : order_of(list)) {
    const Request request = list.request(index);
    const auto fetcher = std::ranges::find_if(fetchers, [&](const auto& each) {
      return each->takes_many() && !request.urls.empty() && takes(*each, request.urls);
    });
    auto& group = fetcher == fetchers.end() || list.is_large(index)
                      ? alone
                      : together[static_cast<std::size_t>(fetcher - fetchers.begin())];
    group.push_back(index);
  }
  for (const std::size_t index : alone) {
    const Request request = list.request(index);
    base::PartialFile& to = list.open(index);
    PartProgress part(list, index, observer);
    list.done(index, fetch_file(request, fetchers, to, policy, clock, part, stop));
  }
  for (std::size_t i = 0; i < fetchers.size(); ++i) {
    if (!together[i].empty()) fetchers[i]->fetch_many(list, together[i], policy, quiet, stop);
  }
}

}  // namespace sabath::fetch
