/** Response header: the guest's monotonic clock in milliseconds. */
export const CLOCK_HEADER = 'berth-clock';
/** Request header: the time on the guest's clock by which the guest must begin the work. */
export const BEGIN_BEFORE_HEADER = 'berth-begin-before';
/** Error code: the guest read the request after that time and did not begin the work. */
export const TOO_LATE_CODE = 'request_too_late';
/** The time a guest has to begin the work of a request. */
export const BEGIN_WITHIN_MS = 4_000;

/** Monotonic clock in milliseconds. It never jumps and does not reset when the guest restarts. */
export const monotonicNow = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
