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

/** A backing service that a test can request. */
export type InfraPart = 'nats' | 'eventStore' | 'postgres';

/** Real servers for one test file. Accessing a part that was not requested throws. */
export interface TestInfra {
  /** With the user that has all permissions. */
  readonly natsUrl: string;
  /** With the user of that service, which has only the permissions that its code needs. */
  natsUrlOf(service: ServiceName): string;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  /** The process of a part: its port, its pid, and how to kill it (it is restarted on the same port). */
  part(name: InfraPart): EmbeddedPart;
  /** Stops the servers and removes their data. */
  stop(): Promise<void>;
}

/** Placeholder URL of a part that was not requested; nothing connects to it. */
const UNWANTED = 'unwanted://';

const quiet: EmbeddedLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Starts the parts with a fresh data folder under the system's temporary folder. Takes about two seconds. */
export const startTestInfra = async (options: {
  readonly parts: readonly InfraPart[];
  readonly log?: EmbeddedLog;
}): Promise<TestInfra> => {
  const wants = (part: InfraPart): undefined | string =>
    options.parts.includes(part) ? undefined : UNWANTED;
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-test-'));
  const removeData = (): Promise<void> => rm(dataDir, { recursive: true, force: true });
  let running: EmbeddedInfrastructure;
  try {
    running = await startEmbedded({
      dataDir,
      natsUrl: wants('nats'),
      eventStoreUrl: wants('eventStore'),
      databaseUrl: wants('postgres'),
      log: options.log ?? quiet,
    });
  } catch (error) {
    await removeData();
    throw error;
  }
  return new RunningInfra(running, removeData);
};

class RunningInfra implements TestInfra {
  constructor(
    private readonly running: EmbeddedInfrastructure,
    private readonly removeData: () => Promise<void>,
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

  part(name: InfraPart): EmbeddedPart {
    const part = this.running.parts[name];
    if (part === undefined) throw new Error(`This test did not request ${name}.`);
    return part;
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await this.removeData();
  }
}

const wanted = (name: InfraPart, url: string): string => {
  if (url === UNWANTED) throw new Error(`This test did not request ${name}.`);
  return url;
};
