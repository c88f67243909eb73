//===- LibtorchTidyModule.cpp - The checks as a clang-tidy module ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/base/Catalog.h"
#include "clang-tidy/ClangTidyCheck.h"
#include "clang-tidy/ClangTidyModule.h"
#include "clang/Basic/Version.h"
#include "llvm/Support/Registry.h"
#include "llvm/Support/raw_ostream.h"

namespace libtorch_tidy {

namespace {

/// "19.1" of "Debian clang version 19.1.7 (3~deb12u1)". The C++ interface of
/// clang-tidy is stable within a minor release only.
llvm::StringRef majorMinor(llvm::StringRef FullVersion) {
  size_t Start = FullVersion.find_first_of("0123456789");
  if (Start == llvm::StringRef::npos)
    return {};
  llvm::StringRef Digits = FullVersion.drop_front(Start).take_while(
      [](char C) { return llvm::isDigit(C) || C == '.'; });
  auto [Major, Rest] = Digits.split('.');
  llvm::StringRef Minor = Rest.split('.').first;
  return Digits.take_front(Major.size() + 1 + Minor.size());
}

class LibtorchTidyModule : public clang::tidy::ClangTidyModule {
public:
  void addCheckFactories(
      clang::tidy::ClangTidyCheckFactories &CheckFactories) override {
    // getClangFullVersion() is the host's: nothing of clang is linked here.
    const std::string Host = clang::getClangFullVersion();
    if (majorMinor(Host) != majorMinor(CLANG_VERSION_STRING)) {
      llvm::errs() << "libtorch-tidy: error: this plugin was built for "
                      "clang-tidy "
                   << majorMinor(CLANG_VERSION_STRING)
                   << " and is loaded by version " << majorMinor(Host)
                   << "; its checks are not registered. Load it with "
                      "clang-tidy-"
                   << CLANG_VERSION_MAJOR << ".\n";
      return;
    }
    for (const CatalogEntry &Entry : catalog())
      CheckFactories.registerCheckFactory(Entry.Name, Entry.Create);
  }
};

llvm::Registry<clang::tidy::ClangTidyModule>::Add<LibtorchTidyModule>
    RegisteredModule("libtorch-module",
                     "Memory antipatterns in LibTorch code.");

} // namespace

} // namespace libtorch_tidy
