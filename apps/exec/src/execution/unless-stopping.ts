/** Answers what `work` answers, or what `otherwise` says as soon as the process is to stop. `work` itself goes on. */
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
