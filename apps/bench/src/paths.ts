import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The whole product in one program, bundled as `npm start` runs it if the bench was started so. */
export const STANDALONE_MAIN = createRequire(import.meta.url).resolve('@berth/standalone/main');

/** The fake provider of models as a program. */
export const UPSTREAM_MAIN = join(
  dirname(createRequire(import.meta.url).resolve('@berth/testing/upstream')),
  'upstream.main.js',
);

/** The program inside an agent of the template `echo`. */
export const ECHO_AGENT = fileURLToPath(new URL('../../../infra/templates/echo/agent.mjs', import.meta.url));

export const NATS_HANDLERS = fileURLToPath(new URL('./nats/nats-handlers.entry.js', import.meta.url));

export const BARE_FASTIFY = fileURLToPath(new URL('./programs/bare-fastify.entry.js', import.meta.url));

export const BARE_WEBHOOK = fileURLToPath(new URL('./programs/bare-webhook.entry.js', import.meta.url));

export const BARE_FILES_SERVER = fileURLToPath(
  new URL('../dist/peers/bare-files-server.entry.js', import.meta.url),
);
