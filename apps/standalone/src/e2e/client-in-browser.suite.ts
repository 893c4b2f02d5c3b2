import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Berth } from '@berth/client';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { startBrowser } from '@berth/testing/browser';
import { anOwner, mintToken } from './end-users.fixture.js';
import type { Stack } from './stack.fixture.js';

const CLIENT = fileURLToPath(new URL('../../../../libs/client/dist/esm/index.js', import.meta.url));
/** An origin whose pages may call the stack. */
const ALLOWED = 'http://localhost:3000';

/** The TypeScript client in a page of another origin. Needs a stack with the environment of the page for end users. */
export const describeClientInBrowser = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('the TypeScript client in Chromium', () => {
    let browser: Browser;
    let page: Page;
    let pages: Server;
    let agentId = '';

    beforeAll(async () => {
      const owner = await anOwner(api);
      ({ agentId } = owner);
      const token = await mintToken(api, owner, ['chat', 'files', 'logs']);
      const build = await rolldown({ input: CLIENT, platform: 'browser' });
      const { output } = await build.generate({ format: 'iife', name: 'client', minify: true });
      await build.close();
      const gateway = new URL(stack().urls[0] ?? '').host.replace('localhost', '127.0.0.1');
      // A real server: Chromium keeps pages from nowhere away from the addresses of this machine.
      pages = createServer((_, response) =>
        response.setHeader('content-type', 'text/html').end('<title>Page</title>'),
      );
      await once(pages.listen(0, '127.0.0.1'), 'listening');
      const { port } = pages.address() as AddressInfo;
      browser = await startBrowser({ 'localhost:8080': gateway, 'localhost:3000': `127.0.0.1:${port}` });
      page = await browser.newPage();
      await page.goto(ALLOWED);
      await page.addScriptTag({ content: output[0].code });
      await page.evaluate((apiKey) => {
        const scope = globalThis as unknown as { client: { Berth: typeof Berth }; berth: Berth };
        scope.berth = new scope.client.Berth({ apiKey });
      }, token);
    });
    afterAll(async () => {
      await browser?.close();
      pages?.close();
    });

    it('chats by the token of an end user, also as a stream', async () => {
      const [reply, events] = await page.evaluate(async (id) => {
        const { berth } = globalThis as unknown as { berth: Berth };
        const all = [];
        for await (const event of berth.agents.chatStream(id, 'again')) all.push(event);
        return [await berth.agents.chat(id, 'hello'), all] as const;
      }, agentId);
      expect(reply.response).toContain('hello');
      expect(events.at(-1)).toMatchObject({ type: 'done', response: expect.stringContaining('again') });
    });

    it('moves files, and collects a stream', async () => {
      const read = await page.evaluate(async (id) => {
        const { berth } = globalThis as unknown as { berth: Berth };
        await berth.files.upload(id, new File(['from a page'], 'page.txt'), { destDir: 'in' });
        await berth.files.upload(id, new Blob(['a stream']).stream(), { destDir: 'in', name: 'stream.txt' });
        const texts = [];
        for (const name of ['page.txt', 'stream.txt'])
          texts.push(await (await berth.files.download(id, `in/${name}`)).text());
        return texts;
      }, agentId);
      expect(read).toEqual(['from a page', 'a stream']);
    });

    it('follows logs, and says what is refused', async () => {
      const [messages, error] = await page.evaluate(async (id) => {
        const { berth } = globalThis as unknown as { berth: Berth };
        const all = [];
        for await (const entry of berth.agents.followLogs(id, { limit: 1 })) {
          all.push(entry.message);
          break;
        }
        const refused: unknown = await berth.agents.exec(id, 'ls').catch((thrown: unknown) => thrown);
        return [all, refused instanceof Error ? [refused.name, refused.message] : refused] as const;
      }, agentId);
      expect(messages).toHaveLength(1);
      // No page of another origin may call a route that no token opens, so the browser keeps the answer.
      expect(error).toEqual(['ServiceConnectionError', expect.stringContaining('Failed to fetch')]);
    });
  });
};
