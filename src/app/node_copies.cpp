#include "node_copies.hpp"

#include "node_staging.hpp"
#include "parallel_prefix.hpp"

#include <sabath/app/execute_copies.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/probe/host_probe.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>
#include <string_view>

namespace sabath::app {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr const char* wanted_name = ".copies";
/// Removing tens of GiB from a slow disk; the site waits for no more, and what is left is removed
/// by the next run there.
constexpr std::chrono::minutes longest_removal{2};

fs::path folder_of(const WantedCopies& wanted,
                   const base::Environment& environment,
                   base::Observer& observer) {
  return expanded(wanted.folder, environment, observer).value_or(fs::path());
}

CopySource source_of(const WantedCopies::Item& item,
                     base::ProcessRunner& processes,
                     const std::stop_token& stop) {
  if (!item.image) return files_to_copy(item.key, item.source, stop);
  return {item.key,
          item.source,
          [item] { return item.image->unpacked_bytes; },
          [item, &processes, stop](const fs::path& copy) {
            env::unpack_image(*item.image, copy, processes, stop);
          }};
}

template <typename Number>
Number number_of(const std::string& text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\0', from), text.size());
    words.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

/// Each word ends with a null: paths may have everything else in them.
std::string text_of(const WantedCopies& wanted) {
  std::string text;
  const auto add = [&](const std::string& word) { text += word + '\0'; };
  add(wanted.folder);
  add(wanted.name);
  add(std::to_string(wanted.until.time_since_epoch().count()));
  for (const WantedCopies::Item& item : wanted.items) {
    const env::PrefixImage image = item.image.value_or(env::PrefixImage{});
    add(item.key);
    add(item.source.string());
    add(image.path.string());
    add(image.digest.hex);
    add(image.layer);
    add(std::to_string(image.unpacked_bytes));
  }
  return text;
}

WantedCopies parsed(const std::string& text, const fs::path& file) {
  constexpr std::size_t of_head = 3;
  constexpr std::size_t of_item = 6;
  const std::vector<std::string> words = words_in(text);
  if (words.size() < of_head || (words.size() - of_head) % of_item != 0)
    throw Error(ErrorKind::usage, file.string() + ": is not what 'sabath exec' writes");
  WantedCopies wanted{words[0], words[1], {}, {}};
  wanted.until = base::WallTime(std::chrono::nanoseconds(number_of<std::int64_t>(words[2])));
  for (std::size_t at = of_head; at < words.size(); at += of_item) {
    WantedCopies::Item item{words[at], words[at + 1], {}};
    if (!words[at + 2].empty()) {
      item.image.emplace();
      item.image->prefix = item.source;
      item.image->path = words[at + 2];
      item.image->digest = {base::DigestAlgorithm::sha256, words[at + 3]};
      item.image->layer = words[at + 4];
      item.image->unpacked_bytes = number_of<std::uint64_t>(words[at + 5]);
    }
    wanted.items.push_back(std::move(item));
  }
  return wanted;
}

/// Of one node, in lines.
class Told final : public base::Observer {
 public:
  void note(std::string_view) override {}
  void warn(std::string_view text, std::string_view hint) override {
    lines.push_back(probe::node_name() + ": " + std::string(text) +
                    (hint.empty() ? "" : ": " + std::string(hint)));
  }
  void progress(const base::Progress&) override {}

  std::vector<std::string> lines{};
};

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    if (to > from) lines.push_back(base::printable(text.substr(from, to - from)));
    from = to + 1;
  }
  return lines;
}

}  // namespace

WantedCopies wanted_copies(const spec::RunPlan& plan,
                           const spec::Staging& staging,
                           const base::Trust& trust,
                           base::Observer& observer) {
  WantedCopies wanted{staging.folder, plan.run_id, {}, {}};
  std::set<fs::path> known;
  if (staging.inputs) {
    for (const spec::PlannedInput& input : plan.inputs) {
      if (known.insert(input.path).second)
        wanted.items.push_back({input.digest.hex, input.path, {}});
    }
  }
  if (!staging.environments) return wanted;
  const std::vector<env::PrefixImage> images = images_used(plan);
  if (images.empty() || !may_use_images(observer)) return wanted;
  for (const env::PrefixImage& image : images) {
    if (const auto reason = base::why_untrusted(image.path, trust)) {
      observer.warn(*reason + ": the image of layer '" + image.layer + "' is not used",
                    "the files in the cache are used instead");
    } else {
      wanted.items.push_back(
          {base::sha256_of("unpacked " + image.digest.hex).hex, image.prefix, image});
    }
  }
  return wanted;
}

bool may_use_images(base::Observer& observer) {
  if (env::may_enter()) return true;
  observer.warn(
      "environment: its images are not used: this system lets users have no "
      "namespaces of their own",
      "the files in the cache are used instead");
  return false;
}

base::WallTime lent_until(const spec::BatchPlan& batch, std::size_t step, base::WallTime now) {
  constexpr std::chrono::hours without_limit{48};
  const auto time = batch.steps[step - 1].resources.time;
  return now + (time ? *time * std::max(batch.pack, 1) : without_limit);
}

std::vector<HeldCopy> make_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::ProcessRunner& processes,
                                  base::Clock& clock,
                                  base::Observer& observer,
                                  const std::stop_token& stop) {
  std::vector<HeldCopy> copies;
  if (wanted.items.empty()) return copies;
  const fs::path folder = folder_of(wanted, environment, observer);
  if (folder.empty()) return copies;
  for (const WantedCopies::Item& item : wanted.items) {
    auto copy = StagedCopy::make(folder, source_of(item, processes, stop), clock, observer, stop);
    if (copy) copies.push_back({item, std::move(*copy)});
  }
  return copies;
}

std::vector<HeldCopy> find_copies(const WantedCopies& wanted,
                                  const base::Environment& environment,
                                  base::Clock& clock) {
  base::SilentObserver silent;
  std::vector<HeldCopy> copies;
  const fs::path folder = folder_of(wanted, environment, silent);
  if (folder.empty()) return copies;
  for (const WantedCopies::Item& item : wanted.items) {
    auto copy = StagedCopy::find(folder, item.key, clock);
    if (copy) copies.push_back({item, std::move(*copy)});
  }
  return copies;
}

void see_copy(const HeldCopy& held, int job_nodes, spec::RunPlan& plan) {
  if (held.item.image) return;
  for (spec::PlannedInput& input : plan.inputs) {
    if (input.path == held.item.source) input.path = held.copy.path().string();
  }
  for (spec::PlannedStage& stage : plan.stages) {
    const bool is_alone = !is_spread(stage, job_nodes) && stage.resources.nodes.value_or(1) <= 1;
    if (is_alone) see_instead(held.item.source, held.copy.path(), stage);
  }
}

std::vector<env::LocalPrefix> prefixes_of(const std::vector<HeldCopy>& copies) {
  std::vector<env::LocalPrefix> prefixes;
  for (const HeldCopy& held : copies) {
    if (held.item.image) prefixes.push_back({held.item.source, held.copy.path()});
  }
  return prefixes;
}

std::optional<WantedCopies> read_wanted_copies(const fs::path& attempt) {
  const fs::path file = attempt / wanted_name;
  const auto text = base::read_file_if_exists(file);
  return text ? std::optional(parsed(*text, file)) : std::nullopt;
}

std::vector<std::string> execute_copies(const std::string& what,
                                        const fs::path& attempt,
                                        base::ProcessRunner& processes,
                                        base::Clock& clock,
                                        const std::stop_token& stop) {
  const auto wanted = read_wanted_copies(attempt);
  if (!wanted || (what != "make" && what != "remove"))
    throw Error(ErrorKind::usage,
                "exec --copies: wants 'make' or 'remove' and an attempt's folder");
  Told told;
  const base::Environment environment = base::current_environment();
  if (what == "make") {
    for (const HeldCopy& held : make_copies(*wanted, environment, processes, clock, told, stop))
      held.copy.lend(wanted->name, wanted->until);
    return told.lines;
  }
  const fs::path folder = folder_of(*wanted, environment, told);
  if (folder.empty()) return {};  // told when they were to be made
  for (const WantedCopies::Item& item : wanted->items)
    StagedCopy::end_loan(folder, item.key, wanted->name, clock);
  return {};
}

NodeCopies::NodeCopies(const WantedCopies& wanted,
                       fs::path attempt,
                       fs::path program,
                       base::ProcessRunner& processes,
                       base::Observer& observer,
                       std::function<void(const std::string&)> tell)
    : attempt_(std::move(attempt)),
      program_(std::move(program)),
      processes_(processes),
      observer_(observer),
      tell_(std::move(tell)) {
  base::write_file_atomically(
      attempt_ / wanted_name, text_of(wanted), base::Durability::ordered_only);
}

NodeCopies::~NodeCopies() {
  try {
    if (starter_) run("remove", {});
    fs::remove(attempt_ / wanted_name);
  } catch (const std::exception&) {
    return;  // the next run on these nodes removes them
  }
}

base::ProcessResult NodeCopies::run(const char* what, const std::stop_token& stop) {
  base::Command command = *starter_;
  command.argv.insert(command.argv.end(),
                      {program_.string(), "exec", "--copies", what, attempt_.string()});
  command.working_directory = attempt_;
  if (!stop.stop_possible()) command.deadline = longest_removal;
  return processes_.run(command, stop);
}

void NodeCopies::make(base::Command starter, const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  if (starter_) return;
  tell_("copying inputs and environments to the nodes");
  starter_ = std::move(starter);
  const base::ProcessResult result = run("make", stop);
  tell_("");
  if (result.end == base::ProcessEnd::stopped)
    throw Error(ErrorKind::interrupted, "interrupted while inputs were copied to the nodes");
  for (const std::string& line : lines_in(result.output))
    observer_.warn(line);
  if (result.ok()) return;
  const std::vector<std::string> said = lines_in(result.errors);
  observer_.warn("copying to the nodes: '" + starter_->argv.front() + "' " + result.describe() +
                     (said.empty() ? "" : ": " + said.back()),
                 "what is not there is read where it is");
}

}  // namespace sabath::app
