//===- Catalog.cpp - The one table of checks ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/base/Catalog.h"
#include "clang-tidy/ClangTidyCheck.h"
#include "llvm/ADT/STLExtras.h"

namespace libtorch_tidy {

// CheckFacts.inc has, for each check,
//   CHECK(Class, "name", level, fix, "summary", "why", "tag"...)
// from the head of its page.

// LIBTORCH_CHECK defines these.
#define CHECK(Class, ...)                                                      \
  std::unique_ptr<clang::tidy::ClangTidyCheck> make##Class(                    \
      llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);           \
  llvm::ArrayRef<Reason> reasonsOf##Class();
#include "checks/CheckFacts.inc"
#undef CHECK

namespace {

#define CHECK(Class, Name, Strongest, Fix, Summary, Why, ...)                  \
  constexpr llvm::StringLiteral Class##Tags[] = {__VA_ARGS__};
#include "checks/CheckFacts.inc"
#undef CHECK

// As the pages spell it.
constexpr FixKind none = FixKind::None;
constexpr FixKind sometimes = FixKind::Sometimes;

const CatalogEntry Entries[] = {
#define CHECK(Class, Name, Strongest, Fix, Summary, Why, ...)                  \
  {Name, Level(Strongest), Summary,     Why,                                   \
   Fix,  Class##Tags,      make##Class, reasonsOf##Class},
#include "checks/CheckFacts.inc"
#undef CHECK
};

} // namespace

llvm::ArrayRef<CatalogEntry> catalog() { return Entries; }

const CatalogEntry *findInCatalog(llvm::StringRef Name) {
  const auto *It = llvm::find_if(
      Entries, [&](const CatalogEntry &E) { return E.Name == Name; });
  return It == std::end(Entries) ? nullptr : It;
}

const CatalogEntry *findCheckWith(const Reason &Row) {
  const auto *It = llvm::find_if(Entries, [&](const CatalogEntry &E) {
    return llvm::any_of(E.Reasons(),
                        [&](const Reason &R) { return &R == &Row; });
  });
  return It == std::end(Entries) ? nullptr : It;
}

} // namespace libtorch_tidy
