#pragma once

#include "coverage.hpp"
#include "mirror.hpp"
#include "progress_meter.hpp"
#include "reachability.hpp"
#include "transfer_loop.hpp"
#include "worker.hpp"

#include <sabath/base/observer.hpp>
#include <sabath/base/staged_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <list>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::fetch {

/// What a FileTransfer works with.
struct TransferTools {
  TransferLoop& loop;
  Reachability& reachability;
  const EngineOptions& options;
  base::Clock& clock;
  base::Observer& observer;
  std::stop_token stop{};
};

/// One file over HTTP, by ranges from all of its sources at once where a digest will prove what
/// they give together; else from one source after the other. A source has its own validators, and
/// every answer is held against them; its own back-off, during which the others go on; and as many
/// connections as its host is found to bear. In three files: giving out work, judging what comes,
/// and what to do when it does not.
class FileTransfer {
 public:
  FileTransfer(TransferTools tools, const Request& request, base::StagedFile& to);
  ~FileTransfer();
  FileTransfer(const FileTransfer&) = delete;
  FileTransfer& operator=(const FileTransfer&) = delete;

  /// Throws Error{interrupted|storage}.
  Outcome run(const std::vector<std::string>& urls);

 private:
  using Seconds = std::chrono::duration<double>;

  bool is_proved_later() const { return !request_.digests.empty(); }
  bool is_complete() const { return size_ && there_.bytes() == *size_; }
  std::optional<std::uint64_t> known_size() const { return size_ ? size_ : request_.size_bytes; }

  // Giving out work (file_transfer.cpp).
  void add_mirrors(const std::vector<std::string>& urls);
  Host& host_of(const std::string& name);
  void read_partial();
  void read_present();
  void assign_work();
  bool may_ask(const Mirror& mirror, base::SteadyTime now) const;
  std::optional<base::ByteRange> next_range(const Mirror& mirror);
  std::optional<base::ByteRange> next_share(const Mirror& mirror, std::uint64_t size_bytes);
  void start(Mirror& mirror, base::ByteRange range);
  Worker& idle_worker();
  std::vector<Worker*> active_workers() const;
  unsigned active_on(const Host& host) const;
  void move_on();
  void climb();
  std::chrono::nanoseconds time_to_wait() const;
  void tell(bool at_once);

  // Judging what comes (file_transfer_answers.cpp).
  bool accept(Worker& worker, const Answer& answer);
  bool accept_whole(Worker& worker, const Answer& answer);
  bool accept_size(Worker& worker);
  void bind(Worker& worker, const Answer& answer);
  void learn_size(std::uint64_t size_bytes);
  void settle(Worker& worker, CURLcode code);
  void settle_answer(Worker& worker, bool is_clean);
  void settle_body(Worker& worker, bool is_clean);
  void settle_end(Worker& worker);
  void settle_status(Worker& worker);
  void settle_misfit(Worker& worker);
  void succeeded(Worker& worker);
  void release(Worker& worker);
  void cancel_all(const Mirror* mirror, const Worker* except = nullptr);
  void start_over();
  void forget_version(Mirror& mirror);

  // What to do when it does not (file_transfer_failures.cpp).
  void fail(Worker& worker, const Failure& failure);
  void give_up(Mirror& mirror, const Failure& failure);
  bool host_bears_no_more(const Worker& worker, const Failure& failure) const;
  void look_for_silence();
  bool others_could_do_it(const Worker& worker, base::SteadyTime now) const;
  Outcome outcome() const;
  void put_problems(Outcome& outcome) const;

  TransferTools tools_;
  const Request& request_;
  base::StagedFile& to_;
  Coverage there_{};
  std::optional<std::uint64_t> size_{};
  std::list<Host> hosts_{};
  std::list<Mirror> mirrors_{};
  std::vector<std::pair<std::string, Failure>> malformed_{};
  std::vector<std::unique_ptr<Worker>> workers_{};
  ProgressMeter meter_;
  std::minstd_rand random_{std::random_device{}()};
  std::uint64_t transferred_ = 0;
  std::chrono::nanoseconds waited_{};  ///< for the network
};

}  // namespace sabath::fetch
