import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Database } from '@berth/persistence';

/** The files below the folder that contain the text, by their raw bytes. */
export const filesWith = (folder: string, text: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readIfThere(path).includes(text));

const readIfThere = (path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    // Removed since it was listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
};

/** The tables of all services with a row that contains the text. */
export const tablesWith = async (database: Database, text: string): Promise<readonly string[]> => {
  const tables = await database.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query(`SELECT 1 FROM ${name} one WHERE strpos(one::text, $1) > 0 LIMIT 1`, [
      text,
    ]);
    if (rows.length > 0) found.push(name);
  }
  return found;
};

/** Receives the traces of a stack. */
export class TraceCollector {
  #received = '';

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      request.on('data', (chunk: Buffer) => (this.#received += chunk.toString('latin1')));
      request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
    });
  }

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Everything that has been received. */
  get received(): string {
    return this.#received;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
