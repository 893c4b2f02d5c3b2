import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startEmbedded,
  type EmbeddedInfrastructure,
  type EmbeddedLog,
  type EmbeddedPart,
  type ServiceName,
} from '@berth/embedded';
import { provideCluster } from './shared-infra/database-template.js';
import { lease, RUN_FOLDER_VARIABLE, type SharedPart } from './shared-infra/lease.js';

/** A backing service that a test can request. */
export type InfraPart = 'nats' | SharedPart;

/** Real servers for one test file. Accessing a part that was not requested throws. */
export interface TestInfra {
  /** With the user that has all permissions. */
  readonly natsUrl: string;
  /** With the user of that service, which has only the permissions that its code needs. */
  natsUrlOf(service: ServiceName): string;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  /** The port of a part, for a proxy in front of it. */
  portOf(part: InfraPart): number;
  /**
   * The process of a part: its pid, and how to kill it (it is restarted on the same port). Throws for a part that is
   * shared: request that one as `own`.
   */
  part(name: InfraPart): EmbeddedPart;
  /** Stops or returns the servers and removes their data. */
  stop(): Promise<void>;
}

/** Which servers a test needs. */
export interface TestInfraOptions {
  readonly parts: readonly InfraPart[];
  /** The parts whose process the test kills or freezes. The broker is always the test's own. */
  readonly own?: readonly InfraPart[];
  readonly log?: EmbeddedLog;
}

/** Placeholder URL of a part that was not requested; nothing connects to it. */
const UNWANTED = 'unwanted://';

const quiet: EmbeddedLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Provides the parts with empty storage. In a test run, an event log and a database are leased from servers that the
 * run shares, which takes milliseconds; parts in `own`, the broker, and all parts outside of a run are processes of
 * this test. The storage never contains anything of another test. Rejects when a server does not start, and when a
 * shared one ended earlier in the run.
 */
export const startTestInfra = async (options: TestInfraOptions): Promise<TestInfra> => {
  const runFolder = process.env[RUN_FOLDER_VARIABLE];
  const shared = runFolder === undefined ? [] : sharedOf(options);
  const leased = runFolder === undefined || shared.length === 0 ? undefined : await lease(runFolder, shared);
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-test-'));
  const cleanUp = async (): Promise<void> => {
    await rm(dataDir, { recursive: true, force: true });
    await leased?.release();
  };
  const given = (part: SharedPart): string | undefined =>
    options.parts.includes(part) ? leased?.urls[part] : UNWANTED;
  try {
    if (options.parts.includes('postgres') && !shared.includes('postgres')) await provideCluster(dataDir);
    const running = await startEmbedded({
      dataDir,
      natsUrl: options.parts.includes('nats') ? undefined : UNWANTED,
      eventStoreUrl: given('eventStore'),
      databaseUrl: given('postgres'),
      log: options.log ?? quiet,
    });
    return new RunningInfra(running, cleanUp);
  } catch (error) {
    await cleanUp();
    throw error;
  }
};

const sharedOf = ({ parts, own = [] }: TestInfraOptions): readonly SharedPart[] =>
  parts.filter((part) => part !== 'nats').filter((part) => !own.includes(part));

class RunningInfra implements TestInfra {
  constructor(
    private readonly running: EmbeddedInfrastructure,
    private readonly cleanUp: () => Promise<void>,
  ) {}

  get natsUrl(): string {
    return wanted('nats', this.running.natsUrl);
  }

  natsUrlOf(service: ServiceName): string {
    return wanted('nats', this.running.natsUrlOf(service));
  }

  get eventStoreUrl(): string {
    return wanted('eventStore', this.running.eventStoreUrl);
  }

  get databaseUrl(): string {
    return wanted('postgres', this.running.databaseUrl);
  }

  portOf(part: InfraPart): number {
    const urls = { nats: 'natsUrl', eventStore: 'eventStoreUrl', postgres: 'databaseUrl' } as const;
    return Number(new URL(this[urls[part]]).port);
  }

  part(name: InfraPart): EmbeddedPart {
    const part = this.running.parts[name];
    if (part === undefined)
      throw new Error(`This test has no separate ${name}: request it with own: ['${name}'].`);
    return part;
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await this.cleanUp();
  }
}

const wanted = (name: InfraPart, url: string): string => {
  if (url === UNWANTED) throw new Error(`This test did not request ${name}.`);
  return url;
};
