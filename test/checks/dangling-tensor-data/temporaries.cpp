// Pointers and references into temporaries, and the name that keeps them.
// RUN: %check_libtorch_tidy %s libtorch-dangling-tensor-data %t

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
void read(const float *);
std::vector<int64_t> shape();

void data(Tensor x) {
  float *p = (x * 2).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto p_tensor = x * 2;
  // CHECK-FIXES: float *p = p_tensor.data_ptr<float>();
  read(p);
  auto second = torch::relu(x).data_ptr<float>() + 4;
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: dangling pointer: 'second' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto second_tensor = torch::relu(x);
  // CHECK-FIXES: auto second = second_tensor.data_ptr<float>() + 4;
  read(second);
  // The second conversion certainly copies.
  const auto *converted = x.to(torch::kDouble).to(torch::kFloat).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: dangling pointer: 'converted' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto converted_tensor = x.to(torch::kDouble).to(torch::kFloat);
  // CHECK-FIXES: const auto *converted = converted_tensor.data_ptr<float>();
  read(converted);
  auto *copied = x.to(x.device(), torch::kFloat, false, /*copy=*/true).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: dangling pointer: 'copied' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto copied_tensor = x.to(x.device(), torch::kFloat, false, /*copy=*/true);
  // CHECK-FIXES: auto *copied = copied_tensor.data_ptr<float>();
  read(copied);
  // A view of a temporary has its memory.
  float *firstRow = torch::softmax(x, 1).t()[0].contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: dangling pointer: 'firstRow' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto firstRowTensor = torch::softmax(x, 1).t()[0].contiguous();
  // CHECK-FIXES: float *firstRow = firstRowTensor.data_ptr<float>();
  read(firstRow);
  const float *cast = static_cast<const float *>(x.clone().data_ptr());
  // CHECK-MESSAGES: :[[@LINE-1]]:50: warning: dangling pointer: 'cast' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto cast_tensor = x.clone();
  // CHECK-FIXES: const float *cast = static_cast<const float *>(cast_tensor.data_ptr());
  read(&cast[3]);
  auto *largest = std::get<0>(x.max(1)).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling pointer: 'largest' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto largest_tensor = std::get<0>(x.max(1));
  // CHECK-FIXES: auto *largest = largest_tensor.data_ptr<float>();
  read(largest);
  const void *raw = (x * 2).storage().data();
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: dangling pointer: 'raw' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto raw_tensor = x * 2;
  // CHECK-FIXES: const void *raw = raw_tensor.storage().data();
  read(static_cast<const float *>(raw));
  auto *written = (x * 2).add_(1).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling pointer: 'written' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto written_tensor = (x * 2).add_(1);
  // CHECK-FIXES: auto *written = written_tensor.data_ptr<float>();
  read(written);
}

void tensor_objects(Tensor x) {
  torch::IntArrayRef sizes = (x * 2).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: dangling reference: 'sizes' refers to the sizes of a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto sizes_tensor = x * 2;
  // CHECK-FIXES: torch::IntArrayRef sizes = sizes_tensor.sizes();
  std::cout << sizes;
  // The memory of a view lives on, the view does not.
  auto strides = x.t().strides();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: dangling reference: 'strides' refers to the strides of a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto strides_tensor = x.t();
  // CHECK-FIXES: auto strides = strides_tensor.strides();
  std::cout << strides[0];
  auto rest = x[0].sizes().slice(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: dangling reference: 'rest' refers to the sizes of a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto rest_tensor = x[0];
  // CHECK-FIXES: auto rest = rest_tensor.sizes().slice(1);
  std::cout << rest;
  const auto &storage = (x * 2).storage();
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: dangling reference: 'storage' refers to the storage of a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto storage_tensor = x * 2;
  // CHECK-FIXES: const auto &storage = storage_tensor.storage();
  std::cout << storage.use_count();
}

void scripted(torch::jit::Module module, Tensor x) {
  float *p = module.forward({x}).toTensor().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: dangling pointer: 'p' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto p_tensor = module.forward({x}).toTensor();
  // CHECK-FIXES: float *p = p_tensor.data_ptr<float>();
  read(p);
  const auto &elements = module.forward({x}).toTuple()->elements();
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: dangling reference: 'elements' refers to the elements of a tuple that is destroyed at the end of this statement; keep the tuple in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto elements_tuple = module.forward({x}).toTuple();
  // CHECK-FIXES: const auto &elements = elements_tuple->elements();
  std::cout << elements[0];
  // CHECK-FIXES: auto first_tensor = module.forward({x}).toTuple()->elements()[0].toTensor();
  auto *first =
      module.forward({x}).toTuple()->elements()[0].toTensor().data_ptr<float>();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: dangling pointer: 'first' points into a tensor that is destroyed at the end of this statement; keep the tensor in a variable [libtorch-dangling-tensor-data]
      // CHECK-FIXES: first_tensor.data_ptr<float>();
  read(first);
  for (const auto &e : module.forward({x}).toTuple()->elements())
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: dangling reference: the loop reads the elements of a tuple that is destroyed before the first iteration; keep the tuple in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto tuple = module.forward({x}).toTuple();
  // CHECK-FIXES: for (const auto &e : tuple->elements())
    std::cout << e;
  for (const auto &e : module.forward({x}).toTuple()->elements())
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: dangling reference: the loop reads the elements of a tuple that is destroyed before the first iteration; keep the tuple in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto tuple2 = module.forward({x}).toTuple();
  // CHECK-FIXES: for (const auto &e : tuple2->elements())
    std::cout << e.toTensor().sizes();
}

void lists(Tensor a, Tensor b, int64_t n) {
  torch::IntArrayRef braces = {3, n, 5};
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: dangling reference: 'braces' refers to a list in braces that is destroyed at the end of this statement; keep the list in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: const int64_t braces_values[] = {3, n, 5};
  // CHECK-FIXES: torch::IntArrayRef braces = braces_values;
  std::cout << torch::zeros(braces);
  at::IntArrayRef direct{n, n};
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: dangling reference: 'direct' refers to a list in braces that is destroyed at the end of this statement; keep the list in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: const int64_t direct_values[] = {n, n};
  // CHECK-FIXES: at::IntArrayRef direct(direct_values);
  std::cout << torch::zeros(direct);
  torch::TensorList tensors = {a, b};
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: dangling reference: 'tensors' refers to a list in braces that is destroyed at the end of this statement; keep the list in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: const torch::Tensor tensors_values[] = {a, b};
  // CHECK-FIXES: torch::TensorList tensors = tensors_values;
  std::cout << torch::cat(tensors);
  torch::IntArrayRef vector = shape();
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: dangling reference: 'vector' refers to a temporary container that is destroyed at the end of this statement; keep the container in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto vector_values = shape();
  // CHECK-FIXES: torch::IntArrayRef vector = vector_values;
  std::cout << torch::zeros(vector);
  auto made = torch::IntArrayRef(a.sizes().vec());
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: dangling reference: 'made' refers to a temporary container that is destroyed at the end of this statement; keep the container in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto made_values = a.sizes().vec();
  // CHECK-FIXES: auto made = torch::IntArrayRef(made_values);
  std::cout << torch::zeros(made);
  for (int64_t size : (a + b).sizes())
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: dangling reference: the loop reads the sizes of a tensor that is destroyed before the first iteration; keep the tensor in a variable [libtorch-dangling-tensor-data]
  // CHECK-FIXES: auto tensor = a + b;
  // CHECK-FIXES: for (int64_t size : tensor.sizes())
    std::cout << size;
}
