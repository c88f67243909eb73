//===- Snapshot.h - What a pass knows, to go back to it ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_SNAPSHOT_H
#define LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_SNAPSHOT_H

#include "analysis/bytes/interpret/Interpreter.h"

namespace libtorch_tidy::bytes {

/// The values of all variables and modules that the calls which go on can
/// reach.
class Snapshot {
public:
  explicit Snapshot(Interpreter &VM);
  void restore() const;

  /// What differs from it now, each in words that two runs can be compared by.
  /// nullopt where that is too much to say.
  std::optional<std::map<Cell, std::string>> changes() const;
  /// The value of \p V that it has, in such words.
  std::string before(const Cell &V) const;

private:
  void add(const Cell &V);
  void add(const ModulePtr &M);

  Interpreter &VM;
  std::map<Cell, Value> Cells;
  std::map<TensorPtr, TensorInstance> Tensors;
  std::map<ModulePtr, ModuleInstance> Modules;
  std::vector<Frame> Frames;
  std::vector<Cell> Temporaries;
  bool GradMode;
};

} // namespace libtorch_tidy::bytes

#endif // LIBTORCH_TIDY_ANALYSIS_BYTES_INTERPRET_SNAPSHOT_H
