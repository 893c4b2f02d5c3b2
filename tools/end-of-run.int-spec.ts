import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { countsOf, EXIT_DID_NOT_END } from './test-counts.mjs';

const ROOT = join(import.meta.dirname, '..');

it('a run whose tests leave a process running ends, fails, names the process, and reports its tests', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-run-end-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const report = join(folder, 'report.json');
  const reporters = [
    [join(ROOT, 'tools/end-of-run.reporter.mjs'), { endsWithinMs: 500, outputFile: report }],
  ];
  const config = { test: { include: ['*.spec.ts'], pool: 'forks', reporters } };
  writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)};`);
  writeFileSync(
    join(folder, 'left.spec.ts'),
    `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { it } from 'vitest';
it('leaves a process', () => {
  writeFileSync('pid', String(spawn('sleep', ['613'], { stdio: 'inherit', detached: true }).pid));
});`,
  );
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [vitest, 'run'], { cwd: folder }, (error, _stdout, text) => {
      resolve({ code: error?.code, stderr: text });
    });
  });
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  process.kill(pid);
  expect(stderr).toContain(`Processes of the tests:\n  ${String(pid)} sleep 613 \n`);
  expect(code).toBe(EXIT_DID_NOT_END);
  const counts = countsOf(JSON.parse(readFileSync(report, 'utf8')) as object, EXIT_DID_NOT_END, false);
  expect(counts).toEqual({ passed: 1, failed: 1, notRun: 0 });
});
