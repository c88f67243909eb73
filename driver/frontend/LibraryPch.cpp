//===- LibraryPch.cpp - A precompiled library header ----------------------===//
//
// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver/frontend/LibraryPch.h"
#include "driver/frontend/Runner.h"
#include "driver/frontend/Scope.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Tooling/Tooling.h"

using namespace clang;
using namespace clang::tooling;
using llvm::StringRef;

namespace libtorch_tidy::driver {

namespace {

class PchAction : public GeneratePCHAction {
public:
  explicit PchAction(StringRef Output) : Output(Output) {}

protected:
  bool BeginInvocation(CompilerInstance &Compiler) override {
    FrontendOptions &Options = Compiler.getFrontendOpts();
    Options.OutputFile = Output;
    Options.ProgramAction = frontend::GeneratePCH;
    Options.SkipFunctionBodies = true;
    return GeneratePCHAction::BeginInvocation(Compiler);
  }

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    std::vector<std::unique_ptr<ASTConsumer>> Consumers;
    Consumers.push_back(createSkipBodiesConsumer(Compiler.getSourceManager()));
    Consumers.push_back(GeneratePCHAction::CreateASTConsumer(Compiler, File));
    if (!Consumers.back())
      return nullptr;
    return std::make_unique<MultiplexConsumer>(std::move(Consumers));
  }

private:
  std::string Output;
};

class PchActionFactory : public FrontendActionFactory {
public:
  explicit PchActionFactory(StringRef Output) : Output(Output) {}
  std::unique_ptr<FrontendAction> create() override {
    return std::make_unique<PchAction>(Output);
  }

private:
  std::string Output;
};

class OneHeader : public CompilationDatabase {
public:
  explicit OneHeader(CompileCommand C) : Command(std::move(C)) {
    // Before the file: -x holds for what follows it.
    Command.CommandLine.insert(Command.CommandLine.begin() + 1,
                               {"-x", "c++-header"});
  }
  std::vector<CompileCommand> getCompileCommands(StringRef) const override {
    return {Command};
  }

private:
  CompileCommand Command;
};

} // namespace

bool emitLibraryPch(const CompileCommand &Command, StringRef Header,
                    StringRef Output, const CommandLine &Options,
                    const ArgumentsAdjuster &MakeOurs,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> FS) {
  // The compiler writes relative to the command's folder.
  llvm::SmallString<256> Absolute(Output);
  FS->makeAbsolute(Absolute);
  OneHeader DB(Command);
  ClangTool Tool(DB, {Header.str()}, std::make_shared<PCHContainerOperations>(),
                 FS);
  Tool.appendArgumentsAdjuster(addExtraArgs(Options));
  Tool.appendArgumentsAdjuster(getStripPluginsAdjuster());
  Tool.appendArgumentsAdjuster(MakeOurs);
  PchActionFactory Factory(Absolute);
  return Tool.run(&Factory) == 0;
}

} // namespace libtorch_tidy::driver
