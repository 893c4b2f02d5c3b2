/**
 * Lets work go on that nobody waits for. It reports its own failures; one that it does not report is a defect, which the
 * process logs and counts like every rejection without a handler, instead of ending.
 */
export const detach = (work: Promise<unknown>): void => {
  work.catch((error: unknown) => {
    process.emit('unhandledRejection', error, work);
  });
};
