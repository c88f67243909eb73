//===- Scope.cpp - The user's part of a translation unit ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/project/Scope.h"
#include "analysis/cpp/UserCode.h"
#include "driver/llvm/Compat.h"
#include "driver/project/CudaUnits.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclGroup.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "clang/Serialization/ASTWriter.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitstream/BitstreamWriter.h"
#include <vector>

using namespace clang;

namespace libtorch_tidy::driver {

bool LibraryCode::contains(SourceLocation Loc) {
  Loc = SM.getExpansionLoc(Loc);
  if (Loc.isInvalid())
    return false;
  auto [It, New] = Known.try_emplace(SM.getFileID(Loc));
  if (New)
    It->second = !cpp::isUserCode(Loc, SM);
  return It->second;
}

namespace {

/// Nothing of a library function is analysed, so nothing of it is parsed or,
/// at the end of the unit, instantiated. Thousands of instantiations and
/// hundreds of tables of virtual functions would wait in a precompiled header
/// for the end of each unit that begins with it. (What the parser itself needs
/// the body of, as that of a constexpr function, it does not leave for later.)
class SkipBodies : public SemaConsumer {
public:
  explicit SkipBodies(const SourceManager &SM) : Library(SM) {}
  bool shouldSkipFunctionBody(Decl *D) override {
    return Library.contains(D->getLocation()) || isForDevice(*D);
  }

  void InitializeSema(Sema &S) override { TheSema = &S; }
  void ForgetSema() override { TheSema = nullptr; }

  void HandleCXXImplicitFunctionInstantiation(FunctionDecl *F) override {
    auto &Left = TheSema->PendingInstantiations;
    if (!Left.empty() && Left.back().first == F && isOfLibrary(*F))
      Left.pop_back();
  }

  /// Only a precompiled header has any left. (Not sooner: Clang walks the
  /// tables while declarations arrive.)
  void HandleTranslationUnit(ASTContext &) override {
    dropLibrary(TheSema->PendingInstantiations);
    dropLibrary(TheSema->VTableUses);
  }

protected:
  LibraryCode Library;

private:
  /// What no other unit can define, the compiler wants to see: an instantiation
  /// for a lambda of the user's.
  bool isOfLibrary(const ValueDecl &D) {
    const auto *F = dyn_cast<FunctionDecl>(&D);
    const FunctionDecl *Pattern =
        F ? F->getTemplateInstantiationPattern() : nullptr;
    return Pattern && Library.contains(Pattern->getLocation()) &&
           F->isExternallyVisible();
  }
  bool isOfLibrary(const CXXRecordDecl &Class) {
    return Library.contains(Class.getLocation());
  }
  template <typename Uses> void dropLibrary(Uses &Left) {
    llvm::erase_if(Left,
                   [&](const auto &Use) { return isOfLibrary(*Use.first); });
  }

  Sema *TheSema = nullptr;
};

class Scope : public SkipBodies {
public:
  using SkipBodies::SkipBodies;

  /// Called for what the parser has just read. Asking the finished unit for
  /// its declarations would read in all of a precompiled header.
  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    for (Decl *D : Group)
      if (isWritten(D) && D->getLocation().isValid() &&
          !Library.contains(D->getLocation()))
        Users.push_back(D);
    return true;
  }

  void HandleTranslationUnit(ASTContext &Context) override {
    Context.setTraversalScope(Users);
  }

private:
  /// Instantiations arrive here too; a walk meets them under their template.
  static bool isWritten(const Decl *D) {
    if (!D->getLexicalDeclContext()->isTranslationUnit())
      return false;
    if (const auto *F = dyn_cast<FunctionDecl>(D))
      return !F->isTemplateInstantiation();
    if (const auto *V = dyn_cast<VarDecl>(D))
      return !isTemplateInstantiation(V->getTemplateSpecializationKind());
    return true;
  }

  std::vector<Decl *> Users;
};

} // namespace

std::unique_ptr<ASTConsumer> createScopeConsumer(const SourceManager &SM) {
  return std::make_unique<Scope>(SM);
}

std::unique_ptr<ASTConsumer> createSkipBodiesConsumer(const SourceManager &SM) {
  return std::make_unique<SkipBodies>(SM);
}

namespace {

/// Names the set of specializations, which is for derived classes only.
template <typename Template> struct Known : Template {
  using Template::getSpecializations;
};

template <typename Template> auto &specializationsOf(Template *T) {
  return (T->*&Known<Template>::getSpecializations)();
}

const Decl *declOf(const ClassTemplateSpecializationDecl &S) { return &S; }
const Decl *declOf(const VarTemplateSpecializationDecl &S) { return &S; }
const Decl *declOf(const FunctionTemplateSpecializationInfo &S) {
  return S.getFunction();
}

/// All templates of one kind, and what they had specialized.
template <typename Template> class Forgotten {
public:
  /// False when it was there.
  bool add(Template *T) {
    return Templates.insert({T->getCanonicalDecl(), {}}).second;
  }

  void forget() {
    for (auto &[T, Before] : Templates) {
      auto &Specializations = specializationsOf(T);
      for (auto &S : Specializations)
        Before.push_back(&S);
      Specializations.clear();
    }
  }

  void recall(const ASTWriter &Writer) {
    for (auto &[T, Before] : Templates)
      for (auto *S : Before)
        if (Writer.wasDeclEmitted(declOf(*S)))
          specializationsOf(T).InsertNode(S);
  }

private:
  using Set = decltype(specializationsOf(std::declval<Template *>()));
  using Specialization =
      std::remove_reference_t<decltype(*std::declval<Set>().begin())>;
  llvm::MapVector<Template *, std::vector<Specialization *>> Templates;
};

class ForgetSpecializations : public SemaConsumer {
public:
  explicit ForgetSpecializations(CompilerInstance &Compiler)
      : Compiler(Compiler) {}

  void InitializeSema(Sema &S) override { TheSema = &S; }

  void HandleTranslationUnit(ASTContext &Context) override {
    if (Compiler.getDiagnostics().hasErrorOccurred())
      return;
    collect(Context.getTranslationUnitDecl());
    Classes.forget();
    Functions.forget();
    Variables.forget();
    // What is still written, is written because something refers to it.
    llvm::SmallString<0> Buffer;
    llvm::BitstreamWriter Stream(Buffer);
    compat::PrecompiledHeaderWriter Writer(Stream, Buffer, Compiler);
    Writer.write(*TheSema);
    Classes.recall(Writer);
    Functions.recall(Writer);
    Variables.recall(Writer);
  }

private:
  void collect(DeclContext *Outermost) {
    llvm::SmallVector<DeclContext *> Left = {Outermost};
    while (!Left.empty())
      for (Decl *D : Left.pop_back_val()->decls()) {
        if (auto *Friend = dyn_cast<FriendDecl>(D))
          D = Friend->getFriendDecl();
        if (!D) // A type is the friend.
          continue;
        // The writer asks each of a namespace's thousands of parts whether any
        // of them is referenced: a third of its time, unless all say so.
        if (isa<NamespaceDecl>(D))
          D->setReferenced();
        if (auto *Inner = dyn_cast<DeclContext>(D)) {
          Left.push_back(Inner);
        } else if (auto *Class = dyn_cast<ClassTemplateDecl>(D)) {
          Left.push_back(Class->getTemplatedDecl());
          if (Classes.add(Class))
            llvm::append_range(Left, Class->specializations());
        } else if (auto *Function = dyn_cast<FunctionTemplateDecl>(D)) {
          Functions.add(Function);
        } else if (auto *Variable = dyn_cast<VarTemplateDecl>(D)) {
          Variables.add(Variable);
        }
      }
  }

  CompilerInstance &Compiler;
  Sema *TheSema = nullptr;
  Forgotten<ClassTemplateDecl> Classes;
  Forgotten<FunctionTemplateDecl> Functions;
  Forgotten<VarTemplateDecl> Variables;
};

} // namespace

std::unique_ptr<ASTConsumer>
createForgetSpecializationsConsumer(CompilerInstance &Compiler) {
  return std::make_unique<ForgetSpecializations>(Compiler);
}

} // namespace libtorch_tidy::driver
