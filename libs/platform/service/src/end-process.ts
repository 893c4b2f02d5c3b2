import { EXIT_CONFIG } from '@berth/config';

let ending = false;

/**
 * Stops the process as SIGTERM does, with the exit code of a bad configuration: everything in it has to stop when its
 * installation has lost its name, and what starts it again learns why it does not start.
 */
export const endProcess = (): void => {
  if (ending) return;
  ending = true;
  process.exitCode = EXIT_CONFIG;
  process.emit('SIGTERM', 'SIGTERM');
};
