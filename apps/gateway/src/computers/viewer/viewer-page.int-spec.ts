import { once } from 'node:events';
import { eventually } from '@berth/testing';
import { startBrowser } from '@berth/testing/browser';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { startTestGateway, type TestGateway } from '../../fixtures/gateway.fixture.js';
import { TestScreen } from '../../fixtures/test-screen.fixture.js';
import { aComputer } from '../../fixtures/test-services.fixture.js';
import { ViewerHost } from '../../fixtures/viewer-host.fixture.js';
import { TestViewerSessions } from '../../fixtures/viewer-sessions.fixture.js';

const computer = aComputer();
let host: ViewerHost;
let test: TestGateway;
let browser: Browser;
let sessions: TestViewerSessions;
let page: Page;
let screen: TestScreen | undefined;
let side: WebSocket | undefined;
/** What the browser reports: blocked resources and errors of scripts. */
let complaints: string[];

beforeAll(async () => {
  host = await ViewerHost.start();
  test = await startTestGateway();
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await test.stop();
  host.stop();
});
beforeEach(async () => {
  test.services.reset();
  test.services.computers.set(computer.id, computer);
  sessions = new TestViewerSessions(test.services, host);
  sessions.serve();
  screen = undefined;
  host.serve = (connected) => {
    side = connected;
    screen = new TestScreen(connected);
  };
  complaints = [];
  page = await browser.newPage({ viewport: { width: 800, height: 600 } });
  page.on('console', (message) => (message.type() === 'error' ? complaints.push(message.text()) : undefined));
  page.on('pageerror', (error) => complaints.push(error.message));
});
afterEach(() => page.close());

const opened = async (json: object): Promise<{ readonly url: string; readonly sessionId: string }> => {
  const key = test.services.key(['read', 'computers']);
  const { body } = await test.call('POST', `/api/v1/computers/${computer.id}/viewer`, { key, json });
  return { url: String(body['url']), sessionId: String(body['sessionId']) };
};

const until = (text: string): Promise<unknown> => page.getByText(text).waitFor();

/** Opens the page of a new session, and waits for its screen. */
const show = async (json: object): Promise<TestScreen> => {
  await page.goto((await opened(json)).url);
  await page.getByText('Connected', { exact: true }).waitFor();
  if (screen === undefined) throw new Error('The page has not connected.');
  return screen;
};

describe('the page of a viewer', () => {
  it('shows the screen as large as the window allows, and the browser blocks nothing of it', async () => {
    await show({});
    await until('View only');
    const canvas = page.locator('#screen canvas');
    await eventually(async () => {
      const image = await canvas.evaluate((node) => {
        const { data } = (node as unknown as { getContext(kind: string): Pixels })
          .getContext('2d')
          .getImageData(9, 9, 1, 1);
        return [...data.slice(0, 3)];
      });
      expect(image).toEqual([220, 20, 20]);
    });
    const box = await canvas.boundingBox();
    expect(box?.width).toBeCloseTo(800, -1);
    expect(complaints).toEqual([]);
  });

  it('sends keys in control, and none in view', async () => {
    const controlled = await show({ mode: 'control' });
    await page.keyboard.press('a');
    await eventually(() => expect(controlled.pressed).toEqual([0x61]));
    await page.close();
    page = await browser.newPage();
    const viewed = await show({});
    await page.locator('#screen canvas').click();
    await page.keyboard.press('a');
    side?.close(1000);
    await until('The session is over');
    expect(viewed.pressed).toEqual([]);
  });

  it('shares the clipboard in control', async () => {
    const shown = await show({ mode: 'control', takeover: true });
    await until('You have taken over');
    shown.copy('copied there');
    await page.getByRole('button', { name: 'Clipboard' }).click();
    const text = page.locator('#clipboard-text');
    await eventually(async () => expect(await text.inputValue()).toBe('copied there'));
    await text.fill('from here');
    await page.getByRole('button', { name: 'Send to the computer' }).click();
    await eventually(() => expect(shown.clipboard).toBe('from here'));
  });

  it.each([
    [{}, 'End', 'This session is over'],
    [{ mode: 'control', takeover: true }, 'Give back', 'You have given the computer back'],
  ])('ends the session of %j with the button %s', async (json, button, title) => {
    await show(json);
    const gone = once(side as WebSocket, 'close');
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: title }).waitFor();
    await gone;
  });

  it.each([
    [1000, 'The session is over'],
    [1001, 'The session was ended'],
    [1008, 'The session was ended'],
    [1011, 'The connection was lost'],
  ])('says what happened when the socket closes with %i', async (code, title) => {
    await show({});
    side?.close(code);
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await page.locator('#screen').isVisible()).toBe(false);
  });

  it('says that a session is over, or open elsewhere, when it loads again', async () => {
    const { url, sessionId } = await opened({});
    await page.goto(url);
    await page.getByText('Connected', { exact: true }).waitFor();
    const other = await browser.newPage();
    await other.goto(url);
    await other.getByRole('heading', { name: 'This session is open in another window' }).waitFor();
    sessions.end(sessionId);
    await other.reload();
    await other.getByRole('heading', { name: 'This session is over' }).waitFor();
    await other.close();
  });
});

interface Pixels {
  getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray };
}
