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

/** A part of the infrastructure that a test may ask for. */
export type InfraPart = 'nats' | 'eventStore' | 'postgres';

/** Real servers for one test file. Asking for a part that was not requested throws. */
export interface TestInfra {
  /** With a user who may do everything. */
  readonly natsUrl: string;
  /** With the user of that service, who may do what its code needs. */
  natsUrlOf(service: ServiceName): string;
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  /** The process behind a part: its port, its pid, and how to kill it (it comes back on the same port). */
  part(name: InfraPart): EmbeddedPart;
  /** Stops the servers and removes their data. */
  stop(): Promise<void>;
}

/** Never connected to: stands for a part that is not wanted. */
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
    if (part === undefined) throw new Error(`This test did not ask for ${name}.`);
    return part;
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await this.removeData();
  }
}

const wanted = (name: InfraPart, url: string): string => {
  if (url === UNWANTED) throw new Error(`This test did not ask for ${name}.`);
  return url;
};
