{ x[NR] = $1; y[NR] = $2 }
END {
  for (epoch = 0; epoch < ENVIRON["EPOCHS"]; epoch++) {
    by_slope = by_offset = loss = 0
    for (i = 1; i <= NR; i++) {
      error = slope * x[i] + offset - y[i]
      by_slope += error * x[i]
      by_offset += error
      loss += error * error
    }
    slope -= 0.5 * by_slope / NR
    offset -= 0.5 * by_offset / NR
  }
  printf "%.17g %.17g %.17g\n", slope, offset, loss / NR
}
