import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeUpstream, UPSTREAM_KEY } from '@berth/testing/upstream';
import { afterAll, beforeAll } from 'vitest';
import { describeLlmRoute, KEY_VARIABLE, llmFile } from './llm.suite.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const folder = temporaryFolder();
let upstream: FakeUpstream;
let stack: StandaloneStack;

beforeAll(async () => {
  upstream = await FakeUpstream.start();
  const file = join(folder.path, 'operator.yaml');
  writeFileSync(file, llmFile(upstream));
  stack = await startStandaloneStack(folder.path, { BERTH_CONFIG: file, [KEY_VARIABLE]: UPSTREAM_KEY });
});
afterAll(async () => {
  await stack.stop();
  await upstream.stop();
  folder.remove();
});

describeLlmRoute(() => stack);
