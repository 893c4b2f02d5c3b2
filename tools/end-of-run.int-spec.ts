import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { countsOf, EXIT_DID_NOT_END } from './test-counts.mjs';

const ROOT = join(import.meta.dirname, '..');

/** Runs a spec as `npm test` does, with the global setup of the suite. */
const runSpec = async (spec: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-run-end-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const outputFile = join(folder, 'report.json');
  const reporters = [[join(ROOT, 'tools/end-of-run.reporter.mjs'), { endsWithinMs: 500, outputFile }]];
  const globalSetup = join(ROOT, 'libs/platform/testing/dist/shared-infra/global-setup.entry.js');
  const config = { test: { include: ['*.spec.ts'], pool: 'forks', globalSetup, reporters } };
  writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)};`);
  writeFileSync(join(folder, 'one.spec.ts'), spec);
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [vitest, 'run'], { cwd: folder }, (error, _stdout, text) => {
      resolve({ code: error?.code, stderr: text });
    });
  });
  return { folder, code, stderr, report: JSON.parse(readFileSync(outputFile, 'utf8')) as object };
};

it('a run whose tests leave a process running ends, fails, names the process, and reports its tests', async () => {
  const { folder, code, stderr, report } = await runSpec(`import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
it('leaves a process', () => {
  writeFileSync('pid', String(spawn('sleep', ['613'], { stdio: 'inherit', detached: true }).pid));
});`);
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  process.kill(pid);
  expect(stderr).toContain(`Processes of the tests:\n  ${String(pid)} sleep 613 \n`);
  expect(code).toBe(EXIT_DID_NOT_END);
  expect(countsOf(report, EXIT_DID_NOT_END, false)).toEqual({ passed: 1, failed: 1, notRun: 0 });
});

it('a run with an error outside of its tests reports it beside a failed test', async () => {
  const { code, report } = await runSpec(`import { it } from 'vitest';
it('fails', async () => {
  void Promise.reject(new Error('nobody waits for this'));
  await new Promise(setImmediate);
  throw new Error('the test');
});`);
  expect(code).toBe(1);
  expect(countsOf(report, 1, false)).toEqual({ passed: 0, failed: 2, notRun: 0 });
});
