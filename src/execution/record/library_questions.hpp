#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/base/text/text_memo.hpp>
#include <sabath/probe/library_versions.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/software.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// Asks libraries for their versions, each in a process of its own with the environment that it was
/// loaded in (and the affinity of this one), but without what that preloads. Answers are kept in
/// `state`/library-versions by all that they depend on: the library's bytes, the processor, how
/// many of its threads may be used, and variables of libraries.
class LibraryQuestions {
 public:
  LibraryQuestions(base::ProcessRunner& processes,
                   std::filesystem::path program,
                   const spec::CpuFacts& cpu,
                   const std::filesystem::path& state,
                   std::stop_token stop);
  ~LibraryQuestions();
  LibraryQuestions(const LibraryQuestions&) = delete;
  LibraryQuestions& operator=(const LibraryQuestions&) = delete;

  /// What goes wrong is a note, also when it went wrong before. Only what the loader finds wrong
  /// with the library itself is not tried again.
  probe::LibraryAnswer ask(const spec::LoadedLibrary& library,
                           base::Environment environment,
                           std::vector<std::string>& notes);

 private:
  std::string key_of(const spec::LoadedLibrary& library,
                     const base::Environment& environment) const;
  std::string answer_to(const std::string& key,
                        const spec::LoadedLibrary& library,
                        const base::Environment& environment);
  std::string ask_now(const spec::LoadedLibrary& library, const base::Environment& environment);

  base::ProcessRunner& processes_;
  std::filesystem::path program_;
  std::string processor_;
  base::TextMemo memo_;
  std::map<std::string, std::string> told_{};  ///< by key, since this began
  std::stop_token stop_;
};

}  // namespace sabath::execution
