// What a runner of AOTInductor's models loads, without AOTInductor: it asks LibTorch for
// more memory than there can be, as compiled code does.

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

static int model;

extern "C" {
int AOTInductorModelContainerCreateWithDevice(void **container, size_t, const char *,
                                              const char *) {
  *container = &model;
  return 0;
}
int AOTInductorModelContainerDelete(void *) { return 0; }
int AOTInductorModelContainerGetNumOutputs(void *, size_t *outputs) {
  *outputs = 1;
  return 0;
}
int AOTInductorModelContainerGetNumConstants(void *, size_t *constants) {
  *constants = 0;
  return 0;
}
int AOTInductorModelContainerRun(void *, AtenTensorHandle *, size_t, AtenTensorHandle *outputs,
                                 size_t, void *, void *) {
  const int64_t size = int64_t(1) << 50, stride = 1;
  return aoti_torch_empty_strided(1, &size, &stride, aoti_torch_dtype_float32(),
                                  aoti_torch_device_type_cpu(), 0, outputs);
}
// The runner looks for these as well, and does not call them.
#define NOT_CALLED(NAME)                                                                     \
  int AOTInductorModelContainer##NAME() { return 1; }
NOT_CALLED(ExtractConstantsMap)
NOT_CALLED(GetCallSpec)
NOT_CALLED(GetConstantDtype)
NOT_CALLED(GetConstantName)
NOT_CALLED(GetConstantOriginalFQN)
NOT_CALLED(RunConstantFolding)
NOT_CALLED(SwapConstantBuffer)
NOT_CALLED(UpdateConstantBuffer)
NOT_CALLED(UpdateInactiveConstantBuffer)
}
