import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture } from '../__fixtures__/desktop.fixture.js';
import { internAtom, XConnection } from '../x11/x-connection.js';
import { packRequest, u32 } from '../x11/x-packing.js';
import { Wallpaper } from './wallpaper.js';

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

/** How many resources of each kind a client has in the X server, by the number of the kind's name. */
const resourcesOf = async (connection: XConnection): Promise<ReadonlyMap<number, number>> => {
  const extension = await connection.extension('X-Resource');
  const queryClientResources = 2;
  const reply = await connection.ask(
    packRequest(extension?.opcode ?? 0, queryClientResources, u32(connection.setup.resourceBase)),
  );
  return new Map(
    Array.from({ length: reply.readUInt32LE(8) }, (_, index) => [
      reply.readUInt32LE(32 + index * 8),
      reply.readUInt32LE(36 + index * 8),
    ]),
  );
};

describe('the background of a desktop', () => {
  it('takes one picture of the X server however often it is painted', async () => {
    const connection = await XConnection.open(fixture.session.display);
    const wallpaper = new Wallpaper(connection);
    for (let time = 0; time < 3; time++) await wallpaper.paint();
    const resources = await resourcesOf(connection);
    expect(resources.get(await internAtom(connection, 'PIXMAP'))).toBe(1);
    expect(resources.get(await internAtom(connection, 'GC')) ?? 0).toBe(0);
    connection.close();
  });
});
