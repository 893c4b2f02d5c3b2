import { basename, dirname } from 'node:path';
import { guestEnv } from '@berth/guest-protocol';
import { closeInherited } from './close-inherited.js';
import { readGuestConfig } from './config.js';
import { startGuest } from './start-guest.js';

const GRACE_MS = 10_000;

try {
  closeInherited();
  // A terminal's shell changes its user but keeps its groups: none of root's may be left to it.
  if (process.getuid?.() === 0) process.setgroups?.([]);
  const config = readGuestConfig(process.env);
  // The path of a socket holds 107 bytes at most; from within its folder it always fits.
  process.chdir(dirname(config.socket));
  const guest = await startGuest({ ...config, socket: basename(config.socket) }, process.env[guestEnv.mark]);
  process.once('SIGTERM', () => void guest.stop(GRACE_MS));
  await guest.ended;
  process.exit(0);
} catch (error) {
  // Nobody to tell yet but whoever keeps this process's stderr.
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
