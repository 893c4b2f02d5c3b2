import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEventStoreServer, type EventStoreServer } from '@berth/embedded';
import { freePort } from '@berth/testing';

/** A test's own event log on a fixed port, which can be replaced by an empty one or by its backup. */
export class OwnLog {
  #server: EventStoreServer | undefined;
  #logs = 0;

  private constructor(
    private readonly folder: string,
    private readonly port: number,
  ) {}

  static async start(): Promise<OwnLog> {
    const log = new OwnLog(await mkdtemp(join(tmpdir(), 'berth-own-log-')), await freePort());
    await log.resume();
    return log;
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  async backUp(): Promise<void> {
    await this.pause();
    await cp(this.#path, join(this.folder, 'backup'), { recursive: true });
    await this.resume();
  }

  async restore(): Promise<void> {
    await this.pause();
    await rm(this.#path, { recursive: true });
    await cp(join(this.folder, 'backup'), this.#path, { recursive: true });
    await this.resume();
  }

  async replace(): Promise<void> {
    await this.pause();
    this.#logs++;
    await this.resume();
  }

  async stop(): Promise<void> {
    await this.pause();
    await rm(this.folder, { recursive: true });
  }

  async resume(): Promise<void> {
    this.#server = await startEventStoreServer({ file: join(this.#path, 'events.db'), port: this.port });
  }

  async pause(): Promise<void> {
    await this.#server?.close();
    this.#server = undefined;
  }

  get #path(): string {
    return join(this.folder, `log${this.#logs}`);
  }
}
