// What main() freezes by names, and by what is not known.
#include <cstdlib>
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int64_t width) {
    body = register_module("body", torch::nn::Linear(8, width));
    head = register_module("head", torch::nn::Linear(width, 2));
  }
  torch::Tensor forward(torch::Tensor x) { return head(torch::relu(body(x))); }
  torch::nn::Linear body{nullptr}, head{nullptr};
};
TORCH_MODULE(Net);

static void freeze(Net &net, const std::string &part) {
  for (auto &p : net->named_parameters())
    if (p.key().rfind(part, 0) == 0)
      p.value().set_requires_grad(false);
}

int main() {
  Net found(16), prefix(17), cut(18), compared(19), asked(20), none(21);
  for (auto &p : found->named_parameters())
    if (p.key().find("body") == 0)
      p.value().set_requires_grad(false);
  freeze(prefix, "head.");
  for (auto &p : cut->named_parameters())
    p.value().requires_grad_(p.key().substr(0, 4) == "head");
  for (auto &p : compared->named_parameters())
    if (p.key().compare("head.bias") != 0)
      p.value().set_requires_grad(false);
  const char *part = std::getenv("PART");
  for (auto &p : asked->named_parameters())
    if (part && p.key() == part)
      p.value().set_requires_grad(false);
  for (auto &p : none->parameters())
    p.set_requires_grad(part != nullptr);
  found->forward(torch::rand({4, 8})).sum().backward();
  prefix->forward(torch::rand({4, 8})).sum().backward();
  cut->forward(torch::rand({4, 8})).sum().backward();
  compared->forward(torch::rand({4, 8})).sum().backward();
  asked->forward(torch::rand({4, 8})).sum().backward();
  none->forward(torch::rand({4, 8})).sum().backward();
}
