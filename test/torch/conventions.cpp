// RUN: %torch-facts -names %s -- %torch_flags | %FileCheck %s --implicit-check-not=name --implicit-check-not=draws --implicit-check-not=mentions
// What names suggest, and look-alikes that suggest nothing.
#include <torch/torch.h>

torch::Tensor compute_loss(); // CHECK: [[@LINE]]: name compute_loss: loss
struct FocalLossImpl;         // CHECK: [[@LINE]]: name FocalLossImpl: loss
torch::Tensor lost();

int numEpochs; // CHECK: [[@LINE]]: name numEpochs: epoch
int steps;

torch::Tensor kv_cache, past_keys; // CHECK: [[@LINE]]: name kv_cache: cache
                                   // CHECK: [[@LINE-1]]: name past_keys: cache small-text
torch::Tensor keys_of_the_past_;   // CHECK: [[@LINE]]: name keys_of_the_past_: small-text

std::vector<std::string> image_files; // CHECK: [[@LINE]]: name image_files: small-text
std::vector<std::string> categories;  // CHECK: [[@LINE]]: name categories: small-text
std::vector<std::string> file_texts, sentences;

void zero_all_gradients(); // CHECK: [[@LINE]]: name zero_all_gradients: gradient-reset
void clearGrads();         // CHECK: [[@LINE]]: name clearGrads: gradient-reset
void gradient(), zero();

bool isOOM;             // CHECK: [[@LINE]]: name isOOM: out-of-memory
bool out_of_memory;     // CHECK: [[@LINE]]: name out_of_memory: out-of-memory
bool oomSeen;           // CHECK: [[@LINE]]: name oomSeen: out-of-memory
bool zoom, room, ZOOMS;
const char *Text = "CUDA out of memory"; // CHECK: [[@LINE]]: text mentions out-of-memory
const char *Other = "a room of its own";

int kVocabSize; // CHECK: [[@LINE]]: name kVocabSize: vocabulary
int vocal;

double omp_get_wtime(); // CHECK: [[@LINE]]: name omp_get_wtime: clock
void cudaEventRecord(); // CHECK: [[@LINE]]: name cudaEventRecord: clock
void clocks(), known();

struct Net : torch::nn::Module {
  torch::Tensor get_weights(); // CHECK: [[@LINE]]: name get_weights: accessor
  torch::Tensor load_from();   // CHECK: [[@LINE]]: name load_from: accessor
  torch::Tensor encode();
  torch::Tensor sample();
};

struct Normal {
  torch::Tensor sample(); // CHECK: [[@LINE]]: sample draws a sample
  torch::Tensor rsample();
};
