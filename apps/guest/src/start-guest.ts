import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { detach } from '@berth/kernel';
import { API_SOCKET, DELIVERIES_FILE, EXECUTIONS_FOLDER, guestEnv } from '@berth/guest-protocol';
import type { GuestConfig } from './config.js';
import { DeliveryJournal } from './delivery/delivery-journal.js';
import { ExecutionJournal } from './execution/execution-journal.js';
import { OutputRings } from './execution/output-rings.js';
import { killLeftovers } from './execution/traced-processes.js';
import { fileRoutes } from './files/files.routes.js';
import { guestRoutes } from './guest.routes.js';
import { Guest } from './guest.js';
import { LogWriter } from './log/log-writer.js';
import { OutputPipes } from './output/output-pipes.js';
import { ApiRelay } from './relay/api-relay.js';
import { createGuestServer } from './server/guest-server.js';

/** Next to the socket: accessible to this guest only, and useless to its successor. */
const PIPES_FOLDER = 'pipes';
const SOCKET_CHECK_MS = 2_000;

/** A guest that is listening. */
export interface RunningGuest {
  /** Resolves when the guest has ended: by request of its host, through `stop`, or because its socket is gone. */
  readonly ended: Promise<void>;
  /** Ends the program (TERM, then KILL after `graceMs`) and the guest. */
  stop(graceMs: number): Promise<void>;
}

/** Opens a guest on its socket. It has no program until one is set. */
export const startGuest = async (config: GuestConfig, mark: string | undefined): Promise<RunningGuest> => {
  const log = new LogWriter(config.logs);
  const executions = ExecutionJournal.open(config.journal);
  killLeftovers(executions.interrupted);
  const [journal, relay] = await Promise.all([
    DeliveryJournal.open(join(config.journal, DELIVERIES_FILE)),
    ApiRelay.open(join(dirname(config.socket), API_SOCKET)),
  ]);
  const guest = new Guest({
    generation: config.generation,
    log,
    journal,
    executionJournal: executions.journal,
    // Its journal removes what an earlier guest has left there.
    outputs: new OutputRings(join(config.journal, EXECUTIONS_FOLDER)),
    relay,
    pipes: new OutputPipes(join(dirname(config.socket), PIPES_FOLDER)),
    shippedShell: config.shell,
    mark: mark === undefined ? {} : { [guestEnv.mark]: mark },
  });
  const ended = Promise.withResolvers<void>();
  const routes = [
    ...guestRoutes(guest, () => {
      server.close();
      ended.resolve();
    }),
    ...fileRoutes(() => guest.files),
  ];
  const server = createGuestServer(() => [...routes, ...guest.ownRoutes]);
  rmSync(config.socket, { force: true });
  server.listen(config.socket);
  await once(server, 'listening');
  const stop = async (graceMs: number): Promise<void> => {
    try {
      await guest.shutDown(graceMs);
    } finally {
      server.close();
      server.closeAllConnections();
      ended.resolve();
    }
  };
  const watch = watchSocket(config.socket, () => detach(stop(0)));
  detach(ended.promise.then(() => clearInterval(watch)));
  return { ended: ended.promise, stop };
};

/** A guest whose socket was removed is unreachable forever, so it must exit. */
const watchSocket = (socket: string, onGone: () => void): NodeJS.Timeout =>
  setInterval(() => {
    stat(socket).catch(onGone);
  }, SOCKET_CHECK_MS).unref();
