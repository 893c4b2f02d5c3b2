import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CUT_MARK, KEPT_CHARACTERS } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandGuest } from '../__fixtures__/executions.fixture.js';

const MIB = 1024 * 1024;

describe('a followed output', () => {
  let guest: CommandGuest;

  beforeAll(async () => {
    guest = await CommandGuest.open();
  });

  afterAll(() => guest.destroy());

  const go = (name: string): void => writeFileSync(join(guest.volume, name), '');

  it('begins with the retained output, continues with new output, and reports the end', async () => {
    const executionId = await guest.begin(
      `printf 'one \\303'; echo err >&2; echo > a; until [ -e b ]; do sleep 0.01; done; printf '\\244 two\\342'`,
      'a',
    );
    const early = await guest.follow(executionId);
    await eventually(() => early.text('stdout') === 'one ' && early.text('stderr') === 'err\n');
    const late = await guest.follow(executionId);
    go('b');
    for (const following of [early, late]) {
      await following.ended;
      expect(following.text('stdout')).toBe('one ä two\u{fffd}');
      expect(following.text('stderr')).toBe('err\n');
      expect(following.lines.at(-1)).toEqual({ stream: 'end' });
      expect(following.lines.filter(({ stream }) => stream === 'end')).toHaveLength(1);
    }
  });

  it('of a finished execution is its result', async () => {
    const { executionId, stdout } = await guest.run(`yes 𝄞ä | head -c 3000000; echo err >&2`);
    const following = await guest.follow(executionId);
    await following.ended;
    expect(following.text('stdout') === stdout).toBe(true);
    expect(following.text('stderr')).toBe('err\n');
    expect(following.lines.at(-1)).toEqual({ stream: 'end' });
  });

  it('of an execution that failed with its guest is the recorded output', async () => {
    const executionId = await guest.begin('echo partial; echo > c; sleep 1000', 'c');
    const following = await guest.follow(executionId);
    await guest.cancel(executionId);
    await following.ended;
    expect(following.text('stdout')).toBe('partial\n');
    expect(following.lines.at(-1)).toEqual({ stream: 'end' });
  });

  it('is complete for a fast reader, even with much output at once', async () => {
    const executionId = await guest.begin(
      `echo > d; until [ -e e ]; do sleep 0.01; done; seq 1 100000; echo > f; until [ -e g ]; do sleep 0.01; done; echo end`,
      'd',
    );
    const following = await guest.follow(executionId);
    go('e');
    const all = `${Array.from({ length: 100_000 }, (_, index) => index + 1).join('\n')}\n`;
    await eventually(() => following.text('stdout').length === all.length, { timeoutMs: 20_000 });
    go('g');
    await following.ended;
    expect(following.text('stdout') === `${all}end\n`).toBe(true);
  });

  it('skips output for a slow reader, marks the gap, and uses no additional memory', async () => {
    const executionId = await guest.begin(
      `echo start; echo > h; until [ -e i ]; do sleep 0.01; done; yes 0123456789abcde | head -c 300000000; echo end`,
      'h',
    );
    const followings = await Promise.all(Array.from({ length: 10 }, () => guest.follow(executionId)));
    await eventually(() => followings.every((following) => following.text('stdout') === 'start\n'));
    for (const following of followings) following.pause();
    const before = guest.residentBytes();
    go('i');
    expect((await guest.find(executionId, 30_000)).body['status']).toBe('completed');
    expect(guest.residentBytes() - before).toBeLessThan(48 * MIB);
    for (const following of followings) {
      following.resume();
      await following.ended;
      const text = following.text('stdout');
      expect(text.length).toBeLessThan(4 * MIB);
      expect(text.startsWith('start\n')).toBe(true);
      const afterLastCut = text.slice(text.lastIndexOf(CUT_MARK) + CUT_MARK.length);
      expect(afterLastCut.length).toBeGreaterThanOrEqual(KEPT_CHARACTERS);
      expect(afterLastCut.endsWith('0123456789abcde\nend\n')).toBe(true);
    }
  });

  it('ends when its reader disconnects, and the command continues', async () => {
    const executionId = await guest.begin('echo > j; until [ -e k ]; do sleep 0.01; done; echo end', 'j');
    const following = await guest.follow(executionId);
    following.leave();
    await following.ended;
    go('k');
    expect((await guest.find(executionId, 20_000)).body).toMatchObject({
      status: 'completed',
      stdout: 'end\n',
    });
  });

  it('of an unknown execution is rejected', async () => {
    const following = await guest.follow('exe_none');
    await following.ended;
    expect(JSON.stringify(following.lines)).not.toContain('stream');
  });
});

describe('a command with much output', () => {
  let guest: CommandGuest;

  beforeAll(async () => {
    guest = await CommandGuest.open();
  });

  afterAll(() => guest.destroy());

  it('does not increase the memory of the guest, and is not slowed down', async () => {
    const resident = (): number => guest.residentBytes();
    for (let round = 0; round < 3; round += 1)
      await guest.run('yes | head -c 4000000; yes | head -c 4000000 >&2');
    const before = resident();
    const began = performance.now();
    const report = await guest.run('yes | head -c 200000000; head -c 200000000 /dev/zero >&2');
    const seconds = (performance.now() - began) / 1_000;
    expect(report.stdout?.length).toBe(CUT_MARK.length + KEPT_CHARACTERS);
    expect(report.stderr?.length).toBe(CUT_MARK.length + KEPT_CHARACTERS);
    expect(resident() - before).toBeLessThan(32 * MIB);
    expect(seconds).toBeLessThan(15);
  });

  it('that stays in the background blocks neither the guest’s responses nor its end', async () => {
    await guest.run('echo $$ > shell; (echo > yes; exec yes) & until [ -e yes ]; do sleep 0.01; done');
    expect((await guest.run('echo hi')).stdout).toBe('hi\n');
    const group = readFileSync(join(guest.volume, 'shell'), 'utf8').trim();
    process.kill(-Number(group), 'SIGKILL');
  });
});
