#!/usr/bin/env node
import { readConfig } from './config.js';
import { startEventStoreServer } from './server.js';

/*
 * The embedded event store as a process of its own. Prints one line `{"port":n}` on stdout when it is ready.
 * SIGTERM and SIGINT end it cleanly; with --exit-with-parent the end of stdin does too, which also comes when the
 * parent was killed and could tell nobody.
 */
async function main(): Promise<void> {
  const config = readConfig();
  const server = await startEventStoreServer(config);
  const stop = (): void => {
    server.close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  if (config.exitWithParent) process.stdin.resume().once('end', stop).once('error', stop).once('close', stop);
  // The parent may be gone already; a broken pipe must not end the server another way than above.
  process.stdout.on('error', () => undefined);
  process.stdout.write(`${JSON.stringify({ port: server.port })}\n`);
}

function fail(error: unknown): void {
  process.stderr.write(`event store: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

main().catch(fail);
