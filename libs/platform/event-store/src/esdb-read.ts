import type { StreamingRead } from '@eventstore/db-client';
import type { EsdbClient } from './leader-connection.js';
import { ConnectionReplaced, SilenceTimer } from './esdb-timeouts.js';

/**
 * Collects everything that the read delivers. The client sets no deadline, so this throws when the server is silent for
 * `silenceMs`. Also throws when the connection is replaced.
 */
export const collect = <Item>(
  stream: StreamingRead<Item>,
  open: EsdbClient,
  silenceMs: number,
): Promise<Item[]> =>
  new Promise((resolve, reject) => {
    const items: Item[] = [];
    const settle = (): void => {
      timer.end();
      open.gone.removeEventListener('abort', onGone);
    };
    const giveUp = (error: Error): void => {
      settle();
      reject(error);
      stream.cancel().catch(() => undefined);
    };
    const onGone = (): void => giveUp(new ConnectionReplaced());
    const timer = new SilenceTimer(silenceMs, giveUp);
    open.gone.addEventListener('abort', onGone, { once: true });
    stream.on('data', (item: Item) => {
      items.push(item);
      open.heard();
      timer.refresh();
    });
    // Never removed: an error after the end would otherwise be unhandled.
    stream.on('error', (error: Error) => {
      settle();
      reject(error);
    });
    stream.on('end', () => {
      settle();
      resolve(items);
    });
  });
