/** A bench that cannot run; the message is all there is to say. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
}
