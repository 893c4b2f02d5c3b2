#!/usr/bin/env node
import { inspect } from 'node:util';
import { readConfig } from './config.js';
import { startEventStoreServer } from './server.js';

/*
 * Runs the embedded event store as a separate process. Prints one line `{"port":n}` on stdout when it is ready.
 * SIGTERM and SIGINT end it cleanly. With --exit-with-parent the end of stdin does too, which also happens when the
 * parent is killed.
 */
async function main(): Promise<void> {
  const config = readConfig();
  const server = await startEventStoreServer(config);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    server.close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  if (config.exitWithParent) process.stdin.resume().once('end', stop).once('error', stop).once('close', stop);
  // The parent may already be gone; a broken pipe must not end the server in any other way.
  process.stdout.on('error', () => undefined);
  process.stdout.write(`${JSON.stringify({ port: server.port })}\n`);
}

function fail(error: unknown): void {
  process.stderr.write(`event store: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

// A request must not end the log of all others.
process.on('unhandledRejection', (reason) => {
  process.stderr.write(`event store: nothing handled a failure: ${inspect(reason)}\n`);
});
main().catch(fail);
