// What a class owns is asked once, however often it is a member.
// RUN: %ends
#include <torch/torch.h>

#define TIMES30(T)                                                             \
  T a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7,    \
      b8, b9, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9;
struct F {
  int x;
};
struct E {
  TIMES30(F)
};
struct D {
  TIMES30(E)
};
struct C {
  TIMES30(D)
};
struct B {
  TIMES30(C)
};
struct A {
  TIMES30(B)
};
struct Set : torch::data::Dataset<Set> {
  A *other;
  std::vector<A> state;
  torch::data::Example<> get(size_t i) override {
    state[i].a0.a0.a0.a0.a0.x++;
    return {};
  }
  torch::optional<size_t> size() const override { return 1; }
};
void loads() {
  auto loader = torch::data::make_data_loader(
      Set(), torch::data::DataLoaderOptions().workers(4));
}
