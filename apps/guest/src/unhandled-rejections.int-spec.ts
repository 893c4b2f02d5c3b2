import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const PROGRAM = `
  import { setTimeout as delay } from 'node:timers/promises';
  import { surviveRejections } from './unhandled-rejections.ts';
  surviveRejections(process.stdout);
  for (let i = 0; i < 1_000; i++) Promise.reject(new Error('by the input of an agent'));
  await delay(0);
  console.log('alive');
`;

it('a guest survives failures that nothing handles, and prints some of them', async () => {
  const args = ['--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  expect(stdout.match(/by the input of an agent/g)?.length).toBe(100);
  expect(stdout).toMatch(/alive\n$/);
});
