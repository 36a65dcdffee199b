__global__ void k()
{
    if (i < n) {
}
