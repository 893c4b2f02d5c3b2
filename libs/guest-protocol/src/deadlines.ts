/** On every answer of a guest: what its monotonic clock read, in milliseconds. */
export const CLOCK_HEADER = 'berth-clock';
/** On a request: until when, on the guest's clock, it may be begun. */
export const BEGIN_BEFORE_HEADER = 'berth-begin-before';
/** A guest read the request later than that, and began nothing. */
export const TOO_LATE_CODE = 'request_too_late';
/** How long a guest may take to begin what it is sent. */
export const BEGIN_WITHIN_MS = 4_000;

/** Never steps, and survives a restart of the guest. */
export const monotonicNow = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
