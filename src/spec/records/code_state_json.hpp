#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/code_state.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, GitState> git) {
  io("commit", git.commit);
  io("branch", git.branch);
  io("path", git.path);
  io("remotes", git.remotes);
  io("dirty", git.dirty);
  io("dirty_files", git.dirty_files);
  io("submodules", git.submodules);
  io("diff", git.diff);
  io("no_diff", git.no_diff);
}

template <class Io>
void describe(Io& io, FieldRef<Io, CodeChange> change) {
  io("seen", change.seen);
  io("code", change.code);
  io("files", change.files);
}

template <class Io>
void describe(Io& io, FieldRef<Io, CodeState> code) {
  io("kept", code.kept);
  io("not_kept", code.not_kept);
  io("tree", code.tree);
  io("git", code.git);
  io("no_git", code.no_git);
  io("untracked", code.untracked);
  io("no_untracked", code.no_untracked);
  io("changed", code.changed);
}

}  // namespace sabath::spec
