import { eventually, programArguments } from '@berth/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { OnTerminal } from './pty.fixture.js';
import type { Stack } from './stack.fixture.js';

/** `berth agents console` on a real terminal. */
export const describeConsoleCommand = (stack: () => Stack): void => {
  const api = new Api(stack);
  let opened: OnTerminal | undefined;

  const open = (agent: string): OnTerminal => {
    const [url = ''] = stack().urls;
    const env = { BERTH_URL: url, BERTH_API_KEY: stack().key };
    return (opened = OnTerminal.run(
      [process.execPath, ...programArguments('cli'), 'agents', 'console', agent],
      env,
    ));
  };

  const shellIn = async (agent: string): Promise<OnTerminal> => {
    const terminal = open(agent);
    // Assembled by the shell, so that the echo of the keys does not match.
    terminal.press('echo "rea""dy"\r');
    await terminal.untilShown(/^ready/m);
    return terminal;
  };

  const newAgent = async (): Promise<{ id: string; name: string }> => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    const { body } = await api.get(`/api/agents/${id}`);
    return { id, name: String(body['name']) };
  };

  describe('berth agents console', () => {
    afterEach(async () => {
      opened?.signal('SIGKILL');
      await opened?.ended.catch(() => undefined);
      opened = undefined;
    });

    it('is a terminal of the size of its window, and ends with the shell, the terminal as before', async () => {
      const { name, id } = await newAgent();
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

    it('passes Ctrl-C to the program in the agent, and continues to run', async () => {
      const { id } = await newAgent();
      const terminal = await shellIn(id);
      // The keys are shown by the terminal before the program runs, and what the program prints only then.
      terminal.press('echo "beg""un"; sleep 600\r');
      await terminal.untilShown(/^begun/m);
      terminal.press('\u0003');
      terminal.press('echo "still he""re"\r');
      await terminal.untilShown(/^still here/m);
      terminal.press('exit\r');
      expect((await terminal.ended).restored).toBe(true);
    });

    it('is left with ~. while a program runs, and the terminal is as before', async () => {
      const { id } = await newAgent();
      const terminal = await shellIn(id);
      terminal.press('cat\r~.');
      expect(await terminal.ended).toEqual({ code: 0, restored: true });
    });

    it('restores the terminal when a signal ends it', async () => {
      const { id } = await newAgent();
      const terminal = await shellIn(id);
      terminal.signal('SIGTERM');
      expect(await terminal.ended).toEqual({ code: -15, restored: true });
    });

    it('says that the agent is gone when it is put to sleep, with exit code 3 and the terminal as before', async () => {
      const { id } = await newAgent();
      const terminal = await shellIn(id);
      await api.post(`/api/agents/${id}/sleep`);
      expect(await terminal.ended).toEqual({ code: 3, restored: true });
      await terminal.untilShown(/The agent is gone/);
    });

    it('says why there is no console, with exit code 1 and the terminal untouched', async () => {
      const { id } = await newAgent();
      await api.post(`/api/agents/${id}/stop`);
      const terminal = open(id);
      expect(await terminal.ended).toEqual({ code: 1, restored: true });
      await terminal.untilShown(/409 agent_stopped/);
    });
  });
};
