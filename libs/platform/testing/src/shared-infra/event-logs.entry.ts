import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEventStoreServer, type EventStoreServer } from '@berth/embedded';

/*
 * Runs embedded event stores for the tests, one at a time: `open` starts one on an empty log and replies with its port,
 * `close` ends it and removes the log. Ends with its parent.
 */
const [folder = '.'] = process.argv.slice(2);
let opened = 0;
let server: EventStoreServer | undefined;

const open = async (): Promise<number> => {
  server = await startEventStoreServer({ file: join(folder, `${++opened}`, 'events.db'), port: 0 });
  return server.port;
};

const close = async (): Promise<number> => {
  await server?.close();
  await rm(join(folder, `${opened}`), { recursive: true, force: true });
  return 0;
};

process.on('message', (order: 'open' | 'close') => {
  void (order === 'open' ? open() : close()).then((reply) => process.send?.(reply));
});
process.once('disconnect', () => process.exit(0));
