import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const TOOLS = import.meta.dirname;
const READY = 'const { folder, groups } = temporaryRun("berth-temporary-"); say([folder, ...groups]);';
const IN_NODE = `${READY} setInterval(() => undefined, 1000);`;
const IN_COMMAND = `${READY} await runChild("sleep", ["1000"]);`;

// Only root can make the groups.
it.each(
  process.getuid?.() === 0
    ? [
        ['SIGTERM', IN_NODE],
        ['SIGTERM', IN_COMMAND],
        ['SIGHUP', IN_NODE],
      ]
    : [],
)('a test run that ends by %s leaves neither its folder nor its control groups', async (signal, body) => {
  const script = `
    const { temporaryRun } = await import(${JSON.stringify(join(TOOLS, 'containers', 'temporary-run.mjs'))});
    const { runChild } = await import(${JSON.stringify(join(TOOLS, 'run-child.mjs'))});
    const say = (made) => console.log(JSON.stringify(made));
    ${body}`;
  const run = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(run, 'exit');
  const [printed] = (await once(run.stdout, 'data')) as [Buffer];
  const made = JSON.parse(printed.toString()) as string[];
  expect(made.filter((path) => existsSync(path))).toEqual(made);
  run.kill(signal as NodeJS.Signals);
  await exited;
  expect(made.filter((path) => existsSync(path))).toEqual([]);
});
