/** The bench cannot run; the message is complete without a stack. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
}
