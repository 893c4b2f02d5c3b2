import 'reflect-metadata';
import { NatsLink, startService } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { EchoModule } from './echo.nats-controller.js';
import { BARE_SUBJECT, ECHO_REQUEST, replyTo } from './echo.request.js';

// The handlers of both sides: one of our Nest controllers and a bare subscription, on one connection in a separate
// process.
const log = createLogger({ service: 'bench-handlers', level: 'warn' });
const link = await NatsLink.open({ url: process.argv[2] ?? '', name: 'bench-handlers', log });
await startService({ name: 'bench', module: EchoModule, link, log });
const bytes = Buffer.from(JSON.stringify(replyTo(ECHO_REQUEST)));
link.connection.subscribe(BARE_SUBJECT, {
  queue: 'bench',
  callback: (_error, message) => void message.respond(bytes),
});
await link.connection.flush();
process.once('disconnect', () => process.exit(0));
process.stdout.write('the handlers listen\n');
