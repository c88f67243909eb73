//===- Specializations.cpp - Instantiations not worth keeping -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/pch/Specializations.h"
#include "driver/llvm/Compat.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Sema/SemaConsumer.h"
#include "clang/Serialization/ASTWriter.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Bitstream/BitstreamWriter.h"

using namespace clang;

namespace libtorch_tidy::driver {

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
