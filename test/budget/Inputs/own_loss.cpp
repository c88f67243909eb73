// A program, and its peak.
#include "peak.h"

#include "programs/resnet_trainer.cpp"
