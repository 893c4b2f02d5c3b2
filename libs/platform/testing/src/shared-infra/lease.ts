import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The folder of the run's shared servers, set by the global setup; a test that runs outside a run has none. */
export const RUN_FOLDER_VARIABLE = 'BERTH_TEST_RUN';

/** A server that a run shares: a server has at most one lease at a time. */
export type SharedPart = 'eventStore' | 'postgres';

/** What a lease contains: an empty event log or an empty database, by URL. */
export type LeasedUrls = Partial<Record<SharedPart, string>>;

/** One line of JSON from the process that leases the servers. */
export type LeaseLine =
  | { readonly kind: 'leased'; readonly urls: LeasedUrls }
  | { readonly kind: 'failed'; readonly message: string };

export interface Lease {
  readonly urls: LeasedUrls;
  /** Returns the servers. Their data is removed. */
  release(): Promise<void>;
}

interface State {
  urls?: LeasedUrls;
  released: boolean;
  lost: boolean;
}

export const socketIn = (runFolder: string): string => `${runFolder}/leases.sock`;

/**
 * Leases parts for as long as this process lives or until `release`. Rejects if a shared server has ended. If one ends
 * later, calls `onLoss`, which by default throws where no test can catch it.
 */
export const lease = async (
  runFolder: string,
  parts: readonly SharedPart[],
  onLoss: (error: Error) => void = throwUncaught,
): Promise<Lease> => {
  const socket = connect(socketIn(runFolder));
  await once(socket, 'connect');
  socket.write(`${JSON.stringify(parts)}\n`);
  const state: State = { released: false, lost: false };
  const { promise, resolve, reject } = Promise.withResolvers<LeasedUrls>();
  const fail = (message: string): void => {
    const error = new Error(message);
    if (state.urls === undefined) return reject(error);
    if (!state.released && !state.lost) onLoss(error);
    state.lost = true;
  };
  createInterface({ input: socket })
    .on('line', (text) => {
      const line = JSON.parse(text) as LeaseLine;
      if (line.kind === 'failed') return fail(line.message);
      resolve((state.urls = line.urls));
    })
    .on('error', () => undefined);
  socket.once('error', (error) => fail(`The shared test servers cannot be reached: ${error.message}`));
  socket.once('close', () => fail('The process that leases the shared test servers ended.'));
  const urls = await promise;
  // A test process ends with its tests, whatever it still leases.
  socket.unref();
  return { urls, release: () => released(socket, state) };
};

const released = async (socket: Socket, state: State): Promise<void> => {
  if (state.released) return;
  state.released = true;
  if (socket.destroyed) return;
  socket.ref();
  const closed = once(socket, 'close');
  socket.end();
  await closed;
};

function throwUncaught(error: Error): void {
  process.nextTick(() => {
    throw error;
  });
}
