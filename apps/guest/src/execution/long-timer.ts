/** What one timer of the runtime holds; beyond it fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Calls `action` once, after `millis`, however many those are. Answers how to call it off. */
export const startTimer = (millis: number, action: () => void): (() => void) => {
  const due = performance.now() + millis;
  let timer: NodeJS.Timeout;
  const arm = (left: number): void => {
    timer = setTimeout(
      () => {
        const stillLeft = due - performance.now();
        if (stillLeft > 0) arm(stillLeft);
        else action();
      },
      Math.min(Math.ceil(left), LONGEST_MS),
    );
  };
  arm(millis);
  return () => clearTimeout(timer);
};
