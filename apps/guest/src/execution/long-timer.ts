/** Maximum delay of a runtime timer; a longer one fires at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Calls `action` once after `millis`, without an upper limit. Returns a function that cancels it. */
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
      Math.min(Math.ceil(left), MAX_DELAY_MS),
    );
  };
  arm(millis);
  return () => clearTimeout(timer);
};
