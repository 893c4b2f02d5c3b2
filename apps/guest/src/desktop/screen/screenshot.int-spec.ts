import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { detach } from '@berth/kernel';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ComputerFixture } from '../__fixtures__/computer.fixture.js';
import { packRequest, u16, u32, u8 } from '../x11/x-packing.js';

let computer: ComputerFixture;
beforeAll(async () => {
  computer = await ComputerFixture.open();
});
afterAll(() => computer.close());

const CALLERS = 30;
const [WIDTH, HEIGHT, ROWS] = [1_280, 800, 50];

/** Shows what no image can be compressed of. */
const showNoise = async (): Promise<void> => {
  const { connection, id } = await computer.window({ x: 0, y: 0, width: WIDTH, height: HEIGHT });
  const context = connection.newId();
  connection.send(packRequest(55, 0, u32(context, id, 0)));
  const pixmap = 2;
  for (let y = 0; y < HEIGHT; y += ROWS) {
    const pixels = randomBytes(WIDTH * ROWS * 4);
    const place = [u32(id, context), u16(WIDTH, ROWS, 0, y), u8(0, 24, 0, 0)];
    connection.send(packRequest(72, pixmap, ...place, pixels));
  }
  await connection.sync();
};

/** A caller that asks for an image larger than what the kernel buffers, and reads nothing of it. */
const askAndWait = (index: number): { readonly socket: Socket; readonly begun: Promise<unknown> } => {
  const socket = connect(join(computer.guest.dir, 'sock'));
  const query = `format=png&quality=80&scale=${0.4 + index / 1_000}`;
  socket.write(`GET ${GUEST_ROUTES.screenshot.path}?${query} HTTP/1.1\r\nHost: guest\r\n\r\n`);
  return { socket, begun: once(socket, 'readable') };
};

it('keeps only few images in memory for callers that do not read, and the others get theirs after them', async () => {
  await showNoise();
  const callers = Array.from({ length: CALLERS }, (_, index) => askAndWait(index));
  let begun = 0;
  for (const caller of callers) detach(caller.begun.then(() => begun++));
  await expect.poll(() => begun, { timeout: 30_000 }).toBe(4);
  // Made after the images of all those callers, if these were made.
  await computer.act({
    actions: Array.from({ length: CALLERS }, () => ({ type: 'screenshot' })),
    scale: 0.1,
  });
  expect(begun).toBe(4);
  for (const { socket } of callers) socket.on('data', () => undefined);
  await expect.poll(() => begun, { timeout: 30_000 }).toBe(CALLERS);
  for (const { socket } of callers) socket.destroy();
});
