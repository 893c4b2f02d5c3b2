/** How a process ended, for a sentence about it. */
export const howItEnded = (code: number | null, signal: NodeJS.Signals | null): string =>
  signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
