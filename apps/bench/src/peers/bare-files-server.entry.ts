import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import multipart from '@fastify/multipart';
import { fastify } from 'fastify';

// A Fastify server that stores, returns and lists files in the folder given as its first argument, without any checks:
// the limit of disk and libraries. A path in a query is relative to that folder.
interface PathQuery {
  readonly path?: string;
}

const root = process.argv[2] ?? '';
await mkdir(root, { recursive: true });
const server = fastify({ logger: false });
await server.register(multipart, { limits: { fileSize: Number.POSITIVE_INFINITY } });

server.post('/files/upload', async (request, reply) => {
  const part = await request.file();
  if (part === undefined) return reply.code(422).send({ message: 'A multipart field "file" is required.' });
  const name = basename(part.filename);
  const target = createWriteStream(join(root, name));
  await pipeline(part.file, target);
  return { ok: true, path: join(root, name), name, size: target.bytesWritten };
});

server.get<{ Querystring: PathQuery }>('/files/download', async (request, reply) => {
  const file = join(root, request.query.path ?? '');
  const { size } = await stat(file);
  return reply
    .headers({ 'content-type': 'application/octet-stream', 'content-length': size })
    .send(createReadStream(file));
});

server.get<{ Querystring: PathQuery }>('/files/list', async (request) => {
  const folder = join(root, request.query.path ?? '');
  const entries = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const found = await stat(join(folder, name));
      const [isDir, mtime] = [found.isDirectory(), Math.floor(found.mtimeMs / 1000)];
      return { name, isDir, size: found.size, mtime };
    }),
  );
  return { path: folder, root, entries };
});

const url = await server.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', () => process.exit(0));
process.stdout.write(`listening at ${url}\n`);
