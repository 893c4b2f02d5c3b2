import { basename, dirname } from 'node:path';
import { detach } from '@berth/kernel';
import { guestEnv } from '@berth/guest-protocol';
import { closeInherited } from './close-inherited.js';
import { readGuestConfig } from './config.js';
import { startGuest } from './start-guest.js';
import { surviveRejections } from './unhandled-rejections.js';
import { createUserNamespace } from './user-namespace.js';

const GRACE_MS = 10_000;

surviveRejections(process.stderr);
try {
  closeInherited();
  // A terminal's shell changes its user but keeps its groups, so drop root's groups.
  if (process.getuid?.() === 0) process.setgroups?.([]);
  const config = readGuestConfig(process.env);
  if (config.namespace !== undefined) await createUserNamespace(config.namespace);
  // A socket path holds at most 107 bytes; relative to its own folder it always fits.
  process.chdir(dirname(config.socket));
  const guest = await startGuest({ ...config, socket: basename(config.socket) }, process.env[guestEnv.mark]);
  process.once('SIGTERM', () => detach(guest.stop(GRACE_MS)));
  await guest.ended;
  process.exit(0);
} catch (error) {
  // Only stderr is available before the guest is configured.
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
