#pragma once

#include "http/exchange.hpp"
#include "transfer/file_transfer.hpp"
#include "transfer/intake.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace sabath::fetch {

/// Many small files over HTTP, each in one stream, several at a time over connections that stay
/// open. A file that has to wait before it is tried again lets the others go on.
class ManyFiles {
 public:
  /// `alone` is for what needs connections of its own.
  ManyFiles(TransferTools tools, TransferLoop& alone, FileList& files, const RetryPolicy& policy);
  ~ManyFiles();
  ManyFiles(const ManyFiles&) = delete;
  ManyFiles& operator=(const ManyFiles&) = delete;

  /// Throws Error{interrupted} and what `files` throws.
  void run(const std::vector<std::size_t>& indices);

 private:
  /// One file that was opened and is not done.
  struct Job {
    std::size_t index = 0;
    Request request{};
    base::StagedFile* to = nullptr;
    std::size_t url = 0;     ///< which of the sources is asked
    int failures = 0;        ///< in a row, of that source
    bool was_wrong = false;  ///< a transfer of its own gave wrong bytes
    base::SteadyTime ready{};
    Outcome outcome{};
  };
  /// One transfer that is under way.
  struct Slot {
    Slot(const EngineOptions& options, base::Clock& clock) : exchange(options, clock) {}

    Exchange exchange;
    std::optional<Intake> intake{};
    Job job{};
    std::string displayed{};
    bool is_active = false;
  };

  void give_out(const std::vector<std::size_t>& indices);
  std::optional<Job> next_job(const std::vector<std::size_t>& indices);
  void start(Job job);
  Slot& idle_slot();
  void settle(Slot& slot, CURLcode code);
  void settle_end(Slot& slot, End end);
  void complete(Slot& slot);
  void unchanged(Job& job);
  void fail(Job job, const Failure& failure);
  void go_to_next_source(Job job);
  void done(const Job& job);
  void look_for_silence();
  void finish_leftovers();
  std::size_t limit() const;

  TransferTools tools_;
  TransferLoop& alone_;
  FileList& files_;
  const RetryPolicy& policy_;
  std::list<Slot> slots_{};
  std::size_t active_ = 0;
  std::size_t next_ = 0;
  std::size_t throttled_to_;
  bool is_multiplexed_ = false;  ///< the last answer came over HTTP/2
  std::list<Job> waiting_{};
  std::list<Job> leftovers_{};  ///< what one stream cannot do: ranges, another version
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace sabath::fetch
