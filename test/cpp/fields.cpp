// fieldsOf() lists all members of a struct: what takes the place of a list by
// hand (archives, the key of the cache) must not forget one.
// RUN: %clangxx -std=c++17 -Wall -Wextra -Werror -I %root_dir %s -o %t && %t
// A struct with more members than it has rows for does not compile.
// RUN: %not %clangxx -std=c++17 -fsyntax-only -DTOO_MANY -I %root_dir %s 2>&1 \
// RUN:   | %FileCheck %s
// CHECK: give it a row above

#include "analysis/cpp/Fields.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using libtorch_tidy::cpp::fieldsOf;

template <typename T>
constexpr size_t Count =
    std::tuple_size_v<decltype(fieldsOf(std::declval<T &>()))>;

struct Traits {
  std::optional<int64_t> First; // It is no member of what holds a Traits.
  bool A = false, B = false;
};
struct Tree {
  enum Kind { Leaf, Inner } What = Leaf;
  std::string Name;
  Traits Inline;
  std::optional<Traits> Maybe;
  std::optional<std::string> MaybeText;
  std::vector<Tree> Parts;
  std::map<std::string, std::vector<int>> ByName;
  std::pair<unsigned, std::string> Pair;
  double Number = 0;
  bool Last = true;
  static constexpr int NoMember = 1;
};
static_assert(Count<Traits> == 3);
static_assert(Count<const Tree> == 10);
static_assert(Count<std::pair<int, Tree>> == 2);

#ifdef TOO_MANY
struct Many {
  int A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V,
      W, X, Y, Z;
};
static_assert(Count<Many> == 26);
#endif

int main() {
  Tree Some;
  std::get<9>(fieldsOf(Some)) = false;
  return Some.Last;
}
