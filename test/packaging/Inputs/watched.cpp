#include <libtorch-tidy/watch.h>

void run() {
  libtorch_tidy::Watch watch;
  watch.step("epoch");
}
