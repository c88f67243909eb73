//===- Modules.cpp - Module calls, modes, registrations -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/torch/modules/Modules.h"
#include "analysis/cpp/Body.h"
#include "analysis/cpp/Callables.h"
#include "analysis/cpp/Calls.h"
#include "analysis/cpp/Compat.h"
#include "analysis/cpp/Std.h"
#include "analysis/cpp/Types.h"
#include "analysis/torch/api/Conventions.h"
#include "analysis/torch/api/TensorTraits.h"
#include "analysis/torch/api/TorchTypes.h"
#include "analysis/torch/autograd/Autograd.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace libtorch_tidy::torch {

bool isScriptClass(const CXXRecordDecl *R) {
  return cpp::isOrDerivesFrom(R, "torch::jit::Object");
}

bool isCompiledClass(const CXXRecordDecl *R) {
  return cpp::isOrDerivesFrom(R, {"torch::inductor::AOTIModelPackageLoader",
                                  "torch::inductor::AOTIModelContainerRunner"});
}

bool isModuleClass(const CXXRecordDecl *R) {
  return cpp::isOrDerivesFrom(R, ModuleClass.drop_front(2));
}

bool isModuleHolder(const CXXRecordDecl *R) {
  return cpp::isOrDerivesFrom(R, "torch::nn::ModuleHolder");
}

const CXXRecordDecl *heldClass(QualType T) {
  return cpp::recordOf(cpp::finalPointee(T));
}

/// User structs that act as modules: they own modules or tensors.
static bool ownsModel(const CXXRecordDecl *R) {
  auto HasField = [](const CXXRecordDecl *R) {
    R = R->getDefinition();
    return R && !R->isLambda() && !isTorchDecl(R) && !R->isInStdNamespace() &&
           llvm::any_of(R->fields(), [](const FieldDecl *Field) {
             return isModule(Field->getType()) || isTensor(Field->getType());
           });
  };
  return R && (HasField(R) || cpp::anyBase(R, HasField));
}

/// Does another class next to \p Method's override it? Only what is already
/// loaded is looked at: users' classes do not come from a precompiled header.
static bool isOverridden(const CXXMethodDecl *Method) {
  const CXXRecordDecl *Class = Method->getParent();
  if (!Method->isVirtual() || Class->isEffectivelyFinal())
    return false;
  for (const Decl *D : Class->getDeclContext()->noload_decls()) {
    const auto *R = dyn_cast<CXXRecordDecl>(D);
    if (!R || !R->isCompleteDefinition() || R->isDependentContext() ||
        R->getCanonicalDecl() == Class->getCanonicalDecl())
      continue;
    for (const CXXMethodDecl *Other : R->methods())
      for (const CXXMethodDecl *Overridden : Other->overridden_methods())
        if (Overridden->getCanonicalDecl() == Method->getCanonicalDecl())
          return true;
  }
  return false;
}

/// Notes that the user's \p Method is what \p Call runs, if it is.
static void runsMethod(ModuleCall &Call, const CXXMethodDecl *Method) {
  if (!Method || isTorchDecl(Method) || compat::isPureVirtual(Method) ||
      isOverridden(Method))
    return;
  Call.Method = Method;
  Call.Body = Method->getDefinition();
}

/// The method `forward` of \p R or its bases that takes \p NumArgs arguments,
/// when there is exactly one.
static const CXXMethodDecl *
findForward(const CXXRecordDecl *R, unsigned NumArgs,
            llvm::SmallPtrSetImpl<const CXXRecordDecl *> &Seen) {
  R = R ? R->getDefinition() : nullptr;
  if (!R || !Seen.insert(R).second)
    return nullptr;
  const CXXMethodDecl *Only = nullptr;
  bool Any = false;
  for (const NamedDecl *Found :
       R->lookup(&R->getASTContext().Idents.get("forward"))) {
    Any = true;
    const auto *Method = dyn_cast<CXXMethodDecl>(Found->getUnderlyingDecl());
    if (!Method || NumArgs < Method->getMinRequiredArguments() ||
        NumArgs > Method->getNumParams())
      continue;
    if (Only)
      return nullptr;
    Only = Method;
  }
  if (Any)
    return Only;
  for (const CXXBaseSpecifier &Base : R->bases())
    if (const CXXMethodDecl *Inherited =
            findForward(Base.getType()->getAsCXXRecordDecl(), NumArgs, Seen))
      return Inherited;
  return nullptr;
}

static const CXXMethodDecl *findForward(const CXXRecordDecl *R,
                                        unsigned NumArgs) {
  llvm::SmallPtrSet<const CXXRecordDecl *, 8> Seen;
  return findForward(R, NumArgs, Seen);
}

static std::optional<ModuleCall>
scriptCall(const CallExpr *Call, const CXXMethodDecl *Method, StringRef Name) {
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
  bool Calls = Op && Op->getOperator() == OO_Call;
  bool Runs = isScriptClass(Method->getParent()) &&
              (Calls || Name == "forward" || Name == "run_method");
  bool RunsMethod =
      !Runs && Calls &&
      cpp::isOrDerivesFrom(Method->getParent(), "torch::jit::Method");
  if (!Runs && !RunsMethod)
    return std::nullopt;
  ModuleCall Result;
  Result.Call = Call;
  Result.Script = true;
  Result.Module = cpp::receiverOf(Call);
  // m.get_method("encode")(...): the module, not the method.
  if (const auto *Getter = dyn_cast_or_null<CXXMemberCallExpr>(Result.Module);
      RunsMethod && cpp::calleeName(Getter) == "get_method")
    Result.Module = cpp::receiverOf(Getter);
  llvm::SmallVector<const Expr *, 4> Written = cpp::writtenArguments(Call);
  if (Name == "run_method") {
    for (const Expr *Arg : llvm::drop_begin(Written, !Written.empty()))
      Result.Inputs.push_back(cpp::stripImplicit(Arg));
  } else if (!Written.empty()) {
    Result.Inputs = cpp::listElements(Written.front());
  }
  return Result;
}

static bool isOfIValue(const CallExpr *Call) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call->getDirectCallee());
  return Method && cpp::isOrDerivesFrom(Method->getParent(), "c10::IValue");
}

bool readsNoTensor(const CallExpr *Call) {
  static constexpr StringRef Conversions[] = {
      "toDouble",     "toInt",          "toBool",     "toStringRef",
      "toString",     "toStringView",   "toList",     "toGenericDict",
      "toIntVector",  "toDoubleVector", "toBoolList", "toIntList",
      "toDoubleList", "toScalar",       "toDevice",   "toListRef"};
  return isOfIValue(Call) &&
         (llvm::is_contained(Conversions, cpp::calleeName(Call)) ||
          (cpp::calleeName(Call).starts_with("is") && Call->getNumArgs() == 0));
}

bool readsTensor(const CallExpr *Call) {
  return isOfIValue(Call) && cpp::isOneOf(cpp::calleeName(Call),
                                          {"toTensor", "toTuple",
                                           "toTensorVector", "toTensorList"});
}

/// torch::nn::parallel::data_parallel(module, input, ...): runs replicas.
static std::optional<ModuleCall> parallelCall(const CallExpr *Call) {
  if (!callsTorch(Call, "data_parallel") || Call->getNumArgs() < 2)
    return std::nullopt;
  ModuleCall Result;
  Result.Call = Call;
  Result.Module = cpp::stripPointers(Call->getArg(0));
  if (isa<CXXThisExpr>(Result.Module))
    Result.Module = nullptr;
  Result.Inputs.push_back(cpp::stripImplicit(Call->getArg(1)));
  runsMethod(Result, findForward(heldClass(Call->getArg(0)->getType()), 1));
  return Result;
}

std::optional<ModuleCall> asModuleCall(const Expr *E) {
  const auto *Call = dyn_cast_or_null<CallExpr>(cpp::peel(E));
  if (!Call || Call->isTypeDependent())
    return std::nullopt;
  if (std::optional<ModuleCall> Parallel = parallelCall(Call))
    return Parallel;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call->getDirectCallee());
  if (!Method || Method->isStatic() || isa<CXXConversionDecl>(Method))
    return std::nullopt;
  const CXXRecordDecl *Class = Method->getParent();
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(Call);
  bool Calls = Op && Op->getOperator() == OO_Call;
  StringRef Name = cpp::calleeName(Call);
  // Cheap refusals first: most calls are of tensors, containers, lambdas.
  if ((Op && !Calls) || (!Op && Name.empty()) || Class->isInStdNamespace() ||
      Class->isLambda())
    return std::nullopt;

  ModuleCall Result;
  if (isTorchDecl(Method)) {
    if (std::optional<ModuleCall> Script = scriptCall(Call, Method, Name))
      return Script;
    Result.Compiled =
        (Name == "run" || Name == "boxed_run") && isCompiledClass(Class);
    bool Holder = Calls && cpp::nameOf(Class) == "ModuleHolder";
    bool Runs =
        (isModuleClass(Class) ||
         cpp::isOrDerivesFrom(Class, "torch::nn::AnyModule")) &&
        (Calls || cpp::isOneOf(Name, {"forward", "forward_with_packed_input",
                                      "log_prob", "predict"}));
    // AnyModule and Sequential may return a number or a text.
    if (!Result.Compiled &&
        ((!Holder && !Runs) || !mayHoldTensor(Call->getType())))
      return std::nullopt;
    if (Holder)
      if (const QualType Held = cpp::firstArgument(Class); !Held.isNull())
        runsMethod(Result,
                   findForward(cpp::recordOf(Held), Call->getNumArgs() - 1));
  } else {
    if (namesAccessor(Name) || !mayHoldTensor(Method->getReturnType()))
      return std::nullopt;
    bool Forward = Name == "forward";
    if (!Forward &&
        llvm::none_of(Method->parameters(), [](const ParmVarDecl *P) {
          return mayHoldTensor(P->getType());
        }))
      return std::nullopt;
    // Plain structs are modules only where they are called like one.
    if (!isModuleClass(Class) && !((Forward || Calls) && ownsModel(Class)))
      return std::nullopt;
    runsMethod(Result, Method);
  }
  Result.Call = Call;
  Result.Module = cpp::receiverOf(Call);
  if (Result.Compiled && Call->getNumArgs() > 0)
    Result.Inputs = cpp::listElements(Call->getArg(0));
  else
    for (const Expr *Arg : cpp::writtenArguments(Call))
      Result.Inputs.push_back(cpp::stripImplicit(Arg));
  return Result;
}

/// Embedding::from_pretrained(weight), whose weight is frozen unless its
/// options say otherwise.
static bool makesFrozenEmbedding(const CallExpr *Call) {
  if (!callsTorch(Call, "from_pretrained") || Call->getNumArgs() == 0)
    return false;
  const auto Written = cpp::writtenArguments(Call);
  if (Written.size() < 2)
    return true;
  // options.freeze(true)
  for (const Expr *E = cpp::stripImplicit(Written[1]); E;) {
    const auto *Option = dyn_cast<CXXMemberCallExpr>(E);
    if (!Option)
      return isa<CXXConstructExpr>(E); // The default.
    if (cpp::calleeName(Option) == "freeze")
      return Option->getNumArgs() == 1 &&
             cpp::constantBool(Option->getArg(0),
                               Option->getDirectCallee()->getASTContext()) ==
                 true;
    E = cpp::stripImplicit(Option->getImplicitObjectArgument());
  }
  return false;
}

bool isFreezeCall(const CallExpr *Call) {
  // Options have a freeze(), too.
  return makesFrozenEmbedding(Call) ||
         (!isa_and_nonnull<CXXMemberCallExpr>(Call) &&
          callsTorch(Call,
                     {"freeze", "freeze_module", "optimize_for_inference"}));
}

const Expr *frozenInPlaceBy(const CallExpr *Call) {
  return callsTorch(Call, "freeze_module_inplace") && Call->getNumArgs() > 0
             ? Call->getArg(0)
             : nullptr;
}

bool setsScriptExecutor(const CallExpr *Call) {
  return callsTorch(Call, {"setGraphExecutorOptimize", "getProfilingMode",
                           "getExecutorMode"});
}

/// The method \p Name of LibTorch's modules, or a user's override.
static bool callsModule(const CallExpr *Call, StringRef Name) {
  return cpp::callsMethod(Call, Name,
                          {"torch::nn::Module", "torch::jit::Object"});
}

/// What \p Call, a module's train() or eval(), sets its training mode to;
/// nullopt for other calls.
static std::optional<Flag> setsTraining(const CallExpr *Call) {
  if (callsModule(Call, "eval"))
    return Flag::False;
  if (!callsModule(Call, "train"))
    return std::nullopt;
  return Call->getNumArgs() == 1
             ? flagOf(Call->getArg(0), Call->getDirectCallee()->getASTContext())
             : Flag::True;
}

bool isModuleEval(const CallExpr *Call) {
  return setsTraining(Call) == Flag::False;
}

bool isModuleTrain(const CallExpr *Call) {
  return setsTraining(Call).value_or(Flag::False) != Flag::False;
}

bool mayEndTraining(const CallExpr *Call) {
  return setsTraining(Call).value_or(Flag::True) != Flag::True;
}

bool isTrainingQuery(const CallExpr *Call) {
  return callsModule(Call, "is_training");
}

bool convertsModule(const FunctionDecl *F) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  return Method && isTorchDecl(Method) && cpp::nameOf(Method) == "to" &&
         isModuleClass(Method->getParent()) &&
         llvm::any_of(
             Method->parameters().take_front(2),
             [](const ParmVarDecl *P) { return isScalarType(P->getType()); });
}

std::optional<Registration> asRegistration(const CallExpr *Call) {
  auto What =
      llvm::StringSwitch<std::optional<Registration::Kind>>(
          cpp::calleeName(Call))
          .Cases("register_module", "replace_module", Registration::Module)
          .Case("register_parameter", Registration::Parameter)
          .Case("register_buffer", Registration::Buffer)
          .Default(std::nullopt);
  if (!What || Call->getNumArgs() < 2 || !isTorchDecl(Call->getDirectCallee()))
    return std::nullopt;
  const Expr *Value = cpp::stripImplicit(Call->getArg(1));
  if (const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(Value);
      Construct && Construct->getNumArgs() == 0)
    Value = nullptr;
  return Registration{*What, Value};
}

std::string calledModule(const Expr *E) {
  const std::optional<ModuleCall> M = asModuleCall(E);
  if (!M || !M->Module)
    return {};
  const Expr *Module = cpp::stripImplicit(M->Module);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Module))
    return Ref->getDecl()->getNameAsString();
  const auto *Member = dyn_cast<MemberExpr>(Module);
  return Member ? Member->getMemberDecl()->getNameAsString() : "";
}

bool isScriptModule(QualType T) { return isScriptClass(cpp::recordOf(T)); }

const ValueDecl *moduleOfWeight(const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(cpp::stripImplicit(E));
  return Member && cpp::nameOf(Member->getMemberDecl()) == "weight" &&
                 isa<FieldDecl>(Member->getMemberDecl()) &&
                 isTorchDecl(Member->getMemberDecl())
             ? moduleNamed(Member->getBase())
             : nullptr;
}

const ValueDecl *moduleNamed(const Expr *E) {
  while (E) {
    E = cpp::stripImplicit(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (isa<FieldDecl>(Member->getMemberDecl()))
        return Member->getMemberDecl();
      E = Member->getBase();
    } else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E)) {
      if (Op->getNumArgs() == 0)
        return nullptr;
      E = Op->getArg(0);
    } else if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
      E = Call->getImplicitObjectArgument();
    } else if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      E = Unary->getSubExpr();
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

bool loadsModule(const CallExpr *Call) { return callsTorch(Call, "load"); }

bool loadsScript(const CallExpr *Call) {
  return loadsModule(Call) && isScriptModule(Call->getType());
}

bool isCompiledModel(QualType T) { return isCompiledClass(heldClass(T)); }

llvm::ArrayRef<const Expr *> loadsCompiledModel(const Expr *E) {
  E = cpp::peel(E);
  if (!E || !isCompiledModel(E->getType()))
    return {};
  if (cpp::isStdCall(E, cpp::Std::Make))
    return llvm::ArrayRef(cast<CallExpr>(E)->getArgs(),
                          cast<CallExpr>(E)->getNumArgs());
  const auto *Construct = dyn_cast<CXXConstructExpr>(E);
  if (!Construct ||
      !isCompiledClass(Construct->getConstructor()->getParent()) ||
      Construct->getConstructor()->isCopyOrMoveConstructor())
    return {};
  return llvm::ArrayRef(Construct->getArgs(), Construct->getNumArgs());
}

/// The list whose elements \p Name goes through: the variable of a range-based
/// for, an iterator, the parameter of a lambda that an algorithm runs. Null for
/// others.
static const Expr *listOf(const ValueDecl *Name, cpp::Body &In) {
  if (const Expr *Range = In.rangeOf(Name))
    return Range;
  const auto *Var = dyn_cast<VarDecl>(Name);
  if (const CallExpr *Algorithm = Var ? In.repeatedBy() : nullptr)
    for (const auto &[Param, Given] : llvm::zip(
             In.function()->parameters(), cpp::givenByAlgorithm(Algorithm)))
      if (Param == Var)
        return Given;
  const Expr *Init = Var && Var->isLocalVarDecl() ? Var->getInit() : nullptr;
  return cpp::isStdCall(Init ? cpp::stripImplicit(Init) : nullptr,
                        cpp::Std::Iterator)
             ? Init
             : nullptr;
}

llvm::SmallVector<const ValueDecl *, 4>
modulesNamed(const Expr *E, cpp::Body &In, bool InAll) {
  llvm::SmallVector<const ValueDecl *, 4> Names;
  auto Add = [&](const ValueDecl *Name) {
    if (Name && !Name->isImplicit() && !llvm::is_contained(Names, Name))
      Names.push_back(Name);
  };
  Add(moduleNamed(E));
  Add(moduleNamed(In.originOf(E)));
  for (unsigned I = 0; InAll && I < Names.size() && I < cpp::MaxChase; ++I) {
    const Expr *List = listOf(Names[I], In);
    const auto *Call =
        dyn_cast_or_null<CallExpr>(List ? cpp::stripImplicit(List) : nullptr);
    if (List && !(Call && !cpp::does(Call, cpp::Std::Access) &&
                  isTorchDecl(Call->getDirectCallee())))
      Add(moduleNamed(List));
  }
  return Names;
}

} // namespace libtorch_tidy::torch
