import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture } from '../__fixtures__/desktop.fixture.js';
import { displayUnresponsive } from '../x11/x-errors.js';
import { XConnection } from '../x11/x-connection.js';
import { FrameSource } from './frame-source.js';

const RED = 0xe02040;
const BLUE = 0x1060f0;
const GET_IMAGE = 73;

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

/** A source of frames, and what makes its next request for pixels fail. */
const openSource = async (): Promise<{ source: FrameSource; failOnce: () => void }> => {
  const connection = await XConnection.open(fixture.session.display);
  const source = await FrameSource.open(connection);
  const ask = connection.ask.bind(connection);
  const failOnce = (): void => {
    connection.ask = (request) => {
      if (request[0] !== GET_IMAGE) return ask(request);
      connection.ask = ask;
      return Promise.reject(displayUnresponsive());
    };
  };
  return { source, failOnce };
};

/** The colour in the middle of the window. */
const colour = async (source: FrameSource): Promise<number> => {
  const { frame } = await source.refresh();
  return frame.pixels.readUInt32LE((150 * frame.width + 200) * 4) & 0xffffff;
};

describe('the copy of the pixels of a display', () => {
  it('has every change although the request for its pixels failed once', async () => {
    const window = await fixture.window({ x: 100, y: 50, width: 300, height: 200 }, RED);
    const { source, failOnce } = await openSource();
    failOnce();
    await expect(source.refresh()).rejects.toMatchObject({ code: 'display_unresponsive' });
    expect(await colour(source)).toBe(RED);
    await window.paint(BLUE);
    failOnce();
    await expect(source.refresh()).rejects.toMatchObject({ code: 'display_unresponsive' });
    expect(await colour(source)).toBe(BLUE);
    window.connection.close();
  });
});
