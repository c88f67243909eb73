//===- TidyFindings.h - What clang-tidy says of a unit ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_ENGINE_TIDYFINDINGS_H
#define LIBTORCH_TIDY_DRIVER_ENGINE_TIDYFINDINGS_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "driver/engine/Units.h"
#include "driver/findings/NolintAudit.h"
#include "driver/project/FileSystem.h"
#include "clang/Basic/SourceLocation.h"
#include "clang/Lex/PPCallbacks.h"
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace clang {
class ASTContext;
class Decl;
class FunctionDecl;
class SourceManager;
} // namespace clang

namespace libtorch_tidy::driver {

/// What a check says of a finding and clang-tidy's diagnostics cannot carry.
struct HeardFinding {
  clang::SourceLocation Loc; ///< Of the diagnostic.
  Level Strength;
  bool IsTooWeak; ///< For the level of this run.
  std::string Function;
  std::optional<uint64_t> Bytes;
  std::vector<FindingReason> Reasons;
  /// What else it stands for, by path (as in diagnostics) and offset, and what
  /// the story says of that.
  std::map<std::pair<std::string, unsigned>, std::string> Members;
  Makers MadeBy = {};
};

/// By check, path (as in the diagnostic) and offset; also what is too weak or
/// suppressed, of which no diagnostic came.
using HeardFindings =
    std::map<std::tuple<std::string, std::string, unsigned>, HeardFinding>;

/// Makes findings of what clang-tidy's engine reports of a unit and of what was
/// heard of the same. \p Unreported receives what was only heard.
std::vector<Finding>
toFindings(llvm::ArrayRef<clang::tidy::ClangTidyError> Errors,
           const HeardFindings &Heard, FileSystem FS,
           std::vector<NolintAudit::Heard> &Unreported);

/// The functions that the user's part of a unit defines, by what they take of
/// their files. Lambdas and the methods of local classes count as a part of
/// the function that they are in, and so does what a macro makes of a body that
/// is written after it.
class EnclosingFunctions {
public:
  /// \p Context is complete.
  explicit EnclosingFunctions(const clang::ASTContext &Context);

  /// The qualified name of the function around \p Loc, a place in a file,
  /// without anonymous namespaces and template arguments; empty outside
  /// functions.
  std::string at(clang::SourceLocation Loc) const;

private:
  struct Extent {
    clang::FileID File;
    unsigned First, Last; ///< Offsets of tokens.
    const clang::FunctionDecl *Function;
  };
  void add(const clang::Decl *D);

  const clang::SourceManager &SM;
  std::vector<Extent> Extents;
};

/// A user file that speaks of NOLINT, once for each time it was read.
struct NolintFile {
  clang::FileID Id;
  std::string Path; ///< As in diagnostics.
  /// What the preprocessor skipped, from and to which byte.
  std::vector<std::pair<unsigned, unsigned>> Skipped;
  /// The function around each comment.
  std::vector<std::string> Functions;
};

/// Writes down in \p Result where NOLINT comments are, and what the unit does
/// not see.
std::unique_ptr<clang::PPCallbacks>
recordNolintFiles(const clang::SourceManager &SM,
                  std::vector<NolintFile> &Result);

/// Fills in the functions.
void nameFunctions(std::vector<NolintFile> &Files,
                   const clang::SourceManager &SM,
                   const EnclosingFunctions &Functions);

/// All that the audit of NOLINT comments must know of \p U, if it is analysed
/// in full. \p Unreported is what its checks said and the engine kept back,
/// with paths as in diagnostics.
NolintAudit::View nolintView(const Unit &U, std::vector<NolintFile> Files,
                             std::vector<NolintAudit::Heard> Unreported,
                             const Configuration &Config,
                             llvm::vfs::FileSystem &FS);

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_ENGINE_TIDYFINDINGS_H
