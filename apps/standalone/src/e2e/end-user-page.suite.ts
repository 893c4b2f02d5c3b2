import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from '@berth/testing/browser';
import { EndUserPage } from './end-user-page.fixture.js';
import { temporaryFolder, type Stack } from './stack.fixture.js';

const ALLOWED = 'http://localhost:3000';
const FOREIGN = 'http://localhost:3001';
const ENDED = 'Send a valid token';

/** docs/end-users.md, step by step, with its page in a browser. Needs a stack with the environment of that page. */
export const describeEndUserPage = (stack: () => Stack): void => {
  describe('the page for end users', () => {
    const folder = temporaryFolder();
    let commands: EndUserPage;
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      commands = new EndUserPage(stack(), folder.path);
      const server = await commands.serve();
      browser = await startBrowser({
        'localhost:8080': new URL(stack().urls[0] ?? '').host.replace('localhost', '127.0.0.1'),
        'localhost:3000': server,
        'localhost:3001': server,
      });
      page = await browser.newPage();
    });

    afterAll(async () => {
      await browser?.close();
      commands.stop();
      folder.remove();
    });

    const send = async (message: string): Promise<void> => {
      await page.getByPlaceholder('Message').fill(message);
      await page.getByRole('button', { name: 'Send' }).click();
    };
    const shown = (log: 'Chat' | 'Logs', text: string) => page.getByLabel(log).filter({ hasText: text });

    it('chats with the agent by a token, and shows its logs as they are written', async () => {
      await page.goto(ALLOWED);
      await shown('Logs', 'the echo agent is listening').waitFor();
      await send('<b>Hello?</b>');
      await shown('Chat', 'echo: <b>Hello?</b>').waitFor();
      await shown('Logs', 'answered a message of 13 characters').waitFor();
      expect(await page.getByLabel('Chat').textContent()).toBe('echo: <b>Hello?</b>\n');
    });

    it('gets nothing from Berth at an origin that is not allowed', async () => {
      await page.goto(FOREIGN);
      await shown('Chat', 'Failed to fetch').waitFor();
      const refused = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/chat'));
      await send('Hello?');
      expect((await refused).method()).toBe('POST');
      await shown('Chat', 'Failed to fetch\nFailed to fetch\n').waitFor();
      expect(await page.getByLabel('Logs').textContent()).toBe('');
    });

    it('says why when its token was revoked: to a page that is open, and to one that is opened', async () => {
      await page.goto(ALLOWED);
      await shown('Logs', 'the echo agent is listening').waitFor();
      await commands.revoke();
      await shown('Logs', ENDED).waitFor();
      await page.reload();
      await shown('Chat', ENDED).waitFor();
    });
  });
};
