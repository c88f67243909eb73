// What looks like it and is right.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
void read(const float *);
void fill(float *, int64_t);
void look(torch::IntArrayRef);
void replace(Tensor &);
Tensor &cached(int);
Tensor stored(int);
struct NetImpl : torch::nn::Module {
  Tensor weight;
  Tensor forward(Tensor x) { return x; }
  Tensor get() { return weight; }
};

// Gone at the end of the full expression, and so is the pointer.
void one_expression(Tensor x, torch::jit::Module module) {
  read((x * 2).data_ptr<float>());
  look((x * 2).sizes());
  look({1, 2, 3});
  int64_t rows = (x * 2).sizes()[0];
  auto sizes = (x * 2).sizes().vec();
  float first = *(x * 2).data_ptr<float>();
  std::vector<float> copy((x * 2).data_ptr<float>(), (x * 2).data_ptr<float>() + 2);
  for (int64_t n : (x * 2).sizes().vec())
    rows += n;
  for (const auto &e : module.forward({x}).toTuple()->elements().vec())
    std::cout << e;
  for (const auto &e : module.forward({x}).toTensorVector())
    std::cout << e;
  Tensor out = module.forward({x}).toTuple()->elements()[0].toTensor();
  auto copied = module.forward({x}).toTuple()->elements();
  std::cout << rows << sizes << first << copy << out << copied[0];
}

// Somebody else holds the tensor or its memory.
void living(Tensor x, const Tensor &y, NetImpl &net, std::vector<Tensor> &list,
            torch::jit::Module module) {
  float *p = x.data_ptr<float>();
  auto *view = x.view({-1}).data_ptr<float>();
  auto *row = y[0].data_ptr<float>();
  auto *weight = net.weight.data_ptr<float>();
  auto *gradient = x.grad().data_ptr<float>();
  auto *plain = x.detach().data_ptr<float>();
  auto *element = list[0].data_ptr<float>();
  auto *in_place = x.mul_(2).data_ptr<float>();
  auto *cache = cached(1).data_ptr<float>();
  auto *member = stored(1).data_ptr<float>();
  auto *getter = net.get().data_ptr<float>();
  auto out = module.forward({x});
  auto *scripted = out.toTensor().data_ptr<float>();
  const auto &elements = out.toTuple()->elements();
  auto *of_element = out.toTuple()->elements()[0].toTensor().data_ptr<float>();
  for (const float *q : {p, view, row, weight, gradient, plain, element, in_place,
                         cache, member, getter, scripted, of_element})
    read(q);
  std::cout << elements[0];
  const Tensor &extended = x * 2;
  auto *of_extended = extended.data_ptr<float>();
  read(of_extended);
  torch::IntArrayRef sizes = x.sizes();
  std::vector<int64_t> vector = {1, 2};
  torch::IntArrayRef of_vector = vector;
  torch::IntArrayRef none = {};
  look(sizes), look(of_vector), look(none);
}

// Never read again.
bool same(Tensor x) {
  float *p = x.data_ptr<float>();
  float *q = (x * 2).data_ptr<float>();
  auto sizes = (x * 2).sizes();
  return p == q && sizes.size() == 2;
}

// The memory is read before it goes, or lives on elsewhere.
struct Cache {
  Tensor held;
  const float *data = nullptr;
  void keep(Tensor x) {
    Tensor y = x * 2;
    held = y;
    data = y.data_ptr<float>();
  }
};
std::pair<Tensor, float *> both(Tensor x) {
  Tensor y = x * 2;
  return {y, y.data_ptr<float>()};
}
void order(Tensor x) {
  Tensor t = x * 2;
  float *p = t.data_ptr<float>();
  read(p);
  t = torch::zeros({3});
  p = t.data_ptr<float>();
  read(p);
  auto sizes = t.sizes();
  t = t.view({-1});
  look(sizes);
}
void unknown(Tensor x) {
  Tensor t = x * 2;
  Tensor other = t;
  float *p = t.data_ptr<float>();
  t = torch::zeros({3});
  read(p);
  Tensor u = x * 2;
  float *q = u.data_ptr<float>();
  auto keep = [u] { return u; };
  u = torch::zeros({3});
  read(q);
  Tensor v = x;
  float *r = v.data_ptr<float>();
  v = torch::zeros({3});
  read(r);
  std::cout << other << keep();
}
float *static_tensor() {
  static Tensor table = torch::zeros({3}) + 1;
  return table.data_ptr<float>();
}
torch::IntArrayRef sizes_of(const Tensor &x) { return x.sizes(); }
torch::IntArrayRef static_sizes() {
  static const std::vector<int64_t> sizes = {1, 2};
  return sizes;
}
Tensor filled() {
  Tensor t = torch::empty({3});
  float *p = t.data_ptr<float>();
  fill(p, 3);
  return t;
}

// What fills a list reads none of its elements.
template <class T> static void add(std::vector<T> &to, T v) { to.push_back(v); }
static void addTwo(std::vector<float *> &to, float *v) {
  to.emplace_back(v);
  to.insert(to.end(), v);
}
struct Batches {
  std::vector<float *> list;
  void replaced(const Tensor &x) {
    for (int i = 0; i < 2; ++i) {
      Tensor t = x * 2;
      add(list, t.data_ptr<float>() + 1);
    }
    list = {x.data_ptr<float>(), x.data_ptr<float>()};
  }
  void cleared(const Tensor &x) {
    for (int i = 0; i < 2; ++i) {
      Tensor t = x * 2;
      addTwo(list, t.data_ptr<float>());
    }
    list.clear();
  }
};
// An element that has another value since, whichever the other one was.
void elements(Tensor x, bool some, int n) {
  std::array<float *, 2> two{};
  if (some) {
    Tensor t = x * 2;
    two[n % 2] = t.data_ptr<float>();
  }
  two[1] = x.data_ptr<float>();
  read(two[1]);
}
// emplace() leaves what its key has.
void emplaced(Tensor x) {
  std::map<int, float *> by;
  by.emplace(2, x.data_ptr<float>());
  by.emplace(2, (x * 2).data_ptr<float>());
  for (auto &e : by)
    read(e.second);
}
// Writing a field of an element reads no field of it.
struct View {
  float *p = nullptr;
  int n = 0;
};
void written(Tensor x, int n) {
  std::vector<View> views(2);
  views[n % 2].p = (x * 2).data_ptr<float>();
  views.emplace_back();
  views.back().p = x.data_ptr<float>();
  for (auto &e : views)
    e.n++;
}
