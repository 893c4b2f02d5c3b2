/** Returns the result of the work, or `late` after `millis`; the work continues. */
export const within = async <T, Late>(millis: number, work: Promise<T>, late: Late): Promise<T | Late> => {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late), millis);
  });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
};
