// What ATen/ParallelOpenMP.h uses: clang's own is in another package.
#pragma once
extern "C" {
int omp_get_max_threads();
int omp_get_num_threads();
int omp_get_thread_num();
int omp_in_parallel();
}
