import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';

// A Fastify server with one fixed response: the file named by the first argument, `{body, headers}`.
interface Response {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const { body, headers } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Response;
const server = fastify({ logger: false });
server.get('/api/agents/:agent_id', (_request, reply) => reply.headers(headers).send(body));
const url = await server.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', () => process.exit(0));
process.stdout.write(`listening at ${url}\n`);
