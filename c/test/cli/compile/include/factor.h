inline float factor(float x) { return 2 * x; }
