//===- FactsTool.h - Tools that print what the model says -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// What torch-facts and flow-facts share: NAME FILE -- FLAGS, where only the
/// user's declarations are looked at.

#ifndef LIBTORCH_TIDY_TEST_FACTSTOOL_H
#define LIBTORCH_TIDY_TEST_FACTSTOOL_H

#include "analysis/cpp/UserCode.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Tooling/CommonOptionsParser.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/raw_ostream.h"

namespace libtorch_tidy {

using PrintFacts = void (*)(clang::ASTContext &,
                            llvm::ArrayRef<clang::Decl *> Users);

class FactsConsumer : public clang::ASTConsumer {
public:
  explicit FactsConsumer(PrintFacts Print) : Print(Print) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef Group) override {
    TopLevel.append(Group.begin(), Group.end());
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext &Context) override {
    std::vector<clang::Decl *> Users;
    for (clang::Decl *D : TopLevel)
      if (cpp::isUserCode(D->getLocation(), Context.getSourceManager()))
        Users.push_back(D);
    Context.setTraversalScope(Users);
    Print(Context, Users);
  }

private:
  PrintFacts Print;
  llvm::SmallVector<clang::Decl *> TopLevel;
};

/// The exit code: 0, 1 when the file does not compile, 2 for a wrong command
/// line.
inline int runFactsTool(int ArgC, const char **ArgV,
                        llvm::cl::OptionCategory &Options, PrintFacts Print) {
  struct Factory : clang::tooling::FrontendActionFactory {
    struct Action : clang::ASTFrontendAction {
      explicit Action(PrintFacts Print) : Print(Print) {}
      std::unique_ptr<clang::ASTConsumer>
      CreateASTConsumer(clang::CompilerInstance &, llvm::StringRef) override {
        return std::make_unique<FactsConsumer>(Print);
      }
      PrintFacts Print;
    };
    explicit Factory(PrintFacts Print) : Print(Print) {}
    std::unique_ptr<clang::FrontendAction> create() override {
      return std::make_unique<Action>(Print);
    }
    PrintFacts Print;
  };
  auto Parser =
      clang::tooling::CommonOptionsParser::create(ArgC, ArgV, Options);
  if (!Parser) {
    llvm::errs() << llvm::toString(Parser.takeError()) << '\n';
    return 2;
  }
  clang::tooling::ClangTool Tool(Parser->getCompilations(),
                                 Parser->getSourcePathList());
  Factory F(Print);
  return Tool.run(&F);
}

} // namespace libtorch_tidy

#endif // LIBTORCH_TIDY_TEST_FACTSTOOL_H
