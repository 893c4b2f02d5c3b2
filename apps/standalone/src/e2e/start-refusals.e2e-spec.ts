import { startEmbedded, type EmbeddedInfrastructure } from '@berth/embedded';
import { createLogger } from '@berth/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { processesOf } from './processes.fixture.js';
import { Program, readKey, temporaryFolder, TEST_TEMPLATES } from './stack.fixture.js';

let folder: ReturnType<typeof temporaryFolder>;
let elsewhere: ReturnType<typeof temporaryFolder>;
const programs: Program[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  elsewhere = temporaryFolder();
});

afterEach(async () => {
  // A test that failed halfway leaves its programs running.
  await Promise.all(programs.splice(0).map((program) => program.end('SIGTERM')));
  expect(processesOf(folder.path)).toEqual([]);
  folder.remove();
  elsewhere.remove();
});

const environment = (more: Record<string, string>): Record<string, string> => ({
  PORT: '0',
  BERTH_DATA: folder.path,
  BERTH_TEMPLATES_DIR: TEST_TEMPLATES,
  ...more,
});

const start = (more: Record<string, string> = {}): Program => {
  const program = Program.start('standalone', environment(more));
  programs.push(program);
  return program;
};

/** A separate event log that keeps its address when it is restarted. */
const startLog = (): Promise<EmbeddedInfrastructure> =>
  startEmbedded({
    dataDir: elsewhere.path,
    natsUrl: 'nats://unused',
    databaseUrl: 'postgres://unused',
    log: createLogger({ service: 'embedded', level: 'warn' }),
  });

describe('a mistake in the URL of a backing service', () => {
  it.each([
    ['EVENTSTORE_URL', 'esdb://admin:hunter2@localhost:seven'],
    ['NATS_URL', 'nats://berth:hunter2@localhost:422222'],
    ['DATABASE_URL', 'postgres://berth:hunter2@localhost:0/berth'],
  ])('%s: exits 78 with one line that names the variable, not its value', async (name, url) => {
    const program = start({ [name]: url });
    expect(await program.exited).toBe(78);
    expect(program.printed.trim().split('\n')).toHaveLength(1);
    expect(program.printed).toContain(`Bad configuration: ${name} must have a port from 1 to 65535.`);
    expect(program.printed).not.toContain('hunter2');
  });
});

describe('an unreachable backing service', () => {
  it('is awaited, naming its variable, its address and the reason, and used once it is available', async () => {
    const first = await startLog();
    const { eventStoreUrl } = first;
    const port = first.parts.eventStore?.port ?? 0;
    await first.stop();
    const program = start({ EVENTSTORE_URL: eventStoreUrl });
    await program.untilPrinted(
      new RegExp(`Waiting for the event log at [^ ]*:${port} \\(EVENTSTORE_URL\\): .*ECONNREFUSED`),
      90_000,
    );
    const second = await startLog();
    try {
      const [, url = ''] = await program.untilPrinted(/Berth is ready at (http:\/\/\S+)/);
      const stack = {
        urls: [url],
        key: readKey(folder.path),
        dataDir: folder.path,
        stop: async () => undefined,
      };
      await new Api(() => stack).runningAgent();
      expect(program.printed).not.toMatch(/\n\s+at .*:\d+:\d+/);
    } finally {
      await program.end('SIGTERM');
      await second.stop();
    }
  });

  it('does not keep the process from ending on SIGTERM', async () => {
    const program = start({ NATS_URL: 'nats://127.0.0.1:1' });
    await program.untilPrinted(/Waiting for the message broker at 127\.0\.0\.1:1 \(NATS_URL\)/, 30_000);
    const begun = Date.now();
    expect(await program.end('SIGTERM')).toBe(0);
    expect(Date.now() - begun).toBeLessThan(10_000);
  });
});
