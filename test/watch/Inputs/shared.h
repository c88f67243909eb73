// A program of two files that both include the watch.
#include <libtorch-tidy/watch.h>
#include <thread>
#include <torch/torch.h>
#include <vector>

void work(std::vector<torch::Tensor> &kept);
