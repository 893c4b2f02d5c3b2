import { fileURLToPath } from 'node:url';

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export const STANDALONE_MAIN = fileURLToPath(new URL('../../standalone/dist/main.js', import.meta.url));

/** The program inside an agent of the template `echo`. */
export const ECHO_AGENT = fileURLToPath(new URL('../../../infra/templates/echo/agent.mjs', import.meta.url));

export const NATS_HANDLERS = fileURLToPath(new URL('./nats/nats-handlers.entry.js', import.meta.url));

export const BARE_FASTIFY = fileURLToPath(new URL('./programs/bare-fastify.entry.js', import.meta.url));

export const BARE_FILES_SERVER = fileURLToPath(
  new URL('../dist/peers/bare-files-server.entry.js', import.meta.url),
);
