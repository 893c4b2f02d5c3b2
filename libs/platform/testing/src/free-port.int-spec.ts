import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';

const COUNT = 400;

/** The ports that a process of its own picks; it keeps them until the test ends. */
const pickedByAnother = async (): Promise<readonly number[]> => {
  const program = `
    const { freePort } = await import(${JSON.stringify(new URL('free-port.ts', import.meta.url).href)});
    const ports = [];
    while (ports.length < ${COUNT}) ports.push(await freePort());
    console.log(JSON.stringify(ports));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  let printed = '';
  while (!printed.endsWith('\n')) printed += String((await once(child.stdout, 'data'))[0]);
  return JSON.parse(printed) as number[];
};

it('gives each port to one process, and none that the system assigns to connections', async () => {
  const ports = [...(await pickedByAnother()), ...(await pickedByAnother())];
  expect(ports).toHaveLength(2 * COUNT);
  expect(new Set(ports).size).toBe(2 * COUNT);
  const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/);
  expect(Math.max(...ports)).toBeLessThan(Number(range[0]));
});
