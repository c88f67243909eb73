// What a condition has decided holds where it is asked again: a tensor that lies
// otherwise where `turn` is true is in order where it is false.
// RUN: %check_libtorch_tidy %s libtorch-strided-access %t

#include <torch/torch.h>

#include <cstring>

using torch::Tensor;

struct Options {
  bool turn = false;
};
static void read(const Tensor &t, float *to) {
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
}
static Tensor turned(const Tensor &t) { return t.t(); }
bool ask();

// Put in order, or not read.
void packed_again(bool turn, float *to) {
  Tensor t = torch::rand({3, 4});
  if (turn)
    t = t.t();
  if (turn)
    t = t.contiguous();
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
}
void read_otherwise(bool turn, float *to) {
  Tensor t = torch::rand({3, 4});
  if (turn)
    t = turned(t);
  if (!turn)
    read(t, to);
}
void or_else(const bool *c, float *to) {
  Tensor t = torch::rand({3, 4});
  if (c[1])
    t = t.t();
  if (!c[1])
    std::memcpy(to, t.data_ptr<float>(), t.nbytes());
  else
    std::memcpy(to, t.contiguous().data_ptr<float>(), t.nbytes());
}
void by_choice(int way, float *to) {
  const bool turn = way > 2;
  Tensor t = turn ? torch::rand({3, 4}).t() : torch::rand({3, 4});
  if (turn)
    return;
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
}
void by_number(int way, float *to) {
  Tensor t = torch::rand({3, 4});
  if (way > 2)
    t = t.t();
  if (way > 2)
    t = t.clone(torch::MemoryFormat::Contiguous);
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
}
void both(bool turn, bool pack, float *to) {
  Tensor t = torch::rand({3, 4});
  if (turn && pack)
    t = t.t();
  if (!pack || !turn)
    std::memcpy(to, t.data_ptr<float>(), t.nbytes());
}
void in_a_field(const Options &options, float *to) {
  Tensor t = torch::rand({3, 4});
  if (options.turn)
    t = t.t();
  for (int i = 0; i < 2; ++i)
    if (!options.turn)
      std::memcpy(to, t.data_ptr<float>(), t.nbytes());
}

// Another condition, one that changes, one that is asked anew.
void another(bool turn, bool pack, float *to) {
  Tensor t = torch::rand({3, 4});
  if (turn)
    t = t.t();
  if (pack)
    t = t.contiguous();
  std::memcpy(to, t.data_ptr<float>(), t.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: wrong bytes: 'memcpy' copies the bytes of 't' as they lie in memory, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
  // CHECK-FIXES: auto t_packed = t.contiguous();
  // CHECK-FIXES: std::memcpy(to, t_packed.data_ptr<float>(), t.nbytes());
}
void changes(bool turn, float *to) {
  Tensor t = torch::rand({3, 4});
  if (turn)
    t = t.t();
  turn = !turn;
  if (!turn)
    std::memcpy(to, t.data_ptr<float>(), t.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: wrong bytes: 'memcpy' copies the bytes of 't' as they lie in memory, but 't()' has moved no bytes: they lie in the order from before; read from a packed copy, contiguous(), kept in a variable [libtorch-strided-access]
}
void asked_anew(float *to) {
  Tensor t = torch::rand({3, 4});
  if (ask())
    t = t.t();
  if (!ask())
    read(t, to);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wrong bytes: 'read' goes through the memory of 't' as one piece, but 't()' has moved no bytes: they lie in the order from before; pass a packed copy, contiguous() [libtorch-strided-access]
  // CHECK-FIXES: read(t.contiguous(), to);
}
void in_each_round(float *to) {
  Tensor t = torch::rand({3, 4});
  for (int i = 0; i < 4; ++i) {
    const bool turn = ask();
    if (!turn)
      read(t, to);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: wrong bytes: 'read' goes through the memory of 't' as one piece, but 't()' has moved no bytes: they lie in the order from before; pass a packed copy, contiguous() [libtorch-strided-access]
    // CHECK-FIXES: read(t.contiguous(), to);
    if (turn)
      t = t.t();
  }
}
void written_by_others(bool *c, float *to) {
  Tensor t = torch::rand({3, 4});
  if (c[0])
    t = t.t();
  c[0] = ask();
  if (!c[0])
    read(t, to);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wrong bytes: 'read' goes through the memory of 't' as one piece, but 't()' has moved no bytes: they lie in the order from before; pass a packed copy, contiguous() [libtorch-strided-access]
  // CHECK-FIXES: read(t.contiguous(), to);
}
void the_same_way(bool turn, float *to) {
  Tensor t = torch::rand({3, 4});
  if (turn)
    t = t.t();
  if (turn)
    read(t, to);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: wrong bytes: 'read' goes through the memory of 't' as one piece, but 't()' has moved no bytes: they lie in the order from before; pass a packed copy, contiguous() [libtorch-strided-access]
  // CHECK-FIXES: read(t.contiguous(), to);
}
