import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@berth/telemetry';
import { BerthNatsServer } from '../berth-nats-server.js';
import { NatsLink } from '../nats-link.js';
import { Requester } from '../requester.js';
import { passOnRequests } from './pass-on-requests.fixture.js';

// A service in a separate process, for tests that kill or freeze it: `node waiting-process.fixture.js <NATS_URL>`.
const log = createLogger({ service: 'waiting', level: 'silent' });
const link = await NatsLink.open({ url: process.argv[2] ?? '', name: 'waiting', log });
const requester = new Requester(link);
const server = new BerthNatsServer({ link, queue: 'echo', log });
server.addHandler('cmd.echo.wait.v1', async ({ ms }: { ms: number }) => {
  process.stdout.write('handling\n');
  await sleep(ms);
  return 'waited';
});
server.addHandler(passOnRequests.passOn.subject, async () => {
  await requester.request(passOnRequests.gate, null);
  await requester.request(passOnRequests.begin, null);
  return 'passed on';
});
await server.listen((error) => process.stdout.write(error === undefined ? 'listening\n' : 'failed\n'));
