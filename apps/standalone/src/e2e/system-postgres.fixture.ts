import { execFile } from 'node:child_process';
import { chownSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@berth/testing';
import { temporaryFolder } from './stack.fixture.js';

const exec = promisify(execFile);
const USER = 'berth';
/** PostgreSQL does not run as root. */
const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };

const byVersion = (one: string, other: string): number =>
  one.localeCompare(other, undefined, { numeric: true });

/** A server of the operating system's PostgreSQL: unlike the embedded one it comes with `pg_dump` and `pg_restore`. */
export class SystemPostgres {
  private constructor(
    private readonly programs: string,
    private readonly folder: ReturnType<typeof temporaryFolder>,
    private readonly port: number,
  ) {}

  static async start(): Promise<SystemPostgres> {
    const programs = globSync('/usr/lib/postgresql/*/bin').sort(byVersion).at(-1);
    if (programs === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
    const folder = temporaryFolder();
    if (process.getuid?.() === 0) chownSync(folder.path, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
    const server = new SystemPostgres(programs, folder, await freePort());
    await server.run('initdb', ['--username', USER, '--auth', 'trust', '--no-sync', '--pgdata', server.data]);
    const options = `-p ${String(server.port)} -k ${folder.path} -c listen_addresses=127.0.0.1 -c fsync=off`;
    const log = join(folder.path, 'log');
    await server.run('pg_ctl', [
      'start',
      '--wait',
      '--pgdata',
      server.data,
      '--log',
      log,
      '--options',
      options,
    ]);
    return server;
  }

  /** Creates an empty database; returns its URL. */
  async create(name: string): Promise<string> {
    await exec(join(this.programs, 'createdb'), [`--maintenance-db=${this.urlOf('postgres')}`, name]);
    return this.urlOf(name);
  }

  urlOf(database: string): string {
    return `postgres://${USER}@127.0.0.1:${String(this.port)}/${database}`;
  }

  async stop(): Promise<void> {
    await this.run('pg_ctl', ['stop', '--wait', '--mode=immediate', '--pgdata', this.data]);
    this.folder.remove();
  }

  private get data(): string {
    return join(this.folder.path, 'data');
  }

  private run(program: string, args: readonly string[]): Promise<unknown> {
    const user = process.getuid?.() === 0 ? UNPRIVILEGED : {};
    return exec(join(this.programs, program), args, { cwd: this.folder.path, ...user });
  }
}
