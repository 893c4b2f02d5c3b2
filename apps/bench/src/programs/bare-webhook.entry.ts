import { open } from 'node:fs/promises';
import { fastify } from 'fastify';

// A Fastify server that writes each body to the file named by the first argument, and flushes it before it responds.
const file = await open(process.argv[2] ?? '', 'a');
const server = fastify({ logger: false });
server.post('/api/webhooks/:agent_id', async (request, reply) => {
  await file.appendFile(`${JSON.stringify(request.body)}\n`);
  await file.datasync();
  return reply.code(202).send({ accepted: true, status: 'queued' });
});
const url = await server.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', () => process.exit(0));
process.stdout.write(`listening at ${url}\n`);
