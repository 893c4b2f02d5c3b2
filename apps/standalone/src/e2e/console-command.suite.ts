import { eventually, programArguments } from '@berth/testing';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { PtyProgram } from './pty.fixture.js';
import type { Stack } from './stack.fixture.js';

/** `berth agents console` on a real terminal. */
export const describeConsoleCommand = (stack: () => Stack): void => {
  const api = new Api(stack);
  let opened: PtyProgram | undefined;

  const open = (agent: string): PtyProgram => {
    const [url = ''] = stack().urls;
    const env = { BERTH_URL: url, BERTH_API_KEY: stack().key };
    return (opened = PtyProgram.run(
      [process.execPath, ...programArguments('cli'), 'agents', 'console', agent],
      env,
    ));
  };

  const shellIn = async (agent: string): Promise<PtyProgram> => {
    const terminal = open(agent);
    // Assembled by the shell, so that the echo of the keys does not match.
    terminal.press('echo "rea""dy"\r');
    await terminal.untilShown(/^ready/m);
    return terminal;
  };

  describe('berth agents console', () => {
    let id: string;
    let name: string;
    beforeAll(async () => {
      ({ id, name } = await api.runningAgent({ templateId: 'blank' }));
    }, 60_000);

    afterEach(async () => {
      opened?.signal('SIGKILL');
      await opened?.ended.catch(() => undefined);
      opened = undefined;
    });

    it('keeps the size of the window, ends when the shell exits, and restores the terminal', async () => {
      const terminal = await shellIn(name);
      terminal.press('echo "[$(stty size)] [$BERTH_AGENT_ID]"\r');
      await terminal.untilShown(new RegExp(`\\[30 90\\] \\[${id}\\]`));
      terminal.resize(22, 111);
      await eventually(
        () => {
          terminal.press('echo "[$(stty size)]"\r');
          return /\[22 111\]/.test(terminal.shown);
        },
        { timeoutMs: 10_000, intervalMs: 250 },
      );
      terminal.press('exit\r');
      expect(await terminal.ended).toEqual({ code: 0, restored: true });
    });

    it('passes Ctrl-C to the program in the agent and keeps running', async () => {
      const terminal = await shellIn(id);
      // Only the output starts a line with `begun`; the echo of the keys does not. The program prints it, which is in the
      // foreground by then: keys that the shell receives before it has started one are lost.
      terminal.press(`sh -c 'echo "beg""un"; exec sleep 600'\r`);
      await terminal.untilShown(/^begun/m);
      terminal.press('\u0003');
      terminal.press('echo "still he""re"\r');
      await terminal.untilShown(/^still here/m);
      terminal.press('exit\r');
      expect((await terminal.ended).restored).toBe(true);
    });

    it('ends at ~. while a program runs, and restores the terminal', async () => {
      const terminal = await shellIn(id);
      terminal.press('cat\r~.');
      expect(await terminal.ended).toEqual({ code: 0, restored: true });
    });

    it('restores the terminal when a signal ends it', async () => {
      const terminal = await shellIn(id);
      terminal.signal('SIGTERM');
      expect(await terminal.ended).toEqual({ code: -15, restored: true });
    });

    it('reports that the agent is gone when the agent is put to sleep, exits with 3 and restores the terminal', async () => {
      const terminal = await shellIn(id);
      await api.post(`/api/agents/${id}/sleep`);
      expect(await terminal.ended).toEqual({ code: 3, restored: true });
      await terminal.untilShown(/The agent is gone/);
    });

    it('reports why there is no console, exits with 1 and leaves the terminal unchanged', async () => {
      await api.post(`/api/agents/${id}/stop`);
      const terminal = open(id);
      expect(await terminal.ended).toEqual({ code: 1, restored: true });
      await terminal.untilShown(/409 agent_stopped/);
    });
  });
};
