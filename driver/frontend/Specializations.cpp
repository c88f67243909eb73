//===- Specializations.cpp - Instantiations not worth keeping -------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/frontend/Specializations.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Sema/SemaConsumer.h"
#include "clang/Serialization/ASTWriter.h"
#include "llvm/ADT/SetVector.h"
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
  bool add(Template *T) { return Templates.insert(T->getCanonicalDecl()); }

  void forget() {
    for (Template *T : Templates) {
      auto &Specializations = specializationsOf(T);
      All.emplace_back();
      for (auto &S : Specializations)
        All.back().push_back(&S);
      Specializations.clear();
    }
  }

  void recall(const ASTWriter &Writer) {
    for (auto [T, Before] : llvm::zip_equal(Templates, All))
      for (auto *S : Before)
        if (Writer.wasDeclEmitted(declOf(*S)))
          specializationsOf(T).InsertNode(S);
  }

private:
  using Set = decltype(specializationsOf(std::declval<Template *>()));
  using Specialization =
      std::remove_reference_t<decltype(*std::declval<Set>().begin())>;
  llvm::SetVector<Template *> Templates;
  std::vector<std::vector<Specialization *>> All;
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
    ASTWriter Writer(Stream, Buffer, Compiler.getModuleCache(), {});
    Writer.WriteAST(*TheSema, "", nullptr, "");
    Classes.recall(Writer);
    Functions.recall(Writer);
    Variables.recall(Writer);
  }

private:
  void collect(DeclContext *Outermost) {
    llvm::SmallVector<DeclContext *> Left = {Outermost};
    const auto AddAll = [&](auto *Template) {
      for (auto *S : Template->specializations())
        Left.push_back(S);
    };
    while (!Left.empty())
      for (Decl *D : Left.pop_back_val()->decls()) {
        if (auto *Friend = dyn_cast<FriendDecl>(D))
          D = Friend->getFriendDecl();
        if (auto *Inner = dyn_cast_or_null<DeclContext>(D))
          Left.push_back(Inner);
        if (auto *Class = dyn_cast_or_null<ClassTemplateDecl>(D)) {
          if (Classes.add(Class))
            AddAll(Class);
          Left.push_back(Class->getTemplatedDecl());
        } else if (auto *Function = dyn_cast_or_null<FunctionTemplateDecl>(D))
          Functions.add(Function);
        else if (auto *Variable = dyn_cast_or_null<VarTemplateDecl>(D))
          Variables.add(Variable);
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
