//===- ModelText.cpp - A model as the command line names it ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/bytes/interpret/Elaboration.h"
#include "clang/Basic/CharInfo.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace libtorch_tidy::bytes {

namespace {

class Parser {
public:
  explicit Parser(StringRef Text) : All(Text), Rest(Text) {}

  /// With tensors among the values.
  llvm::Expected<Cell> input() {
    HasTensors = true;
    return whole(
        value(), "an input",
        "an input is a tensor, SIZExSIZE...:TYPE, where the type may be left "
        "out, as in '16x3x224x224' or '32x128:int64', or a value as in "
        "--model, in which tensors can stand, as in '{16x3x8x8, true}'");
  }

  llvm::Expected<Cell> lone() {
    return whole(value(), "a value",
                 "a value is a number, true, false, \"text\", an enumerator, "
                 "{VALUE, ...} or {.NAME=VALUE, ...}, as in '{16, 3}'");
  }

  llvm::Expected<ModelText> model() {
    ModelText Result;
    Result.Name = name();
    if (Result.Name.empty())
      expected("the name of a class");
    if (eat('(')) {
      if (!eat(')')) {
        do
          Result.Arguments.push_back(value());
        while (eat(','));
        if (!eat(')'))
          expected("',' or ')'");
      }
    }
    return whole(
        std::move(Result), "a model",
        "a model is NAME(VALUE, ...), a VALUE a number, true, false, "
        "\"text\", an enumerator, {VALUE, ...} or {.NAME=VALUE, ...}, as in "
        "'UNet(3, 2)'");
  }

private:
  /// \p Result, if it is all of the text; or that it is not \p What.
  template <typename T>
  llvm::Expected<T> whole(T Result, StringRef What, StringRef Grammar) {
    skipSpace();
    if (!Rest.empty())
      expected("the end");
    if (Failed.empty())
      return Result;
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "'" + All.str() + "' is not " + What.str() +
                                       ": expected " + Failed + " at column " +
                                       std::to_string(FailedAt + 1) + "; " +
                                       Grammar.str());
  }

  void skipSpace() { Rest = Rest.ltrim(" \t\n"); }
  bool eat(char C) {
    skipSpace();
    return Rest.consume_front(StringRef(&C, 1));
  }
  void expected(StringRef What) {
    if (!Failed.empty())
      return;
    Failed = What.str();
    FailedAt = All.size() - Rest.size();
    Rest = "";
  }

  /// A value instead of what was expected.
  Cell failed(StringRef What) {
    expected(What);
    return integer(0);
  }

  std::string identifier() {
    skipSpace();
    if (Rest.empty() || llvm::isDigit(Rest.front()))
      return {};
    const StringRef Found = Rest.take_while(
        [](char C) { return llvm::isAlnum(C) || C == '_' || C == ':'; });
    Rest = Rest.drop_front(Found.size());
    return Found.str();
  }

  /// With arguments of a template.
  std::string name() {
    std::string Result = identifier();
    if (Result.empty() || !eat('<'))
      return Result;
    Result += '<';
    for (int Open = 1; Open;) {
      skipSpace();
      if (Rest.empty()) {
        expected("'>'");
        return Result;
      }
      const char C = Rest.front();
      Rest = Rest.drop_front();
      Open += C == '<';
      Open -= C == '>';
      Result += C;
    }
    return Result;
  }

  Cell value() {
    constexpr unsigned MaxDepth = 32;
    skipSpace();
    if (Depth >= MaxDepth || Rest.empty())
      return failed("a value");
    if (eat('{')) {
      ++Depth;
      Cell Result = list();
      --Depth;
      return Result;
    }
    if (eat('"')) {
      const size_t End = Rest.find('"');
      if (End == StringRef::npos)
        return failed("'\"'");
      Cell Result = text(Rest.take_front(End));
      Rest = Rest.drop_front(End + 1);
      return Result;
    }
    if (HasTensors)
      if (Cell Given = tensor())
        return Given;
    const StringRef Word = Rest.take_while([](char C) {
      return llvm::isAlnum(C) || C == '.' || C == '-' || C == '+' || C == '_';
    });
    // As in C++: 3L, 0.5f.
    const StringRef Digits = Word.rtrim("uUlLfF");
    Cell Result;
    int64_t Number;
    double RealNumber;
    if (Word == "true" || Word == "false") {
      Result = integer(Word == "true");
      Result->Name = Word.str();
    } else if (!Word.getAsInteger(0, Number) ||
               !Digits.getAsInteger(0, Number)) {
      Result = integer(Number);
    } else if (Digits.find_first_of("0123456789") != StringRef::npos &&
               (!Word.getAsDouble(RealNumber) ||
                !Digits.getAsDouble(RealNumber))) {
      Result = real(RealNumber);
    }
    if (!Result) {
      Cell Enumerator = enumerator();
      return Enumerator ? Enumerator : failed("a value");
    }
    Rest = Rest.drop_front(Word.size());
    return Result;
  }

  /// `16x3x8x8:int64`. Null for other text.
  Cell tensor() {
    const StringRef Word = Rest.take_while(llvm::isAlnum);
    if (Word.empty() || !llvm::isDigit(Word.front()))
      return nullptr;
    StringRef After = Rest.drop_front(Word.size());
    const bool HasType = After.consume_front(":");
    if (!HasType && !Word.contains('x'))
      return nullptr;
    auto T = std::make_shared<TensorInstance>();
    T->Shape.Sizes.emplace();
    T->Shape.Type.reset();
    llvm::SmallVector<StringRef, 6> Parts;
    Word.split(Parts, 'x');
    for (const StringRef Part : Parts) {
      int64_t Size = 0;
      // No tensor of LibTorch has more dimensions, nor more elements than
      // memory.
      if (Part.getAsInteger(10, Size) || Size <= 0 || Size > MostOfDimension ||
          Parts.size() > 64)
        return failed("SIZE");
      T->Shape.Sizes->push_back(Size);
    }
    if (HasType) {
      const StringRef Type = After.take_while(llvm::isAlnum);
      T->Shape.Type = elementType(Type);
      Rest = After;
      if (!T->Shape.Type)
        return failed("a type of elements");
      After = After.drop_front(Type.size());
    }
    Rest = After;
    return tensorValue(std::move(T));
  }

  /// One of LibTorch's, torch::kFloat16 or torch::kCPU, or of the user's, whose
  /// type is that of what it is given for. Null for other text.
  Cell enumerator() {
    const StringRef Before = Rest;
    const std::string Name = identifier();
    const StringRef Last = StringRef(Name).rsplit(':').second;
    // Of inputs, a name alone is rather a tensor that was forgotten.
    if (Name.empty() || (HasTensors && Last.empty() && Name[0] != 'k')) {
      Rest = Before;
      return nullptr;
    }
    if (Name == "nullptr" || Name == "nullopt")
      return valueOf(Value::Null);
    Cell Result = valueOf(Value::Other);
    Result->Name = Last.empty() ? Name : Last.str();
    Result->Element = elementType(Result->Name);
    if (Result->Element)
      Result->What = Value::Type;
    return Result;
  }

  Cell list() {
    Cell Result = listOf({});
    if (eat('}'))
      return Result;
    do {
      if (eat('.')) {
        const std::string Name = identifier();
        if (Name.empty())
          expected("a name");
        if (!eat('='))
          expected("'='");
        Result->Settings[Name] = value();
      } else {
        Result->Elements.push_back(value());
      }
    } while (eat(','));
    if (!Result->Settings.empty() && !Result->Elements.empty())
      expected("values with names, or values without");
    if (!eat('}'))
      expected("',' or '}'");
    return Result;
  }

  const StringRef All;
  StringRef Rest;
  std::string Failed;
  size_t FailedAt = 0;
  unsigned Depth = 0;
  bool HasTensors = false;
};

} // namespace

llvm::Expected<ModelText> parseModelText(StringRef Text) {
  return Parser(Text).model();
}

llvm::Expected<Cell> parseInputText(StringRef Text) {
  return Parser(Text).input();
}

GivenValues givenBy(const BudgetRequest &Request) {
  GivenValues Result;
  for (const auto &[Name, Text] : Request.Given)
    if (llvm::Expected<Cell> V = Parser(Text).lone())
      Result.Values[Name] = *V;
    else
      llvm::consumeError(V.takeError()); // The command line was checked.
  return Result;
}

llvm::Error checkModelText(StringRef Text) {
  return parseModelText(Text).takeError();
}

llvm::Error checkInputText(StringRef Text) {
  return parseInputText(Text).takeError();
}

llvm::Error checkValueText(StringRef Text) {
  return Parser(Text).lone().takeError();
}

} // namespace libtorch_tidy::bytes
