//===- UnfinishedCopyCheck.cpp --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/cpp/Body.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Effects.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/devices/Streams.h"
#include "analysis/torch/storage/Sharing.h"
#include "analysis/torch/storage/Storage.h"
#include "checks/base/LibtorchCheck.h"
#include "clang/AST/ASTContext.h"

using namespace clang;

namespace libtorch_tidy {

namespace {

constexpr struct UnfinishedCopyReasons {
  Reason PoolEachCall{"pool-stream-each-call", Effect::Advice,
                      "Each call of the function takes a stream of the pool, "
                      "and tensors are made while it is current: the allocator "
                      "keeps blocks for each stream."};
  Reason NullStream{"null-stream", Effect::Advice,
                    "The data of a tensor goes to a call whose stream is null: "
                    "the current stream may be another one."};
  Reason Waits{"waits", Effect::Silent,
               "Something in between waits for the device or orders the "
               "streams, or may do so: `synchronize()`, an event, `item()`, a "
               "function of yours."};
  Reason Recorded{"stream-recorded", Effect::Silent,
                  "`record_stream` says that the other stream uses the "
                  "tensor."};
} UnfinishedCopy{};

/// What is used while something else still works on it.
struct Unfinished {
  enum Kind { Read, Rewritten, OtherStream, HandedOn, Pool, Null } What;
  const Expr *At;
  const VarDecl *Var = nullptr; ///< The tensor, or the stream.
  const Expr *Begun = nullptr;  ///< The copy, the use, the guard.
};

/// Looks at one function.
class UnfinishedFinder {
public:
  explicit UnfinishedFinder(const FunctionDecl *F)
      : F(F), In(cpp::Body::of(F)), Context(In.context()) {}

  std::vector<Unfinished> run() {
    cpp::forEach<CallExpr>(
        F->getBody(), [&](const CallExpr *Call) { visit(Call); },
        cpp::Lambdas::Skipped);
    cpp::forEach<VarDecl>(
        F->getBody(), [&](const VarDecl *Var) { visit(Var); },
        cpp::Lambdas::Skipped);
    return std::move(Found);
  }

private:
  bool isWait(const Stmt *S) const {
    const auto *Call = dyn_cast<CallExpr>(S);
    return Call && torch::mayWait(Call, Context);
  }

  void visit(const CallExpr *Call) {
    if (const auto Copy = torch::asAsyncCopy(Call, Context)) {
      readAtOnce(*Copy);
      readBeforeDone(*Copy);
      rewrittenBeforeDone(*Copy);
    }
    handsOn(Call);
    onNullStream(Call);
  }

  void visit(const VarDecl *Var) {
    if (torch::isStreamGuard(Var->getType()) && Var->isLocalVarDecl()) {
      usedOnOtherStream(Var);
      newStreamEachCall(Var);
    }
  }

  /// The tensor to whose data \p Pointer leads; null for others.
  static const VarDecl *dataOf(const Expr *Pointer) {
    const auto Access =
        torch::asAccess(dyn_cast_or_null<CallExpr>(cpp::peel(Pointer)));
    return Access && Access->What == torch::Access::Data
               ? cpp::variableOf(Access->Object)
               : nullptr;
  }

  /// Something that \p Is a use of \p Var may follow \p Copy before what
  /// \p Ends it.
  void find(Unfinished::Kind What, const VarDecl *Var, const CallExpr *Copy,
            llvm::function_ref<bool(const Stmt *)> Ends,
            llvm::function_ref<bool(const Stmt *)> Is) {
    const Expr *Use = nullptr;
    const auto Uses = [&](const Stmt *S) {
      if (S == Copy || !Is(S))
        return false;
      Use = cast<Expr>(S);
      return true;
    };
    if (In.paths().leadsWithout(Copy, Ends, Uses))
      Found.push_back({What, Use, Var, Copy});
    else if (asksWhy() && In.paths().leadsTo(Copy, Uses))
      silent(Use, UnfinishedCopy.Waits);
  }

  /// The local tensor that \p Copy fills in memory of the host.
  const VarDecl *filledBy(const torch::AsyncCopy &Copy) {
    if (Copy.To) {
      const VarDecl *Var = cpp::variableOf(Copy.To);
      return Var && Var->hasInit() && In.isSetOnce(Var) &&
                     torch::makesPinned(Var->getInit(), Context)
                 ? Var
                 : nullptr;
    }
    if (!Copy.ToHost)
      return nullptr;
    const Stmt *User = In.outerOf(Copy.Call);
    if (const auto *Declaration = dyn_cast_or_null<DeclStmt>(User)) {
      const auto *Var = dyn_cast<VarDecl>(Declaration->getSingleDecl());
      return Declaration->isSingleDecl() ? Var : nullptr;
    }
    const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(User);
    return Assign && cpp::isAssignment(Assign)
               ? cpp::variableOf(Assign->getArg(0))
               : nullptr;
  }

  /// Is \p Call a view of a tensor that it gets, or the tensor itself?
  bool isView(const CallExpr *Call, const torch::OpFacts &Facts) const {
    const torch::Sharing How = torch::storageUse(Call, {}, Context).How;
    return !Facts.InPlace &&
           (How == torch::Sharing::Memory || How == torch::Sharing::Handle);
  }

  /// Does \p Call read the elements of a tensor that \p Is one on the host: a
  /// pointer to its data, item(), an operator, std::cout?
  bool readsElements(const CallExpr *Call,
                     llvm::function_ref<bool(const Expr *)> Is) const {
    if (!Call)
      return false;
    if (const auto Access = torch::asAccess(Call))
      return Access->What == torch::Access::Data && Is(Access->Object);
    const torch::OpFacts *Facts = torch::opFacts(Call);
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    const bool Prints = Operator && Operator->getOperator() == OO_LessLess &&
                        torch::isTorchDecl(Call->getDirectCallee());
    if (!Prints &&
        (!Facts || Facts->Metadata || torch::isMetadataAccess(Call) ||
         // Copies to a device run after those from it, in order.
         torch::copiesElements(Call) || isView(Call, *Facts)))
      return false;
    const auto IsRead = [&](const Expr *E) {
      return E && torch::isTensor(E->getType()) && Is(E);
    };
    return IsRead(cpp::calledOn(Call)) ||
           llvm::any_of(Call->arguments(), IsRead);
  }

  /// x.to(kCPU, true).item(): nobody can wait in between.
  void readAtOnce(const torch::AsyncCopy &Copy) {
    if (!Copy.ToHost || Copy.To)
      return;
    const CallExpr *Tensor = Copy.Call;
    const CallExpr *User = In.callOn(Tensor);
    for (; User; User = In.callOn(Tensor)) {
      const torch::OpFacts *Facts = torch::opFacts(User);
      if (!Facts || !torch::isTensor(User->getType()) || !isView(User, *Facts))
        break;
      Tensor = User;
    }
    if (readsElements(User, [&](const Expr *E) {
          return cpp::stripImplicit(E) == Tensor;
        }))
      Found.push_back({Unfinished::Read, User, nullptr, Copy.Call});
  }

  void readBeforeDone(const torch::AsyncCopy &Copy) {
    const VarDecl *Var = filledBy(Copy);
    if (!Var)
      return;
    const auto Ends = [&](const Stmt *S) {
      return isWait(S) ||
             llvm::any_of(In.writesTo(Var), [&](const cpp::Write &W) {
               return W.Overwritten && W.Where == S &&
                      !In.isWithin(Copy.Call, S);
             });
    };
    // item() waits, but on the host tensor that it reads it is the reader.
    find(Unfinished::Read, Var, Copy.Call, Ends, [&](const Stmt *S) {
      return readsElements(dyn_cast<CallExpr>(S), [&](const Expr *E) {
        return torch::memoryRoot(E, Context) == Var;
      });
    });
  }

  /// Does \p S write the elements of \p Var from the host?
  bool writesElements(const Stmt *S, const VarDecl *Var) const {
    const auto Leads = [&](const Expr *Pointer) {
      // Writes to elements leave the pointer as it is.
      const VarDecl *Named = cpp::variableOf(cpp::peel(Pointer));
      const cpp::Values Given = Named ? In.valuesOf(Named) : cpp::Values();
      if (Given.Given.size() == 1)
        Pointer = Given.Given.front();
      return dataOf(Pointer) == Var;
    };
    if (const auto *Assign = dyn_cast<BinaryOperator>(S)) {
      const auto *Element =
          dyn_cast<ArraySubscriptExpr>(Assign->getLHS()->IgnoreParenImpCasts());
      return Assign->isAssignmentOp() && Element && Leads(Element->getBase());
    }
    const auto *Call = dyn_cast<CallExpr>(S);
    if (!Call || Call->getNumArgs() == 0)
      return false;
    if (const Expr *Written = torch::writtenInPlace(Call))
      return torch::memoryRoot(Written, Context) == Var;
    if (cpp::does(Call, cpp::Std::CopyBytes))
      return Leads(Call->getArg(0));
    // std::copy(from, to, staging.data_ptr<float>()), std::fill_n(p, ...)
    if (!cpp::isStdDecl(Call->getDirectCallee()))
      return false;
    static constexpr StringRef Copying[] = {"copy", "copy_n", "transform",
                                            "move"};
    static constexpr StringRef Filling[] = {"fill", "fill_n", "iota",
                                            "generate"};
    const StringRef Name = cpp::calleeName(Call);
    return llvm::is_contained(Copying, Name)
               ? llvm::any_of(llvm::drop_begin(Call->arguments(), 2), Leads)
               : llvm::is_contained(Filling, Name) && Leads(Call->getArg(0));
  }

  void rewrittenBeforeDone(const torch::AsyncCopy &Copy) {
    const VarDecl *Var = cpp::variableOf(Copy.From);
    const bool IsPinned = Var && Var->hasInit() && In.isOwn(Var) &&
                          torch::makesPinned(Var->getInit(), Context);
    if (!IsPinned || Copy.ToHost)
      return;
    // Made anew in each round, it is another one.
    const auto Ends = [&](const Stmt *S) {
      return isWait(S) || S == In.declarationOf(Var);
    };
    find(Unfinished::Rewritten, Var, Copy.Call, Ends,
         [&](const Stmt *S) { return writesElements(S, Var); });
  }

  /// The variable of a stream of the pool that \p E mentions; null for none.
  const VarDecl *poolStreamIn(const Expr *E) {
    const auto *Ref = cpp::findFirst<DeclRefExpr>(E, [&](const DeclRefExpr *R) {
      const auto *Var = dyn_cast<VarDecl>(R->getDecl());
      return Var && torch::isStream(Var->getType()) && Var->hasInit() &&
             torch::takenFromPool(Var->getInit());
    });
    return Ref ? cast<VarDecl>(Ref->getDecl()) : nullptr;
  }

  /// A call that is given a stream of the pool and the data of a tensor, which
  /// is returned before anything waits.
  void handsOn(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || torch::isTorchDecl(Callee) || cpp::isStdDecl(Callee))
      return;
    const VarDecl *Stream = nullptr;
    llvm::SmallPtrSet<const VarDecl *, 4> Tensors;
    for (const Expr *Arg : Call->arguments()) {
      if (torch::isStream(Arg->getType()))
        if (const VarDecl *Var = poolStreamIn(Arg))
          Stream = Var;
      if (const VarDecl *Var = dataOf(Arg); Var && Var->isLocalVarDecl())
        Tensors.insert(Var);
    }
    if (!Stream || Stream->isStaticLocal() || Tensors.empty())
      return;
    const VarDecl *Out = nullptr;
    const auto Returns = [&](const Stmt *S) {
      const auto *Return = dyn_cast<ReturnStmt>(S);
      Out = Return && Return->getRetValue()
                ? cpp::variableOf(Return->getRetValue())
                : nullptr;
      return Out && Tensors.contains(Out);
    };
    const auto Orders = [&](const Stmt *S) {
      const auto *Other = dyn_cast<CallExpr>(S);
      return Other && Other != Call &&
             (isWait(S) || cpp::mentions(Other, Stream));
    };
    if (In.paths().leadsWithout(Call, Orders, Returns))
      Found.push_back({Unfinished::HandedOn, Call, Out, Stream->getInit()});
    else if (asksWhy() && In.paths().leadsTo(Call, Returns))
      silent(Call, UnfinishedCopy.Waits);
  }

  /// launch(x.data_ptr<float>(), n, nullptr)
  void onNullStream(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || torch::isTorchDecl(Callee))
      return;
    const Expr *Null = nullptr;
    bool Data = false;
    for (unsigned I = 0; I < Call->getNumArgs() && I < Callee->getNumParams();
         ++I) {
      const Expr *Arg = Call->getArg(I);
      const QualType T = Callee->getParamDecl(I)->getType();
      if (T->isPointerType() && torch::isStream(T) &&
          !isa<CXXDefaultArgExpr>(Arg) &&
          Arg->isNullPointerConstant(Context,
                                     Expr::NPC_ValueDependentIsNotNull))
        Null = Arg;
      const auto Access =
          torch::asAccess(dyn_cast_or_null<CallExpr>(cpp::peel(Arg)));
      Data |= Access && Access->What == torch::Access::Data;
    }
    if (Null && Data)
      Found.push_back({Unfinished::Null, Null, nullptr, Call});
  }

  /// A tensor that is made before \p Guard, used under it and gone after it.
  void usedOnOtherStream(const VarDecl *Guard) {
    const Stmt *Scope = In.scopeOf(Guard);
    const SourceManager &SM = Context.getSourceManager();
    if (!Scope || Scope == F->getBody())
      return;
    llvm::SmallPtrSet<const VarDecl *, 4> Seen;
    cpp::forEach<DeclRefExpr>(Scope, [&](const DeclRefExpr *Ref) {
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      if (!Var || isa<ParmVarDecl>(Var) || !In.isOwn(Var) ||
          !torch::isTensor(Var->getType()) || !Var->hasInit() ||
          cpp::isWithin(Var->getLocation(), Scope, SM) ||
          !SM.isBeforeInTranslationUnit(Guard->getLocation(),
                                        Ref->getLocation()) ||
          !Seen.insert(Var).second)
        return;
      const CallExpr *Use = In.callOn(Ref);
      const auto Fresh = torch::freshMemory(Var->getInit(), Context);
      if (!Use || torch::workOf(Use) == torch::Work::None ||
          !Fresh.second.OnDevice || Fresh.first != torch::Fresh::Yes)
        return;
      if (cpp::anyOf<CallExpr>(In.root(), [&](const CallExpr *Call) {
            return torch::recordsStream(Call) && cpp::mentions(Call, Var);
          }))
        return silent(Ref, UnfinishedCopy.Recorded, Var);
      if (cpp::anyOf<CallExpr>(In.root(), [&](const CallExpr *Call) {
            return isWait(Call) && cpp::comesBefore(Use, Call, SM);
          }))
        return silent(Ref, UnfinishedCopy.Waits, Var);
      if (leaves(Var))
        return;
      Found.push_back({Unfinished::OtherStream, Ref, Var, nullptr});
    });
  }

  /// Is \p Var returned, or kept by something else?
  bool leaves(const VarDecl *Var) {
    return cpp::anyOf<DeclRefExpr>(In.root(), [&](const DeclRefExpr *Ref) {
      if (Ref->getDecl() != Var)
        return false;
      const auto *User = In.userOf(Ref);
      if (isa_and_nonnull<ReturnStmt, DeclStmt, LambdaExpr>(User))
        return true;
      const CallExpr *Call = In.callOn(Ref);
      return !Call || !torch::isTorchDecl(Call->getDirectCallee());
    });
  }

  /// A guard of a stream that the function takes from the pool for each call,
  /// with tensors that are made under it.
  void newStreamEachCall(const VarDecl *Guard) {
    if (F->isMain() || isa<CXXConstructorDecl>(F))
      return;
    const Expr *Init = Guard->getInit();
    const auto *Taken = cpp::findFirst<CallExpr>(
        Init, [](const CallExpr *Call) { return torch::takenFromPool(Call); });
    if (!Taken)
      if (const VarDecl *Stream = poolStreamIn(Init);
          Stream && Stream->isLocalVarDecl() && !Stream->isStaticLocal())
        Taken = torch::takenFromPool(Stream->getInit());
    const Stmt *Scope = In.scopeOf(Guard);
    const SourceManager &SM = Context.getSourceManager();
    if (!Taken || !Scope)
      return;
    const auto *Made = cpp::findFirst<CallExpr>(Scope, [&](const CallExpr *C) {
      return SM.isBeforeInTranslationUnit(Guard->getLocation(),
                                          C->getBeginLoc()) &&
             torch::workOf(C) != torch::Work::None;
    });
    if (Made)
      Found.push_back({Unfinished::Pool, Taken, Guard, Made});
  }

  const FunctionDecl *F;
  cpp::Body &In;
  ASTContext &Context;
  std::vector<Unfinished> Found;
};

Finding worded(const Unfinished &U) {
  Finding F = Finding::at(U.At);
  const std::string Var = U.Var ? quoted(U.Var) : "a tensor";
  switch (U.What) {
  case Unfinished::Read:
    return F
        .says("data race: " + Var +
              " is read while the copy into it may still run; synchronize the "
              "stream first, or copy without non_blocking")
        .note(U.Begun, "the copy begins here and does not wait");
  case Unfinished::Rewritten:
    return F
        .says("data race: " + Var +
              " is written while a copy from it may still run; synchronize the "
              "stream first, or use two buffers in turn")
        .note(U.Begun, "the copy begins here and does not wait");
  case Unfinished::OtherStream:
    return F
        .says("data race: " + Var +
              " is used on another stream than it was made on, and freed "
              "while that may still run; call record_stream()")
        .note(U.Var, Var + " is made here");
  case Unfinished::HandedOn:
    return F
        .says("data race: " + Var +
              " is returned while a stream of the pool may still write it; let "
              "the current stream wait, or use the current stream")
        .note(U.Begun, "the stream is taken here");
  case Unfinished::Pool:
    return F.because(UnfinishedCopy.PoolEachCall)
        .says("memory growth: each call takes another stream of the pool, and "
              "the allocator keeps the memory that is freed for each stream; "
              "take one stream and keep it")
        .note(U.Begun, "a tensor is made on the stream here");
  case Unfinished::Null:
    return F.because(UnfinishedCopy.NullStream)
        .says("data race: the data of a tensor is used on the default stream, "
              "whichever the current stream is; use getCurrentCUDAStream()");
  }
  return F;
}

/// docs/checks/libtorch-unfinished-copy.md says what it finds and why.
class UnfinishedCopyCheck : public LibtorchCheck {
public:
  using LibtorchCheck::LibtorchCheck;
  void checkUnit(flow::UnitModel &Unit) override {
    for (const FunctionDecl *Function : Unit.functions())
      if (!Unit.errors().touch(Function))
        for (const Unfinished &U : UnfinishedFinder(Function).run())
          report(worded(U));
  }
};

} // namespace

LIBTORCH_CHECK(UnfinishedCopyCheck, UnfinishedCopy);

} // namespace libtorch_tidy
