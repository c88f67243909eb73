// Labels of a switch that lie within its statements, and those in front of them.

#include <torch/torch.h>

using torch::nn::Linear, torch::nn::Module;

#define ADD(Name) register_module(Name + std::to_string(k), Linear(3, 3))

// Six modules are made by the first, and five by the second.
struct FromTheTopImpl : Module {
  explicit FromTheTopImpl(int which = 0) {
    int k = 3;
    switch (which) {
    case 0:
      do {
        ADD("a");
        [[fallthrough]];
      case 1:
        ADD("b");
      } while (--k > 0);
    }
  }
};
TORCH_MODULE(FromTheTop);

struct IntoALoopImpl : Module {
  IntoALoopImpl() {
    int k = 3, which = 1;
    switch (which) {
    case 0:
      do {
        ADD("a");
        [[fallthrough]];
      case 1:
        ADD("b");
      } while (--k > 0);
    }
  }
};
TORCH_MODULE(IntoALoop);

struct DefaultInABranchImpl : Module {
  DefaultInABranchImpl() {
    int k = 3, which = 7;
    switch (which) {
      if (k > 5) {
      default:
        ADD("a");
      }
      ADD("b");
    }
  }
};
TORCH_MODULE(DefaultInABranch);

struct IntoABlockImpl : Module {
  IntoABlockImpl() {
    int k = 3, which = 2;
    switch (which) {
    case 1: {
      ADD("a");
      [[fallthrough]];
    case 2:
      ADD("b");
    }
    }
  }
};
TORCH_MODULE(IntoABlock);

// All of these stand in front of a statement of the switch.
struct InFrontImpl : Module {
  InFrontImpl() {
    int k = 3, which = 2;
    switch (which) {
    case 0:
      ADD("no");
      break;
    case 1:
    case 2: {
      ADD("a");
      switch (k) {
      case 2:
        ADD("no");
        break;
      default:
        ADD("b");
      }
      break;
    }
    default:
      ADD("no");
    }
  }
};
TORCH_MODULE(InFront);
