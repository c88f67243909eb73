//===- Compat.h - One program for several LLVMs -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver uses of Clang besides its syntax trees, and Clang 19 and 22
// call differently, under one name: options, diagnostics, invocations, the
// writer of precompiled headers, clang-tidy's engine. What the checks use is in
// analysis/cpp/Compat.h. Only these two ask which version it is
// (test/infra/compat.test). Before adding to it, look for a form that both
// versions have.
//
//===----------------------------------------------------------------------===//

#ifndef LIBTORCH_TIDY_DRIVER_LLVM_COMPAT_H
#define LIBTORCH_TIDY_DRIVER_LLVM_COMPAT_H

#include "clang-tidy/ClangTidy.h"
#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "clang/Basic/CodeGenOptions.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"
#include "clang/Serialization/ASTWriter.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <memory>
#include <string>
#include <vector>

#if CLANG_VERSION_MAJOR >= 22 // The options are a library of their own.
#include "clang/Driver/CreateInvocationFromArgs.h"
#include "clang/Options/OptionUtils.h"
#include "clang/Options/Options.h"
/// The file that the fates of options are made of.
#define LIBTORCH_TIDY_CLANG_OPTIONS "clang/Options/Options.inc"
#else
#include "clang/Driver/Options.h"
#include "clang/Frontend/Utils.h"
#define LIBTORCH_TIDY_CLANG_OPTIONS "clang/Driver/Options.inc"
#endif

namespace libtorch_tidy::compat {

/// Clang's own options: OPT_o, ClangOption and so on.
#if CLANG_VERSION_MAJOR >= 22
namespace options = clang::options;
#else
namespace options = clang::driver::options;
#endif

/// The table of them.
inline const llvm::opt::OptTable &optionTable() {
#if CLANG_VERSION_MAJOR >= 22
  return clang::getDriverOptTable();
#else
  return clang::driver::getDriverOptTable();
#endif
}

/// \p Path, with \p Folder in front where it is relative.
inline llvm::SmallString<256> absolutePath(const llvm::Twine &Folder,
                                           llvm::StringRef Path) {
  llvm::SmallString<256> Result(Path);
#if CLANG_VERSION_MAJOR >= 22 // It asks no file system, and has moved.
  llvm::sys::path::make_absolute(Folder, Result);
#else
  llvm::sys::fs::make_absolute(Folder, Result);
#endif
  return Result;
}

/// Diagnostics with the default options, which the engine shares in Clang 19,
/// and only refers to in 22.
class Diagnostics {
public:
  explicit Diagnostics(clang::DiagnosticConsumer *Consumer,
                       bool OwnsConsumer = true) {
    auto Ids = llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>();
#if CLANG_VERSION_MAJOR >= 22
    Engine = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
        std::move(Ids), Options, Consumer, OwnsConsumer);
#else
    Engine = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
        std::move(Ids), new clang::DiagnosticOptions, Consumer, OwnsConsumer);
#endif
  }
  Diagnostics(const Diagnostics &) = delete;
  Diagnostics &operator=(const Diagnostics &) = delete;

  clang::DiagnosticsEngine &operator*() const { return *Engine; }
  clang::DiagnosticsEngine *operator->() const { return Engine.get(); }

  /// For what wants to own them. This object must live longer.
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> shared() const {
    return Engine;
  }

private:
#if CLANG_VERSION_MAJOR >= 22
  clang::DiagnosticOptions Options;
#endif
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> Engine;
};

/// Lets the checks of \p Context report to \p To, which must live longer.
inline void setDiagnostics(clang::tidy::ClangTidyContext &Context,
                           const Diagnostics &To) {
#if CLANG_VERSION_MAJOR >= 22 // Those who make the options lend them.
  Context.setDiagnosticsEngine(nullptr, &*To);
#else
  Context.setDiagnosticsEngine(&*To);
#endif
}

/// The names of the checks that \p Options enable.
inline std::vector<std::string>
checkNames(const clang::tidy::ClangTidyOptions &Options) {
#if CLANG_VERSION_MAJOR >= 22 // Checks can be written in .clang-tidy files.
  return clang::tidy::getCheckNames(Options, false, false);
#else
  return clang::tidy::getCheckNames(Options, false);
#endif
}

/// The options of all of them, with the defaults.
inline clang::tidy::ClangTidyOptions::OptionMap
checkOptions(const clang::tidy::ClangTidyOptions &Options) {
#if CLANG_VERSION_MAJOR >= 22
  return clang::tidy::getCheckOptions(Options, false, false);
#else
  return clang::tidy::getCheckOptions(Options, false);
#endif
}

/// All that a configuration can name.
struct ChecksAndOptions {
  llvm::StringSet<> Checks;
  llvm::StringSet<> Options;
};
inline ChecksAndOptions allChecksAndOptions() {
#if CLANG_VERSION_MAJOR >= 22
  auto All = clang::tidy::getAllChecksAndOptions(false, false);
  return {std::move(All.Checks), std::move(All.Options)};
#else
  auto All = clang::tidy::getAllChecksAndOptions(false);
  return {std::move(All.Names), std::move(All.Options)};
#endif
}

/// Takes out of \p Invocation what says how code is made. A precompiled header
/// fits only where a little of it, which newer versions count among what the
/// source means, is as it was: that stays.
inline void dropCodeGeneration(clang::CompilerInvocation &Invocation) {
  clang::CodeGenOptions Plain;
#if CLANG_VERSION_MAJOR >= 22
  const clang::CodeGenOptions &Given = Invocation.getCodeGenOpts();
  Plain.OptimizationLevel = Given.OptimizationLevel;
  Plain.OptimizeSize = Given.OptimizeSize;
  Plain.setInlining(Given.getInlining());
  Plain.setExceptionHandling(Given.getExceptionHandling());
#endif
  Invocation.getCodeGenOpts() = std::move(Plain);
}

/// Where Clang looks for its own headers, for a program at \p Argv0.
inline std::string resourcesPath(const char *Argv0, void *MainAddress) {
#if CLANG_VERSION_MAJOR >= 22
  return clang::GetResourcesPath(Argv0, MainAddress);
#else
  return clang::CompilerInvocation::GetResourcesPath(Argv0, MainAddress);
#endif
}

/// The options of \p Invocation as class HeaderSearch takes them. It must live
/// longer than that.
#if CLANG_VERSION_MAJOR >= 22
inline const clang::HeaderSearchOptions &
headerSearchOptions(const clang::CompilerInvocation &Invocation) {
  return Invocation.getHeaderSearchOpts();
}
#else
inline std::shared_ptr<clang::HeaderSearchOptions>
headerSearchOptions(const clang::CompilerInvocation &Invocation) {
  return std::make_shared<clang::HeaderSearchOptions>(
      Invocation.getHeaderSearchOpts());
}
#endif

/// Writes what \p Compiler has read as a precompiled header.
class PrecompiledHeaderWriter : public clang::ASTWriter {
public:
#if CLANG_VERSION_MAJOR >= 22
  PrecompiledHeaderWriter(llvm::BitstreamWriter &Stream,
                          llvm::SmallVectorImpl<char> &Buffer,
                          clang::CompilerInstance &Compiler)
      : clang::ASTWriter(Stream, Buffer, Compiler.getModuleCache(),
                         Compiler.getCodeGenOpts(), {}) {}
  void write(clang::Sema &S) { WriteAST(&S, "", nullptr, ""); }
#else
  PrecompiledHeaderWriter(llvm::BitstreamWriter &Stream,
                          llvm::SmallVectorImpl<char> &Buffer,
                          clang::CompilerInstance &Compiler)
      : clang::ASTWriter(Stream, Buffer, Compiler.getModuleCache(), {}) {}
  void write(clang::Sema &S) { WriteAST(S, "", nullptr, ""); }
#endif
};

} // namespace libtorch_tidy::compat

#endif // LIBTORCH_TIDY_DRIVER_LLVM_COMPAT_H
