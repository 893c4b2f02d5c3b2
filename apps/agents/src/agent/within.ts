/** What the work results in, or `late` when it takes longer than that; the work goes on. */
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
