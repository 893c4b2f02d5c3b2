import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import type { ServiceName } from '@berth/embedded';
import { freePort } from '@berth/testing';
import type { FakeUpstream } from '@berth/testing/upstream';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { provideModels } from './llm.fixture.js';
import { urlsOfParts } from './parts.fixture.js';
import { describeState, endInOrder, healthy, SHIPPED_TEMPLATES } from './separate-processes.fixture.js';
import {
  startStandaloneStack,
  TEST_TEMPLATES,
  temporaryFolder,
  Program,
  type StandaloneStack,
} from './stack.fixture.js';

/** Services that run a second time. */
const SECOND = ['gateway', 'agents', 'exec', 'schedules'] as const satisfies readonly ServiceName[];

/** An installation whose program has every service, beside second instances of `SECOND` in programs of their own. */
export interface PairedStack extends StandaloneStack {
  /** All of its programs, by name; that with every service is `standalone`. */
  readonly programs: ReadonlyMap<string, Program>;
}

const startPairedStack = async (dataDir: string, more: Env): Promise<PairedStack> => {
  const first = await startStandaloneStack(dataDir, more);
  const { natsUrlOf, ...parts } = urlsOfParts(dataDir);
  const port = String(await freePort());
  const env: Env = {
    BERTH_DATA: dataDir,
    BERTH_SECRET_KEY: readFileSync(join(dataDir, 'secret-key'), 'utf8').trim(),
    BERTH_SHIPPED_TEMPLATES_DIR: SHIPPED_TEMPLATES,
    BERTH_TEMPLATES_DIR: TEST_TEMPLATES,
    BERTH_WARM_SLEEP_SECONDS: '3',
    BERTH_LOG_LEVEL: 'warn',
    EVENTSTORE_URL: parts.eventStoreUrl,
    DATABASE_URL: parts.databaseUrl,
    PORT: port,
    ...more,
  };
  const second = new Map<string, Program>(
    SECOND.map((name) => [name, Program.start(name, { ...env, NATS_URL: natsUrlOf(name) })]),
  );
  const standalone = new Map([['standalone', first.program]]);
  const programs = new Map([...standalone, ...second]);
  const url = `http://127.0.0.1:${port}`;
  const stop = (): Promise<void> => endInOrder(second).finally(() => endInOrder(standalone));
  try {
    await healthy(url, programs);
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
  return { ...first, urls: [...first.urls, url], programs, stop };
};

/** An installation that the tests of a file share. */
export interface PairedInstallation {
  readonly stack: () => PairedStack;
  /** The upstream of its models. */
  readonly upstream: () => FakeUpstream;
}

/** Registers the start and the end of an installation with the hooks of the file. */
export const pairedInstallation = (more: Env = {}): PairedInstallation => {
  const folder = temporaryFolder();
  let stack: PairedStack | undefined;
  let upstream: FakeUpstream | undefined;

  beforeAll(async () => {
    const models = await provideModels(folder.path);
    upstream = models.upstream;
    stack = await startPairedStack(folder.path, { ...models.env, ...more });
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail' && stack !== undefined)
      process.stderr.write(`${task.name}\n${await describeState(stack)}\n`);
  });
  afterAll(async () => {
    try {
      await stack?.stop();
    } finally {
      await upstream?.stop();
      folder.remove();
    }
  });

  return { stack: () => started(stack), upstream: () => started(upstream) };
};

const started = <T>(part: T | undefined): T => {
  if (part === undefined) throw new Error('The installation has not started.');
  return part;
};
