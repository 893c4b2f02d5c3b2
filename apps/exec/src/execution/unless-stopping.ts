/** Resolves like `work`, or like `otherwise` as soon as the process begins to stop. `work` itself continues. */
export const unlessStopping = <T>(
  stopping: AbortSignal,
  work: Promise<T>,
  otherwise: () => Promise<T>,
): Promise<T> => {
  if (stopping.aborted) return work;
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(otherwise());
    stopping.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => stopping.removeEventListener('abort', leave));
  });
};
