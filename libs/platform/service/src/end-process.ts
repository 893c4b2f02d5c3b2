import { EXIT_CONFIG } from '@berth/config';

let ending = false;

/**
 * Stops the process as SIGTERM does, with the exit code of an invalid configuration. For an installation that has lost
 * its name: every service in the process has to stop, and the next start fails with the reason.
 */
export const endProcess = (): void => {
  if (ending) return;
  ending = true;
  process.exitCode = EXIT_CONFIG;
  process.emit('SIGTERM', 'SIGTERM');
};
