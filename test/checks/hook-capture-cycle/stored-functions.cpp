// Functions stored in the object that they keep.
// RUN: %check_libtorch_tidy %s libtorch-hook-capture-cycle %t

#include <functional>
#include <map>
#include <torch/torch.h>

using torch::Tensor;

struct TapImpl : torch::nn::Module {
  void listen() {
    on_forward = [self = shared_from_this()](Tensor x) { self->eval(); };
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: the function in 'on_forward' captures a shared pointer to this object by value, which owns that function: each keeps the other, so neither is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
    auto me = std::static_pointer_cast<TapImpl>(shared_from_this());
    callbacks.push_back([me](Tensor x) { me->seen = x; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: memory leak: the function in 'callbacks' captures 'me' by value, which owns that function: each keeps the other, so neither is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  }
  void set(std::function<void(Tensor)> callback) {
    chosen = std::move(callback);
  }
  Tensor forward(Tensor x) {
    if (on_forward)
      on_forward(x);
    return x;
  }
  std::function<void(Tensor)> on_forward, chosen;
  std::vector<std::function<void(Tensor)>> callbacks;
  std::map<std::string, std::function<void(Tensor)>> named;
  Tensor seen;
};
TORCH_MODULE(Tap);

void outside(Tap tap) {
  tap->on_forward = [tap](Tensor x) mutable { tap->seen = x; };
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: the function in 'on_forward' captures 'tap' by value, which owns that function: each keeps the other, so neither is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  tap->set([=](Tensor x) mutable { tap->eval(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: the function in 'chosen' captures 'tap' by value, which owns that function: each keeps the other, so neither is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  tap->named["a"] = [tap](Tensor x) mutable { tap->eval(); };
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: the function in 'named' captures 'tap' by value, which owns that function: each keeps the other, so neither is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  tap->callbacks.emplace_back(std::bind([](Tap &t, Tensor x) { t->seen = x; },
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: the function in 'callbacks' captures 'tap' by value, which owns that function: each keeps the other, so neither is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
                                        tap, std::placeholders::_1));
}

struct Session {
  torch::nn::Linear net{4, 4};
  std::function<Tensor(Tensor)> run;
};
std::shared_ptr<Session> open() {
  auto session = std::make_shared<Session>();
  session->run = [session](Tensor x) { return session->net(x); };
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: memory leak: the function in 'run' captures 'session' by value, which owns that function: each keeps the other, so neither is ever freed; capture a weak or plain pointer [libtorch-hook-capture-cycle]
  return session;
}
