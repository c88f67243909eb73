//===- Configuration.h - .clang-tidy files and what overrides them -*- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIBTORCH_TIDY_DRIVER_PROJECT_CONFIGURATION_H
#define LIBTORCH_TIDY_DRIVER_PROJECT_CONFIGURATION_H

#include "checks/base/Catalog.h"
#include "clang-tidy/ClangTidyOptions.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <set>

namespace libtorch_tidy::driver {

/// What the command line says about the configuration.
struct ConfigurationOptions {
  std::optional<std::string> Checks, Config, ConfigFile, HeaderFilter,
      ExcludeHeaderFilter, LineFilter, WarningsAsErrors;
  std::optional<Level> WeakestLevel;
  std::optional<bool> UseColor;
};

/// Makes providers of options: one per unit, so that units share nothing.
class Configuration {
public:
  static llvm::Expected<Configuration>
  create(const ConfigurationOptions &Options,
         llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

  /// With \p CompilerWarnings, the compiler's warnings are enabled in addition
  /// to the checks.
  std::unique_ptr<clang::tidy::ClangTidyOptionsProvider>
  createProvider(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS,
                 bool CompilerWarnings = false) const;

  /// The options for \p File, checked: a malformed .clang-tidy file and an
  /// invalid regular expression are errors, where clang-tidy goes on without.
  llvm::Expected<clang::tidy::ClangTidyOptions>
  optionsFor(llvm::StringRef File) const;

  /// From now on findings in these headers (absolute paths) are reported, too,
  /// and, as the engine sees headers by other names, in others of their name.
  void reportHeaders(llvm::ArrayRef<std::string> Paths);

  /// Does the header filter for \p File, without reportHeaders(), take the
  /// header \p Path?
  bool filterTakes(llvm::StringRef File, llvm::StringRef Path) const;
  /// Do the header filters in \p Options?
  static bool filterTakes(const clang::tidy::ClangTidyOptions &Options,
                          llvm::StringRef Path);

  /// --line-filter as it was given; empty: none.
  llvm::StringRef lineFilter() const { return LineFilter; }
  /// Does it take this line?
  bool lineFilterTakes(llvm::StringRef Path, unsigned Line) const;

  /// The weakest level at which \p Check reports its findings.
  static Level weakestLevel(const clang::tidy::ClangTidyOptions &Options,
                            llvm::StringRef Check);

  /// The checks that \p Options enable.
  static std::vector<std::string>
  enabledChecks(const clang::tidy::ClangTidyOptions &Options);

  /// The configurations for \p File: files, or --config.
  std::vector<std::string> placesFor(llvm::StringRef File) const;

  /// --dump-config and --verify-config for \p File.
  std::string dump(llvm::StringRef File) const;
  /// Prints problems on the standard error; false when there are any.
  bool verify(llvm::StringRef File) const;

  /// Warns of the same, of each configuration once.
  void warnOfUnknown(llvm::StringRef File);
  /// Of the .clang-tidy files that warnOfUnknown() looked at those that name
  /// checks, but none of ours: then all of ours run, and WarningsAsErrors there
  /// is not about them.
  const std::set<std::string> &filesAboutOtherPrograms() const {
    return AboutOthers;
  }

private:
  class Provider;

  Configuration() = default;
  /// Reads configurations through \p From, and reports findings in headers that
  /// the expression \p Headers takes, too.
  std::unique_ptr<Provider>
  provider(llvm::StringRef Headers,
           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> From) const;
  static void findProblems(
      const Provider &P,
      const clang::tidy::ClangTidyOptionsProvider::OptionsSource &Source,
      llvm::function_ref<void(llvm::StringRef Problem)> Found);

  clang::tidy::ClangTidyGlobalOptions Global;
  clang::tidy::ClangTidyOptions Defaults, Overrides;
  /// From --config or --config-file, and where it was read.
  std::optional<clang::tidy::ClangTidyOptions> Given;
  std::optional<Level> WeakestLevel;
  std::string LineFilter;
  std::string MoreHeaders;  ///< A regular expression.
  llvm::StringSet<> Warned; ///< Configurations that were looked at, by name.
  std::set<std::string> AboutOthers;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS;
};

} // namespace libtorch_tidy::driver

#endif // LIBTORCH_TIDY_DRIVER_PROJECT_CONFIGURATION_H
