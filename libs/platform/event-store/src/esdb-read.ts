import type { StreamingRead } from '@eventstore/db-client';
import { logUnavailable } from './esdb-errors.js';

/** Everything the read delivers. The client sets no deadline: a server that is silent for `silenceMs` has failed. */
export const collect = <Item>(stream: StreamingRead<Item>, silenceMs = 4_000): Promise<Item[]> =>
  new Promise((resolve, reject) => {
    const items: Item[] = [];
    const timer = setTimeout(() => {
      reject(logUnavailable(new Error('The event log did not answer.')));
      stream.cancel().catch(() => undefined);
    }, silenceMs);
    stream.on('data', (item: Item) => {
      items.push(item);
      timer.refresh();
    });
    // Stays on for good: an error after the end has nobody else to hear it.
    stream.on('error', (error: Error) => {
      clearTimeout(timer);
      reject(error);
    });
    stream.on('end', () => {
      clearTimeout(timer);
      resolve(items);
    });
  });
