import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { Files } from './files.fixture.js';
import { describeMoreLargestAgents } from './largest-agents.suite.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const CAP = 104_857_600;

const folder = temporaryFolder();
let stack: StandaloneStack;
const running = (): StandaloneStack => stack;

beforeAll(async () => {
  stack = await startStandaloneStack(folder.path);
});

afterAll(async () => {
  await stack.stop();
  folder.remove();
});

describeMoreLargestAgents(running);

describe('the limit of 100 MB', () => {
  let files: Files;

  beforeAll(async () => {
    const { id } = await new Api(running).runningAgent({ templateId: 'blank' });
    files = new Files(running, id);
  });

  it('permits exactly this many bytes to be uploaded and downloaded unchanged; one more is refused and leaves nothing', async () => {
    const bytes = randomBytes(CAP + 1);
    const most = bytes.subarray(1);
    const whole = await files.upload(most, { name: 'whole', dest_dir: 'cap' });
    expect([whole.status, whole.body]).toMatchObject([200, { size: CAP }]);
    expect((await files.download('cap/whole')).bytes.equals(most)).toBe(true);
    const more = await files.upload(bytes, { name: 'more', dest_dir: 'cap' });
    expect([more.status, more.body['detail']]).toMatchObject([
      413,
      { code: 'payload_too_large', limitBytes: CAP },
    ]);
    expect((await files.list('cap')).body.entries.map(({ name }) => name)).toEqual(['whole']);
  });

  it('counts written text after decoding', async () => {
    const escaped = `${'\\u0078'.repeat(1_000)}${'x'.repeat(CAP - 1_000)}`;
    const write = (path: string, content: string) =>
      files.raw('PUT', 'write', `{"path":"${path}","content":"${content}"}`, {
        'content-type': 'application/json',
      });
    const whole = await write('text', escaped);
    expect([whole.status, whole.body]).toMatchObject([200, { size: CAP }]);
    const more = await write('more', `${escaped}x`);
    expect([more.status, more.body['detail']]).toMatchObject([413, { code: 'payload_too_large' }]);
    expect((await files.list('more')).status).toBe(404);
  });
});
