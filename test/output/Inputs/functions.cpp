// Functions as people write them, each with one finding: their tokens say little
// about what they are called and where they belong.
#include <torch/torch.h>

#define TASK(Name) static void task_##Name(torch::Tensor Total)
#define EACH(V) for (auto &E : V)

namespace app {
inline namespace v1 {
template <typename T> struct Net {
  void step(std::vector<torch::Tensor> &Losses);
};
struct Own {
  explicit Own(torch::Tensor T) : Kept{T.detach()} { T.detach(); }
  ~Own() noexcept(false) { Kept.detach(); }
  torch::Tensor Kept;
};
} // namespace v1
namespace {
[[maybe_unused]] void hidden(torch::Tensor T) { T.detach(); }
} // namespace
void declared(torch::Tensor T);
} // namespace app

template <typename T>
void app::Net<T>::step(std::vector<torch::Tensor> &Losses) {
  EACH(Losses) { E.detach(); }
}
template <>
void app::Net<int>::step(std::vector<torch::Tensor> &Losses) {
  Losses[0].detach();
}

using namespace app;
void app::declared(torch::Tensor T) { T.detach(); }
TASK(train) { Total.detach(); }
