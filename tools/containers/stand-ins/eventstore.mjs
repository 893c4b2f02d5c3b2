import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

// Puts the embedded event store, which listens on loopback only, in EventStoreDB's place: the same port on every address,
// and its health check.
const PORT = 2113;
const OWN_PORT = 2114;
const HEALTHY = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n';

const store = spawn(
  process.execPath,
  [
    '/opt/eventstore/event-store.mjs',
    '--file=/var/lib/eventstore/events.db',
    `--port=${OWN_PORT}`,
    '--exit-with-parent',
  ],
  { stdio: ['pipe', 'pipe', 'inherit'] },
);
store.once('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => store.kill(signal));
store.stdout.once('data', () => createServer(serve).listen(PORT, '0.0.0.0'));

function serve(socket) {
  socket.on('error', () => socket.destroy());
  socket.once('data', (first) => {
    // gRPC starts with the preface of HTTP/2, `PRI`.
    if (first.toString('latin1').startsWith('GET /health/live ')) return void socket.end(HEALTHY);
    const log = connect(OWN_PORT, '127.0.0.1');
    log.on('error', () => socket.destroy());
    socket.on('error', () => log.destroy());
    log.on('close', () => socket.destroy());
    socket.on('close', () => log.destroy());
    log.write(first);
    socket.pipe(log).pipe(socket);
  });
}
