//===- Arithmetic.cpp - Numbers, and what operators make of them ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Interpreter.h"
#include <cmath>

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace libtorch_tidy::bytes {

Cell convert(Interpreter &VM, const Cell &From, QualType To) {
  if (To->isReferenceType() || To->isDependentType())
    return From;
  if (To->isBooleanType()) {
    const std::optional<bool> Known = truth(From);
    return Known ? integer(*Known) : From;
  }
  if (To->isRealFloatingType()) {
    if (!isNumber(From))
      return From;
    const double Given = realOf(From);
    return real(To->isSpecificBuiltinType(BuiltinType::Float)
                    ? static_cast<float>(Given)
                    : Given);
  }
  if (!To->isIntegralOrEnumerationType())
    return From;
  int64_t Number;
  if (From->What == Value::Integer) {
    Number = From->Number;
  } else if (From->What == Value::Real) {
    if (!(std::abs(From->RealNumber) < 9e18))
      return unknown(From->Where, "a number that is too large");
    Number = static_cast<int64_t>(From->RealNumber);
  } else {
    return From;
  }
  const uint64_t Width = VM.Context.getIntWidth(To);
  if (Width >= 64)
    return integer(Number);
  const uint64_t Bits = Number & llvm::maskTrailingOnes<uint64_t>(Width);
  return integer(To->isSignedIntegerOrEnumerationType()
                     ? llvm::SignExtend64(Bits, Width)
                     : static_cast<int64_t>(Bits));
}

/// Is \p Type one of the numbers that the interpreter has as negative ones
/// where they are large: std::string::npos as -1?
static bool wraps(QualType Type, const ASTContext &Context) {
  Type = Type.getNonReferenceType();
  return Type->isUnsignedIntegerType() && Context.getIntWidth(Type) == 64;
}

Cell asReal(Interpreter &VM, const Cell &V, QualType Type) {
  return V->What == Value::Integer && wraps(Type, VM.Context)
             ? real(static_cast<double>(static_cast<uint64_t>(V->Number)))
             : V;
}

template <typename T> static bool compared(BinaryOperatorKind Op, T A, T B) {
  switch (Op) {
  case BO_LT:
    return A < B;
  case BO_GT:
    return A > B;
  case BO_LE:
    return A <= B;
  case BO_GE:
    return A >= B;
  case BO_EQ:
    return A == B;
  default:
    return A != B;
  }
}

static std::optional<double> realResult(BinaryOperatorKind Op, double X,
                                        double Y) {
  switch (Op) {
  case BO_Add:
    return X + Y;
  case BO_Sub:
    return X - Y;
  case BO_Mul:
    return X * Y;
  case BO_Div:
    return X / Y;
  default:
    return std::nullopt;
  }
}

/// \p Overflows: the result is none.
static std::optional<int64_t> integerResult(BinaryOperatorKind Op, int64_t X,
                                            int64_t Y, bool Wraps,
                                            bool &Overflows) {
  int64_t Result = 0;
  const uint64_t Large = X;
  switch (Op) {
  case BO_Add:
    Overflows = __builtin_add_overflow(X, Y, &Result);
    return Result;
  case BO_Sub:
    Overflows = __builtin_sub_overflow(X, Y, &Result);
    return Result;
  case BO_Mul:
    Overflows = __builtin_mul_overflow(X, Y, &Result);
    return Result;
  case BO_Div:
    return Wraps ? static_cast<int64_t>(Large / Y) : X / Y;
  case BO_Rem:
    return Wraps ? static_cast<int64_t>(Large % Y) : X % Y;
  case BO_And:
    return X & Y;
  case BO_Or:
    return X | Y;
  case BO_Xor:
    return X ^ Y;
  case BO_Shl:
    if (X < 0 || Y < 0 || Y > 62 || X > (INT64_MAX >> Y))
      return std::nullopt;
    return X << Y;
  case BO_Shr:
    if (Y < 0 || Y > 63)
      return std::nullopt;
    return Wraps ? static_cast<int64_t>(Large >> Y) : X >> Y;
  default:
    return std::nullopt;
  }
}

/// `A == B` of two lists; nullopt when that is not known.
static std::optional<bool> areEqual(Interpreter &VM, ArrayRef<Cell> A,
                                    ArrayRef<Cell> B, const Expr *E) {
  if (A.size() != B.size())
    return false;
  for (size_t I = 0; I < A.size(); ++I) {
    if (!VM.step(E->getExprLoc()))
      return std::nullopt;
    const std::optional<bool> Same =
        truth(arithmetic(VM, BO_EQ, A[I], B[I], VM.Context.BoolTy, E));
    if (!Same || !*Same)
      return Same;
  }
  return true;
}

Cell arithmetic(Interpreter &VM, BinaryOperatorKind Op, const Cell &A,
                const Cell &B, QualType Type, const Expr *E) {
  if (A->What == Value::Unknown)
    return A;
  if (B->What == Value::Unknown)
    return B;
  const Cell Nothing = unknown(E->getExprLoc(), "the result of an operator");
  const bool Compares = BinaryOperator::isComparisonOp(Op);
  if (A->What == Value::Text && B->What == Value::Text) {
    if (Compares)
      return integer(compared<StringRef>(Op, A->Name, B->Name));
    const size_t Size = A->Name.size() + B->Name.size();
    if (Op != BO_Add || Size > MaxElements ||
        !VM.step(E->getExprLoc(), Size / TextPerStep))
      return Nothing;
    return text(A->Name + B->Name);
  }
  if (A->What == Value::Iterator || B->What == Value::Iterator)
    return iteratorArithmetic(VM, Op, A, B, E);
  const bool IsEquality = Op == BO_EQ || Op == BO_NE;
  if (IsEquality && A->What == Value::Type && B->What == Value::Type &&
      A->Element && B->Element)
    return integer((A->Element->Name == B->Element->Name) == (Op == BO_EQ));
  if (IsEquality && A->What == Value::List && B->What == Value::List) {
    const std::optional<bool> Equal = areEqual(VM, A->Elements, B->Elements, E);
    return Equal ? integer(*Equal == (Op == BO_EQ)) : Nothing;
  }
  if (A->What == Value::Null || B->What == Value::Null) {
    const std::optional<bool> Left = truth(A), Right = truth(B);
    return IsEquality && Left && Right
               ? integer((*Left == *Right) == (Op == BO_EQ))
               : Nothing;
  }
  if (!isNumber(A) || !isNumber(B))
    return Nothing;
  if (A->What == Value::Real || B->What == Value::Real) {
    if (Compares)
      return integer(compared(Op, realOf(A), realOf(B)));
    const std::optional<double> Result = realResult(Op, realOf(A), realOf(B));
    return Result ? convert(VM, real(*Result), Type) : Nothing;
  }
  const int64_t X = A->Number, Y = B->Number;
  const auto *Operands = dyn_cast<BinaryOperator>(E);
  const bool Wraps = wraps(Operands && Compares ? Operands->getLHS()->getType()
                           : Compares           ? E->getType()
                                                : Type,
                           VM.Context);
  if (Compares)
    return integer(Wraps ? compared<uint64_t>(Op, X, Y) : compared(Op, X, Y));
  if ((Op == BO_Div || Op == BO_Rem) && (Y == 0 || (Y == -1 && X == INT64_MIN)))
    return unknown(E->getExprLoc(), "a division by zero");
  bool Overflows = false;
  const std::optional<int64_t> Result =
      integerResult(Op, X, Y, Wraps, Overflows);
  if (Overflows)
    return unknown(E->getExprLoc(), "a number that is too large");
  return Result ? convert(VM, integer(*Result), Type) : Nothing;
}

Cell evalBinary(Interpreter &VM, const BinaryOperator *E) {
  const BinaryOperatorKind Op = E->getOpcode();
  if (Op == BO_LAnd || Op == BO_LOr) {
    const Cell A = VM.eval(E->getLHS());
    const std::optional<bool> Left = truth(A);
    if (Left == (Op == BO_LOr))
      return integer(*Left);
    const Cell B = VM.eval(E->getRHS());
    const std::optional<bool> Right = truth(B);
    return Right == (Op == BO_LOr) || (Left && Right) ? integer(*Right)
           : Left                                     ? B
                                                      : A;
  }
  if (Op == BO_Comma) {
    VM.eval(E->getLHS());
    return VM.eval(E->getRHS());
  }
  if (Op == BO_Assign) {
    const Cell From = VM.eval(E->getRHS());
    const Cell To = VM.eval(E->getLHS());
    VM.store(To, From);
    return To;
  }
  if (E->isCompoundAssignmentOp()) {
    const Cell By = VM.eval(E->getRHS());
    const Cell To = VM.eval(E->getLHS());
    const auto *Compound = cast<CompoundAssignOperator>(E);
    const Cell Left = convert(VM, To, Compound->getComputationLHSType());
    VM.store(To, convert(VM,
                         arithmetic(
                             VM, BinaryOperator::getOpForCompoundAssignment(Op),
                             Left, By, Compound->getComputationResultType(), E),
                         E->getType()));
    return To;
  }
  const Cell A = VM.eval(E->getLHS());
  const Cell B = VM.eval(E->getRHS());
  return arithmetic(VM, Op, A, B, E->getType(), E);
}

Cell evalUnary(Interpreter &VM, const UnaryOperator *E) {
  const Cell Of = VM.eval(E->getSubExpr());
  switch (E->getOpcode()) {
  case UO_Plus:
    return Of;
  case UO_Minus:
    if (Of->What == Value::Real)
      return real(-Of->RealNumber);
    return arithmetic(VM, BO_Sub, integer(0), Of, E->getType(), E);
  case UO_Not:
    return Of->What == Value::Integer
               ? convert(VM, integer(~Of->Number), E->getType())
               : Of;
  case UO_LNot: {
    const std::optional<bool> Known = truth(Of);
    return Known ? integer(!*Known) : Of;
  }
  case UO_AddrOf:
    return Of->What == Value::Module || Of->What == Value::Function
               ? Of
               : pointerTo(Of);
  case UO_Deref:
    if (Of->What == Value::List) // An array.
      return element(Of, integer(0), E);
    return targetOf(Of);
  case UO_PreInc:
  case UO_PreDec:
  case UO_PostInc:
  case UO_PostDec: {
    const Cell Before = VM.copyOf(Of);
    const bool Adds = E->isIncrementOp();
    VM.store(Of, arithmetic(VM, Adds ? BO_Add : BO_Sub, Before, integer(1),
                            E->getType(), E));
    return E->isPrefix() ? Of : Before;
  }
  default:
    return evalConstant(VM, E);
  }
}

} // namespace libtorch_tidy::bytes
