#include "bytes.h"

Net wider(8192);
