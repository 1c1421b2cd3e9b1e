#pragma once

#include <sabath/batch/run_watch.hpp>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::batch {

/// The names in a folder, read again only when it has changed.
class ChangingFolder {
 public:
  explicit ChangingFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Those that were not there before.
  std::vector<std::string> news(base::WallTime now);

 private:
  std::filesystem::path folder_;
  std::optional<base::WallTime> read_{};  ///< the folder's time when it was read last
  std::set<std::string> known_{};
};

/// The runs of one batch among those that are watched.
class RunWatch::Batch {
 public:
  Batch(home::BatchFiles files,
        std::vector<WatchedRun*> runs,
        const DeskOf& desk_of,
        base::Clock& clock);

  bool look(const std::stop_token& stop);
  /// Says of all that are not over why they could not be looked at.
  void tell(const std::string& problem);

 private:
  struct Seen {
    WatchedRun* run = nullptr;
    std::size_t task = 0;  ///< from 1
    int attempt = 0;       ///< the newest that has begun; 0: none
    bool ended = false;    ///< an attempt of it
    std::vector<std::string>
        tasks{};  ///< of the steps that are handed in, as the scheduler says it
  };

  void ask(const std::stop_token& stop);
  void take_news();
  bool lacks_jobs() const { return !jobs_ || jobs_->jobs.size() < plan_.steps.size(); }
  enum class HandingIn { goes_on, may_go_on, is_over };
  HandingIn handing_in() const;
  bool has_begun() const;
  void tell_handing_in();
  void ask_about_submission(const std::stop_token& stop);
  void give_up(const std::stop_token& stop);
  std::optional<std::string> job_on_node() const;
  const std::vector<std::string>& tasks_of(Seen& seen) const;
  std::string bring_back(const Seen& seen) const;
  void resolve(Seen& seen, const std::map<std::string, TaskView>& views);
  void tell_waiting(Seen& seen, const TaskView& at);
  void tell_next_lacks(Seen& seen, const TaskView& at) const;
  bool was_asked_since(const Seen& seen, const TaskView& at) const;
  std::string why_ended(const Seen& seen, const launch::JobView& view, std::size_t step) const;
  void tell_unclear(Seen& seen, const TaskView& at) const;
  bool take_outcome(Seen& seen, bool job_is_over) const;
  void close(Seen& seen, spec::RunState state, const std::string& why) const;
  bool is_patience_over(base::WallTime since) const;

  home::BatchFiles files_;
  spec::BatchPlan plan_;
  std::vector<Seen> runs_;
  SchedulerDesk& desk_;
  base::Clock& clock_;
  std::optional<spec::BatchJobs> jobs_{};
  std::optional<base::SteadyTime> asked_{};  ///< when a job was looked for that nobody wrote down
  std::string never_handed_in_{};            ///< what of it; empty: nothing that is known of
  ChangingFolder started_;
  ChangingFolder ended_;
  std::map<std::string, bool> stuck_{};  ///< by what people read of a job
};

}  // namespace sabath::batch
