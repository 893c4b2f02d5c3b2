import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { freePort } from '@berth/testing';
import { describe, expect, it } from 'vitest';

/** A service whose stop takes a moment, in a process with a library like those that end child processes at an exit. */
const PROGRAM = `
  import { setTimeout as delay } from 'node:timers/promises';
  import { runMain } from '@berth/service';
  const stop = async () => { await delay(300); process.stdout.write('stopped'); };
  await runMain({
    name: 'test', env: {}, readConfig: () => ({ logLevel: 'silent' }),
    start: async () => ({ name: 'test', stop }),
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2'])
    process.on(signal, function endIfAlone() {
      if (process.listeners(signal).length > 1) return;
      process.off(signal, endIfAlone);
      process.kill(process.pid, signal);
    });
  setInterval(() => undefined, 1_000);
  process.stdout.write('started ');
`;

/** A service that fails without a handler, and then prints what it counts. */
const FAILING = `
  import { detach } from '@berth/kernel';
  import { setTimeout as delay } from 'node:timers/promises';
  import { runMain } from '@berth/service';
  const metricsPort = Number(process.env.PORT);
  await runMain({
    name: 'test', env: {}, readConfig: () => ({ logLevel: 'info', metricsPort }),
    start: async () => ({ name: 'test', stop: async () => undefined }),
  });
  Promise.reject(new Error('by the input of an agent'));
  detach(Promise.reject(new Error('by detached work')));
  await delay(0);
  console.log(await (await fetch('http://127.0.0.1:' + metricsPort + '/metrics')).text());
  process.kill(process.pid, 'SIGTERM');
`;

const startProgram = async () => {
  const args = ['--input-type=module', '--eval', PROGRAM];
  const child = spawn(process.execPath, args, {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'readable');
  return { child, ended: async () => [await text(child.stdout), ...(await exited)] };
};

describe('the process of a service', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGUSR2'] as const)(
    'stops the service at %s although a library ends processes that do not listen for it',
    async (signal) => {
      const { child, ended } = await startProgram();
      child.kill(signal);
      expect(await ended()).toEqual(['started stopped', 0, null]);
    },
  );

  it('survives a failure that nothing handles, and logs and counts it', async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', FAILING],
      { cwd: import.meta.dirname, env: { ...process.env, PORT: String(await freePort()) }, timeout: 20_000 },
    );
    expect(stdout).toContain('by the input of an agent');
    expect(stdout).toContain('by detached work');
    expect(stdout).toContain('berth_unhandled_rejections_total 2');
  });

  it('goes on stopping the service at further signals', async () => {
    const { child, ended } = await startProgram();
    for (const signal of ['SIGTERM', 'SIGTERM', 'SIGINT', 'SIGUSR2'] as const) child.kill(signal);
    expect(await ended()).toEqual(['started stopped', 0, null]);
  });
});
