#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const int epochs = atoi(getenv("EPOCHS"));
  double *x = NULL, *y = NULL, a, b, slope = 0, offset = 0, loss = 0;
  int count = 0;
  while (scanf("%lf %lf", &a, &b) == 2) {
    x = realloc(x, (count + 1) * sizeof *x);
    y = realloc(y, (count + 1) * sizeof *y);
    x[count] = a;
    y[count++] = b;
  }
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double by_slope = 0, by_offset = 0;
    loss = 0;
    for (int i = 0; i < count; ++i) {
      const double error = slope * x[i] + offset - y[i];
      by_slope += error * x[i];
      by_offset += error;
      loss += error * error;
    }
    slope -= 0.5 * by_slope / count;
    offset -= 0.5 * by_offset / count;
  }
  printf("%.17g %.17g %.17g\n", slope, offset, loss / count);
  return 0;
}
