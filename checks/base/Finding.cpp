//===- Finding.cpp - A finding, as a check reports it ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks/base/Finding.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/TorchTypes.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace clang;

namespace libtorch_tidy {

FindingListener::~FindingListener() = default;

// Thread-local because silent() is given a place, by which no UnitContext can
// be found; the driver installs a listener around each unit.
static thread_local FindingListener *CurrentListener = nullptr;

FindingListener *FindingListener::install(FindingListener *Listener) {
  return std::exchange(CurrentListener, Listener);
}

FindingListener *FindingListener::current() { return CurrentListener; }

std::string listed(llvm::ArrayRef<std::string> Names) {
  std::string Text;
  for (size_t I = 0; I < Names.size(); ++I)
    Text += (I == 0 ? "" : I + 1 == Names.size() ? " and " : ", ") + Names[I];
  return Text;
}

std::string quoted(QualType T, const ASTContext &Context) {
  // LLVM 22 writes the names of namespaces only when it is asked to.
  PrintingPolicy Policy(Context.getLangOpts());
  Policy.FullyQualifiedName = true;
  return quoted(T.getNonReferenceType()
                    .getUnqualifiedType()
                    .getCanonicalType()
                    .getAsString(Policy));
}

Finding Finding::at(SourceLocation Loc, SourceRange Highlight) {
  Finding F;
  F.Loc = Loc;
  F.Highlight = Highlight;
  F.Strength = Level::Certain;
  return F;
}

Finding &Finding::because(const Reason &Row, const llvm::Twine &Detail,
                          SourceLocation At) {
  return because(Because{&Row, Detail.str(), At});
}

Level lowered(Level From, llvm::ArrayRef<Because> Why) {
  for (const Because &Each : Why)
    if (Each.Row->Does <= Effect::Advice)
      From = std::max(From, static_cast<Level>(Each.Row->Does));
  return From;
}

Finding &Finding::because(llvm::ArrayRef<Because> Found) {
  Reasons.append(Found.begin(), Found.end());
  return level(lowered(Strength, Found));
}

/// The first of \p Reasons that has effect \p Wanted; null for none.
static const Because *firstWith(llvm::ArrayRef<Because> Reasons,
                                Effect Wanted) {
  const auto *It = llvm::find_if(
      Reasons, [&](const Because &Why) { return Why.Row->Does == Wanted; });
  return It == Reasons.end() ? nullptr : It;
}

Finding &Finding::noteMade(const ValueDecl *Var) {
  const auto *Local = dyn_cast_or_null<VarDecl>(Var);
  const Expr *Init = Local && Local->isLocalVarDecl() && Local->getInit()
                         ? cpp::stripImplicit(Local->getInit())
                         : nullptr;
  const auto *Made = dyn_cast_or_null<CXXConstructExpr>(Init);
  // Null or undefined, until it is given something.
  const bool IsEmpty = Made && Made->getNumArgs() == 0 &&
                       (torch::isTensor(Local->getType()) ||
                        cpp::isStdDecl(Made->getConstructor()->getParent()));
  return isa_and_nonnull<CallExpr, CXXConstructExpr>(Init) && !IsEmpty
             ? note(Init, quoted(Var) + " is made here")
             : *this;
}

bool Finding::hasFix() const {
  return !Fix.empty() && !firstWith(Reasons, Effect::NoFix);
}

const Because *Finding::silence() const {
  return firstWith(Reasons, Effect::Silent);
}

void silent(SourceLocation Loc, const Reason &Row, const llvm::Twine &Detail,
            SourceLocation At) {
  if (asksWhy())
    FindingListener::current()->silenced(Loc, {&Row, Detail.str(), At});
}

void silent(SourceLocation Loc, const Reason &Row, const NamedDecl *D) {
  if (asksWhy())
    silent(Loc, Row, quoted(D), D->getLocation());
}

} // namespace libtorch_tidy
