/* Runs one convolution of LIBXSMM in a process of its own: IN OUT SIZE TAPS STRIDE IMAGES. Then reads one number of runs
   per line of stdin and prints the milliseconds of each run as a JSON list, as `other_worker.py` does. One thread.

   cc -O2 libxsmm_worker.c -I include -L lib -lxsmm -lxsmmnoblas -lpthread -ldl -lm */

#include <libxsmm.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(libxsmm_dnn_err_t status, const char *what) {
  if (status != LIBXSMM_DNN_SUCCESS) {
    fprintf(stderr, "%s: %s\n", what, libxsmm_dnn_get_error(status));
    exit(1);
  }
}

static void bind(libxsmm_dnn_layer *layer, libxsmm_dnn_tensor_type type) {
  libxsmm_dnn_err_t status;
  libxsmm_dnn_tensor_datalayout *layout = libxsmm_dnn_create_tensor_datalayout(layer, type, &status);
  check(status, "layout");
  size_t elements = libxsmm_dnn_get_tensor_elements(layout, &status);
  float *data = libxsmm_aligned_malloc(elements * sizeof(float), 64);
  for (size_t i = 0; i < elements; i++) data[i] = (float)rand() / (float)RAND_MAX;
  libxsmm_dnn_tensor *tensor = libxsmm_dnn_link_tensor(layout, data, &status);
  check(status, "tensor");
  check(libxsmm_dnn_bind_tensor(layer, tensor, type), "binding");
  libxsmm_dnn_destroy_tensor_datalayout(layout);
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return 1e3 * (double)at.tv_sec + 1e-6 * (double)at.tv_nsec;
}

int main(int count, char **words) {
  if (count < 7) return 2;
  int numbers[6];
  for (int i = 0; i < 6; i++) numbers[i] = atoi(words[i + 1]);
  int pad = numbers[3] / 2;
  libxsmm_dnn_conv_desc of = {0};
  of.N = numbers[5];
  of.C = numbers[0];
  of.K = numbers[1];
  of.H = of.W = numbers[2];
  of.R = of.S = numbers[3];
  of.u = of.v = numbers[4];
  of.pad_h = of.pad_w = of.pad_h_in = of.pad_w_in = pad;
  of.threads = 1;
  of.datatype_in = of.datatype_out = LIBXSMM_DNN_DATATYPE_F32;
  of.buffer_format = of.filter_format = LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM;
  of.algo = LIBXSMM_DNN_CONV_ALGO_AUTO;
  of.options = LIBXSMM_DNN_CONV_OPTION_OVERWRITE;
  of.fuse_ops = LIBXSMM_DNN_CONV_FUSE_NONE;
  libxsmm_init();
  libxsmm_dnn_err_t status;
  libxsmm_dnn_layer *layer = libxsmm_dnn_create_conv_layer(of, &status);
  check(status, "layer");
  bind(layer, LIBXSMM_DNN_REGULAR_INPUT);
  bind(layer, LIBXSMM_DNN_REGULAR_OUTPUT);
  bind(layer, LIBXSMM_DNN_REGULAR_FILTER);
  size_t bytes = libxsmm_dnn_get_scratch_size(layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, &status);
  check(status, "scratch");
  void *scratch = libxsmm_aligned_malloc(bytes + 1, 64);
  check(libxsmm_dnn_bind_scratch(layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, scratch), "scratch");
  check(libxsmm_dnn_execute_st(layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, 0, 0), "run");
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    int runs = atoi(line);
    for (int i = 0; i < runs; i++) {
      double begin = now();
      check(libxsmm_dnn_execute_st(layer, LIBXSMM_DNN_COMPUTE_KIND_FWD, 0, 0), "run");
      printf("%s%.6f", i ? ", " : "[", now() - begin);
    }
    printf("]\n");
    fflush(stdout);
  }
  return 0;
}
