import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { pause } from '@berth/supervision';
import { DriverError } from '../driver-error.js';

const RESPONDS_WITHIN_MS = 3_000;
const ASK_EVERY_MS = 250;

/**
 * Resolves when containerd responds on its socket: it speaks HTTP/2, which begins with the settings of the server. A
 * call to nerdctl would hang with containerd, and a limit that suits a busy host is too long to tell. Errors:
 * `host_unavailable`.
 */
export const assertContainerdResponds = async (
  address: string,
  withinMs = RESPONDS_WITHIN_MS,
): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const session = connectHttp2('http://localhost', { createConnection: () => connect(address) });
  const fail = (cause?: unknown): void =>
    reject(
      new DriverError('host_unavailable', 'The container runtime of this host does not respond.', { cause }),
    );
  const timer = setTimeout(fail, withinMs);
  session.once('remoteSettings', () => resolve());
  session.once('error', fail);
  session.once('close', () => fail());
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    session.on('error', () => undefined);
    session.destroy();
  }
};

/** Whether containerd responds on its socket within that time. */
export const containerdResponds = (address: string, withinMs: number): Promise<boolean> =>
  assertContainerdResponds(address, withinMs).then(
    () => true,
    () => false,
  );

/** Aborts, with the error of `assertContainerdResponds`, when containerd stops responding before `end` aborts. */
export const whenContainerdStops = (address: string, end: AbortSignal): AbortSignal => {
  const stopped = new AbortController();
  const watch = async (): Promise<void> => {
    for (;;) {
      await pause(ASK_EVERY_MS, end);
      if (end.aborted) return;
      await assertContainerdResponds(address);
    }
  };
  watch().catch((error: unknown) => stopped.abort(error));
  return stopped.signal;
};
